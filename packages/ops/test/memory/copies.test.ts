import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, expect, test } from 'vitest';
import * as ops from '../../src/index.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

/** Views that no function below can read as they are, of a tensor of so many elements. */
const scattered = (x: ops.Tensor, shape: readonly number[]): ops.Tensor =>
  ops.slice(ops.reshape(x, [...shape, 2]), [...shape.map(() => null), 0]);

const CALLS: readonly (readonly [string, number, (x: ops.Tensor) => ops.Tensor | readonly ops.Tensor[]])[] = [
  ['reshape', 24, (x) => ops.reshape(ops.transpose(ops.reshape(x, [4, 6])), [24])],
  ['reshape of what repeats', 6, (x) => ops.reshape(ops.expand(ops.reshape(x, [6, 1]), [6, 5]), [30])],
  ['flatten', 24, (x) => ops.flatten(ops.transpose(ops.reshape(x, [4, 6])))],
  ['matmul', 96, (x) => ops.matmul(scattered(x, [6, 8]), scattered(x, [8, 6]))],
  ['linear', 96, (x) => ops.linear(scattered(x, [6, 8]), scattered(x, [6, 8]))],
  [
    'attention',
    96,
    (x) =>
      ops.attention(
        ...([x, x, x].map((each) => scattered(each, [1, 2, 3, 8])) as [ops.Tensor, ops.Tensor, ops.Tensor]),
      ),
  ],
  ['conv2d', 96, (x) => ops.conv2d(scattered(x, [1, 3, 4, 4]), ops.permute(scattered(x, [4, 3, 2, 2]), [0, 1, 3, 2]))],
  ['topK', 96, (x) => Object.values(ops.topK(scattered(x, [6, 8]), 2))],
];

const results = (given: ops.Tensor | readonly ops.Tensor[]): readonly ops.Tensor[] =>
  given instanceof ops.Tensor ? [given] : given;

test.each(CALLS)('%s: what it copies to read goes with its result', (_, size, call) => {
  const whole = ops.zeros(backend, [size]);
  const before = { tensors: ops.memory().bytes, device: backend.memory().inUseBytes };
  for (const each of results(call(whole))) each.dispose();
  expect({ tensors: ops.memory().bytes, device: backend.memory().inUseBytes }).toEqual(before);
  whole.dispose();
});
