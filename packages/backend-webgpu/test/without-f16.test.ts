import { describeConformance } from '@concord/conformance/vitest';
import { create, globals } from 'webgpu';
import { WebGpuBackend } from '../src/index.ts';

Object.assign(globalThis, globals);
const gpu = create([]);

/** On a device of the caller's with nothing that is optional: two elements of f16 share a word that has one owner. */
async function plain(): Promise<WebGpuBackend> {
  const adapter = await gpu.requestAdapter();
  const device = await adapter?.requestDevice();
  return new WebGpuBackend({ device });
}

for (const filter of ['*/*/*dtype=f16*', '*/sequence/*f16*', 'gemmF16/exact/*']) {
  await describeConformance(plain, { filter, title: `without f16: ${filter}`, sample: 0.5 });
}
