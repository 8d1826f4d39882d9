import { offsetPtr } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import { expect, it } from 'vitest';
import { WebGpuBackend } from '../src/index.ts';

const LENGTH = 1020;
const kernel = defineKernel('parts', { inputs: { x: 'f32' } }, ({ x }, k) => {
  const greatest = k.fold('max', x);
  return { greatest, total: k.fold('sum', x), y: k.sub(x, greatest) };
});

it('outputs of one allocation larger than a binding: some beside each other, one that is as large', async () => {
  await using backend = await WebGpuBackend.create({ maxBindingBytes: 4096 });
  const all = backend.alloc(8256);
  const x = offsetPtr(all, 64);
  const [greatest, total, y] = [4144, 4148, 4152].map((at) => offsetPtr(all, at)) as [typeof x, typeof x, typeof x];
  const values = Float32Array.from({ length: LENGTH }, (_, i) => ((7 * i) % 51) - 20);
  backend.copyHtod(x, values);
  backend.run(kernel, { shape: [LENGTH], folded: 1, inputs: { x }, outputs: { greatest, total, y } });
  const got = new Float32Array(2 + LENGTH);
  await backend.copyDtoh(got, greatest);
  const sum = values.reduce((before, value) => before + value, 0);
  expect([...got]).toEqual([30, sum, ...values.map((value) => value - 30)]);
});
