import { describeConformance } from '@concord/conformance/vitest';
import { WasmBackend, type WasmBackendOptions } from '../src/index.ts';

// `npm test` runs a share, `npm run test:all` the cases that it leaves out.
await describeConformance(() => new WasmBackend({ relaxedSimd: false }), {
  sample: Number(process.env['CONCORD_SAMPLE'] ?? 1),
  after: Number(process.env['CONCORD_SAMPLE_AFTER'] ?? 0),
});

/** The same kernels in other hands, and others: a few cases of each, `concord conformance` runs all. */
const OTHERS: readonly WasmBackendOptions[] = [
  { mode: 'worker', relaxedSimd: false },
  { mode: 'inline', relaxedSimd: false },
  // Last: in Node 20 it switches relaxed SIMD on for the whole process.
  { threads: 3, relaxedSimd: true },
];
if (process.env['CONCORD_TEST_PART'] !== 'rest') {
  for (const options of OTHERS) {
    const title = `conformance of wasm with ${JSON.stringify(options)}`;
    await describeConformance(() => new WasmBackend(options), { sample: 0.02, title });
  }
}
