import { describeConformance } from '@concord/conformance/vitest';
import { WebGpuBackend } from '../src/index.ts';

// What happens on real devices with tensors of gigabytes: many bindings for one operand, many dispatches for one launch.
const TINY = { maxBindingBytes: 4096, maxWorkgroupsPerDimension: 2 };

await describeConformance(() => new WebGpuBackend(TINY), { title: 'conformance of webgpu with tiny windows' });
