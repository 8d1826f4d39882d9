import { CpuBackend } from '@concord/backend-cpu';
import { add, attention, concat, conv2d, crossEntropy, gelu, layerNorm, linear, matmul, memory, mul, relu, softmax, sum, Tensor, tensor, transpose } from '@concord/ops';
import { expect, test } from 'vitest';
import { grad, valueAndGrad } from '../src/index.ts';

const backend = new CpuBackend();
await backend.init();

test('squares', async () => {
  const w = tensor(backend, [1, 2, 3]);
  const { value, gradient } = valueAndGrad((x: Tensor) => sum(mul(x, x)))(w);
  expect(await value.item()).toBe(14);
  expect([...(await gradient.toArray())]).toEqual([2, 4, 6]);
});
test('second', async () => {
  const slope = grad((x: Tensor) => sum(mul(x, mul(x, x))));
  expect(await slope(tensor(backend, [2])).item()).toBeCloseTo(12);
  expect(await grad((x: Tensor) => sum(slope(x)))(tensor(backend, [2])).item()).toBeCloseTo(12);
});
test('linear', async () => {
  const x = tensor(backend, [[1, 2], [3, 4]]);
  const p = { w: tensor(backend, [[1, 1], [1, -1], [0, 2]]), b: tensor(backend, [1, 0, 0]) };
  const { gradient } = valueAndGrad((p: { w: Tensor; b: Tensor }) => sum(linear(x, p.w, { bias: p.b, activation: 'relu' })))(p);
  expect(await gradient.w.toNested()).toEqual([[4, 6], [0, 0], [4, 6]]);
  expect(await gradient.b.toNested()).toEqual([2, 0, 2]);
});
