import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  attention,
  conv2d,
  expand,
  flatten,
  linear,
  matmul,
  memory,
  permute,
  reshape,
  slice,
  Tensor,
  topK,
  transpose,
  zeros,
} from '../../src/index.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

/** Views that no function below can read as they are, of a tensor of so many elements. */
const scattered = (x: Tensor, shape: readonly number[]): Tensor =>
  slice(reshape(x, [...shape, 2]), [...shape.map(() => null), 0]);

const CALLS: readonly (readonly [string, number, (x: Tensor) => Tensor | readonly Tensor[]])[] = [
  ['reshape', 24, (x) => reshape(transpose(reshape(x, [4, 6])), [24])],
  ['reshape of what repeats', 6, (x) => reshape(expand(reshape(x, [6, 1]), [6, 5]), [30])],
  ['flatten', 24, (x) => flatten(transpose(reshape(x, [4, 6])))],
  ['matmul', 96, (x) => matmul(scattered(x, [6, 8]), scattered(x, [8, 6]))],
  ['linear', 96, (x) => linear(scattered(x, [6, 8]), scattered(x, [6, 8]))],
  [
    'attention',
    96,
    (x) => attention(...([x, x, x].map((each) => scattered(each, [1, 2, 3, 8])) as [Tensor, Tensor, Tensor])),
  ],
  ['conv2d', 96, (x) => conv2d(scattered(x, [1, 3, 4, 4]), permute(scattered(x, [4, 3, 2, 2]), [0, 1, 3, 2]))],
  ['topK', 96, (x) => Object.values(topK(scattered(x, [6, 8]), 2))],
];

const results = (given: Tensor | readonly Tensor[]): readonly Tensor[] => (given instanceof Tensor ? [given] : given);

test.each(CALLS)('%s: what it copies to read goes with its result', (_, size, call) => {
  const whole = zeros(backend, [size]);
  const before = { tensors: memory().bytes, device: backend.memory().inUseBytes };
  for (const each of results(call(whole))) each.dispose();
  expect({ tensors: memory().bytes, device: backend.memory().inUseBytes }).toEqual(before);
  whole.dispose();
});
