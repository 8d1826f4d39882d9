import type { ComputeBackend } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { add, empty, matmul, memory, mul, record, slice, sum, tensor, tidy } from '../../src/index.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

test('a replay computes again what was recorded, also in a tidy of it', async () => {
  const before = memory();
  const x = tensor(backend, [
    [1, 2],
    [3, 4],
  ]);
  const step = record(backend, () => {
    const square = tidy(() => matmul(mul(x, 1), x));
    return { square, total: sum(square) };
  });
  expect(await step.result.total.item()).toBe(54);
  add(x, 1, { out: x });
  step.replay();
  expect(await step.result.square.toArray()).toEqual(Float32Array.of(16, 21, 28, 37));
  expect(await step.result.total.item()).toBe(102);
  step.dispose();
  step.dispose();
  expect(() => step.replay()).toThrow('disposed');
  x.dispose();
  expect(memory()).toEqual(before);
});

test('what is run anew sees the tensors of the recording, and may write elsewhere each time', async () => {
  using rows = empty(backend, [4, 2]);
  using x = tensor(backend, [1, 2]);
  let row = 0;
  using step = record(backend, (anew) => {
    const doubled = tidy(() => add(x, x));
    anew(() => {
      mul(doubled, add(doubled, row), { out: slice(rows, [row]) });
      row++;
    });
    add(x, 1, { out: x });
  });
  const { tensors } = memory();
  while (row < 4) step.replay();
  expect(memory().tensors).toBe(tensors);
  expect(await rows.toArray()).toEqual(Float32Array.of(4, 16, 20, 42, 48, 80, 88, 130));
});

test('a tensor that was disposed is no longer there for a replay', () => {
  const before = memory();
  const x = tensor(backend, [1, 2]);
  const step = record(backend, (anew) => {
    const y = add(x, x);
    anew(() => {
      mul(x, 2, { out: y });
    });
  });
  x.dispose();
  expect(() => step.replay()).toThrow('was freed');
  step.dispose();
  expect(memory()).toEqual(before);
});

test('work that throws leaves nothing, and a backend that cannot record says so', () => {
  const before = memory();
  expect(() =>
    record(backend, () => {
      tidy(() => add(tensor(backend, [1]), 1));
      throw new Error('mine');
    }),
  ).toThrow('mine');
  expect(memory()).toEqual(before);
  expect(() => record({ name: 'other' } as ComputeBackend, () => undefined)).toThrow('other cannot record');
  expect(() => record(backend, async () => undefined)).toThrow('promise');
});
