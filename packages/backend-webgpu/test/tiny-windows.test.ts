import { allCases } from '@concord/conformance';
import { describeConformance } from '@concord/conformance/vitest';
import { WebGpuBackend } from '../src/index.ts';

// What happens on real devices with tensors of gigabytes: many bindings for one operand, many dispatches for one launch.
const TINY_BYTES = 4096;
/** One channel of an image is the minimum that conv2d can bind: the largest of a case has 90,600 bytes. */
const CHANNEL_BYTES = 96 * 1024;

/** The ops of the cases, except those that have no tensors. */
const OPS = new Set(allCases().map(({ op }) => op));
OPS.delete('lifecycle');
/** The cuts differ by shape; the kernels are those of the other tests. */
const SAMPLE = 0.5;
/** There are many cases of these, and each compiles its own kernels. */
const SAMPLES: Readonly<Record<string, number>> = {
  ...{ run: 0.1, attention: 0.25, gemm: 0.25, gemmF16: 0.25, batchedGemm: 0.25 },
};

for (const op of OPS) {
  const maxBindingBytes = op === 'conv2dForward' ? CHANNEL_BYTES : TINY_BYTES;
  const create = (): WebGpuBackend => new WebGpuBackend({ maxBindingBytes, maxWorkgroupsPerDimension: 2 });
  await describeConformance(create, {
    title: `${op} of webgpu in windows of ${maxBindingBytes} bytes`,
    filter: op,
    sample: SAMPLES[op] ?? SAMPLE,
  });
}
