import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { defineKernel } from '../kernels/kernel.ts';
import { PipelineCache } from './pipeline-cache.ts';
import { WebGpuClient } from './webgpu-client.ts';

let client: WebGpuClient;
beforeAll(async () => {
  client = await WebGpuClient.open();
});
afterAll(() => client.dispose());

const kernel = (number: number) =>
  defineKernel({
    name: `test/${number}`,
    storage: { x: { access: 'read_write', type: 'array<u32>' } },
    uniforms: {},
    code: `
@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) grid: vec3u) {
  x[group_index(id, grid)] = ${number}u + u.zero;
}`,
  });

it('keeps a bounded number of pipelines, and those that are in use', () => {
  const create = vi.spyOn(client.device, 'createComputePipeline').mockReturnValue({} as GPUComputePipeline);
  const context = { device: client.device, awaiting: <T>(start: () => Promise<T>): Promise<T> => start() };
  const cache = new PipelineCache(context);
  const often = kernel(0);
  for (let i = 1; i <= 1000; i++) {
    cache.now(often);
    cache.now(kernel(i));
  }
  expect(cache.size).toBeLessThanOrEqual(256);
  expect(create).toHaveBeenCalledTimes(1001);
  cache.now(kernel(1000));
  cache.now(kernel(1));
  expect(create).toHaveBeenCalledTimes(1002);
  create.mockRestore();
});
