import { CpuBackend } from '@concord/backend-cpu';
import { defineKernel } from '@concord/backend-core/kernel';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  arange,
  concat,
  full,
  layerNorm,
  memory,
  pad,
  permute,
  run,
  slice,
  softmax,
  sum,
  tensor,
  type Tensor,
  tidy,
  zeros,
} from '../../src/index.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

const x = (...shape: number[]): Tensor => zeros(backend, shape);
const endless: unknown[] = [];
endless.push(endless);
const copy = defineKernel('mine', { inputs: { x: 'f32' } }, ({ x: value }, k) => ({ y: k.neg(value) }));

test.each<[string, () => unknown, RegExp]>([
  ['an axis by its place', () => sum(x(2, 3), 1 as never), /sum: takes its options in one object, .* got 1/],
  ['an axis of softmax by its place', () => softmax(x(2, 3), 0 as never), /softmax: takes its options .* got 0/],
  ['a range that is no list', () => slice(x(2), 0 as never), /slice: takes a list of ranges/],
  ['axes one by one', () => permute(x(2, 3), 1 as never), /permute: takes a list of axes for \[2, 3\], got 1/],
  ['lists without an end', () => tensor(backend, endless as never), /lists nest deeper than 8 axes/],
  ['a number that is no i8', () => full(backend, [1], 300, { dtype: 'i8' }), /300 is no i8, which goes from -128/],
  ['a range beyond u8', () => arange(backend, 250, 260, 1, { dtype: 'u8' }), /259 is no u8/],
  ['a pad that is no u8', () => pad(tensor(backend, new Uint8Array(1)), [[1, 0]], { value: 300 }), /300 is no u8/],
  ['a shape of a kernel', () => run(copy, { x: x(1) }, { shape: [-1] }), /mine: shape \[-1\] has -1/],
  ['a type of a kernel', () => run(copy, { x: x(1) }, { dtypes: { y: 'f64' as 'f32' } }), /mine: dtype must be one of/],
  [
    'a weight of the shape of x',
    () => {
      const own = x(2, 2);
      return layerNorm(own, { weight: own });
    },
    /\[2, 2\] does not broadcast to \[2\] of \[2, 2\]/,
  ],
])('%s is refused, and nothing is left', (_, call, message) => {
  const before = memory();
  expect(() => tidy(call)).toThrow(message);
  expect(memory()).toEqual(before);
});

test('concat into one of its parts reads them all first', async () => {
  const all = tensor(backend, [1, 2, 3, 4]);
  tidy(() => concat([slice(all, [[2, 4]]), slice(all, [[0, 2]])], { out: all }));
  expect([...(await all.toArray())]).toEqual([3, 4, 1, 2]);
  all.dispose();
});

test('zeros that cannot be filled give their memory back', () => {
  const before = memory();
  const failing = Object.create(backend, { fill: { value: () => expect.fail('lost') } }) as CpuBackend;
  expect(() => zeros(failing, [4])).toThrow();
  expect(memory()).toEqual(before);
});
