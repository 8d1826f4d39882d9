import { describeConformance } from '@concord/conformance/vitest';
import { WasmBackend } from '../src/index.ts';

// `npm test` runs a share, `npm run test:all` the cases that it leaves out.
await describeConformance(() => new WasmBackend(), {
  sample: Number(process.env['CONCORD_SAMPLE'] ?? 1),
  after: Number(process.env['CONCORD_SAMPLE_AFTER'] ?? 0),
});
