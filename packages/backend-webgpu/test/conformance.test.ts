import { describeConformance } from '@concord/conformance/vitest';
import { WebGpuBackend } from '../src/index.ts';

await describeConformance(() => new WebGpuBackend(), { sample: Number(process.env['CONCORD_SAMPLE'] ?? 1) });
