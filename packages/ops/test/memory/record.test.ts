import type { ComputeBackend } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, expect, test } from 'vitest';
import * as ops from '../../src/index.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

test('a replay computes again what was recorded, also in a tidy of it', async () => {
  const before = ops.memory();
  const x = ops.tensor(backend, [1, 2, 3, 4], [2, 2]);
  const step = ops.record(backend, () => {
    const square = ops.tidy(() => ops.matmul(ops.mul(x, 1), x));
    return { square, total: ops.sum(square) };
  });
  expect(await step.result.total.item()).toBe(54);
  ops.add(x, 1, { out: x });
  step.replay();
  expect(await step.result.square.toArray()).toEqual(Float32Array.of(16, 21, 28, 37));
  expect(await step.result.total.item()).toBe(102);
  step.dispose();
  step.dispose();
  expect(() => step.replay()).toThrow('disposed');
  x.dispose();
  expect(ops.memory()).toEqual(before);
});

test('a step writes at the row that it counts, and its tidy frees memory for the next', async () => {
  using rows = ops.empty(backend, [4, 2]);
  using row = ops.tensor(backend, [0], [1], { dtype: 'i32' });
  using x = ops.tensor(backend, [1, 2]);
  const before = ops.memory();
  const { inUseBytes } = backend.memory();
  const step = ops.record(backend, () => {
    for (let turn = 0; turn < 3; turn++) ops.tidy(() => void ops.add(x, x));
    const doubled = ops.add(x, x);
    ops.indexPut(rows, [row], ops.reshape(doubled, [1, 2]), { out: rows });
    ops.add(row, 1, { out: row });
    ops.add(x, 1, { out: x });
  });
  // Of eight bytes, one after the other; `doubled` has them now, and a view of it.
  expect(ops.memory()).toMatchObject({ tensors: before.tensors + 2 });
  expect(backend.memory()).toMatchObject({ inUseBytes: inUseBytes + 8, pooledBytes: 0 });
  for (let turn = 0; turn < 4; turn++) step.replay();
  // The last one is outside, and stores nothing.
  expect(await rows.toArray()).toEqual(Float32Array.of(2, 4, 4, 6, 6, 8, 8, 10));
  step.dispose();
  expect(ops.memory()).toEqual(before);
});

test('seeds, counters and positions on the device change from replay to replay', async () => {
  using counter = ops.tensor(backend, new Uint32Array([0]));
  using x = ops.tensor(backend, [1, 0, 1, 0], [2, 2]);
  using step = ops.record(backend, () => {
    const own = {
      rotated: ops.rope(x, { offset: counter }),
      drawn: ops.randomUniform(backend, [4], { seed: counter, offset: 8 }),
    };
    ops.add(counter, 1, { out: counter });
    return own;
  });
  step.replay();
  step.replay();
  using rotated = ops.rope(x, { offset: 2 });
  using drawn = ops.randomUniform(backend, [4], { seed: 2, offset: 8 });
  expect(await step.result.rotated.toArray()).toEqual(await rotated.toArray());
  expect(await step.result.drawn.toArray()).toEqual(await drawn.toArray());
});

test('a tensor that was disposed is no longer there for a replay', () => {
  const before = ops.memory();
  const x = ops.tensor(backend, [1, 2]);
  const step = ops.record(backend, () => ops.add(x, x));
  x.dispose();
  expect(() => step.replay()).toThrow('was freed');
  step.dispose();
  expect(ops.memory()).toEqual(before);
});

test('work that throws leaves nothing, and a backend that cannot record says so', () => {
  const before = ops.memory();
  expect(() =>
    ops.record(backend, () => {
      ops.tidy(() => ops.add(ops.tensor(backend, [1]), 1));
      throw new Error('mine');
    }),
  ).toThrow('mine');
  expect(ops.memory()).toEqual(before);
  expect(() => ops.record({ name: 'other' } as ComputeBackend, () => undefined)).toThrow('other cannot record');
  expect(() => ops.record(backend, async () => undefined)).toThrow('promise');
});

test('a replay computes with tensors in the place of those of slots', async () => {
  using x = ops.tensor(backend, [1, 2, 3, 4], [2, 2]);
  using y = ops.tensor(backend, [5, 6, 7, 8], [2, 2]);
  using both = ops.tensor(backend, [0, 0, 9, 10, 11, 12], [3, 2]);
  using out = ops.empty(backend, [2, 2]);
  using step = ops.record(backend, () => ops.mul(x, x, { out }), { slots: { x } });
  step.replay({ x: y });
  expect(await out.toArray()).toEqual(Float32Array.of(25, 36, 49, 64));
  step.replay({ x: ops.slice(both, [[1, 3]]) });
  expect(await out.toArray()).toEqual(Float32Array.of(81, 100, 121, 144));
  step.replay();
  expect(await out.toArray()).toEqual(Float32Array.of(1, 4, 9, 16));
  step.replay({ x: y });
  step.replay({});
  expect(await out.toArray()).toEqual(Float32Array.of(1, 4, 9, 16));
});

test('a tensor of another kind, backend or layout cannot take the place of one', async () => {
  await using other = await CpuBackend.create();
  using x = ops.tensor(backend, [1, 2, 3, 4], [2, 2]);
  using foreign = ops.tensor(other, [1, 2, 3, 4], [2, 2]);
  using flat = ops.tensor(backend, [1, 2, 3, 4]);
  using integers = ops.tensor(backend, new Int32Array(4), [2, 2]);
  using out = ops.empty(backend, [2, 2]);
  using step = ops.record(backend, () => ops.mul(x, x, { out }), { slots: { x } });
  expect(() => step.replay({ x: foreign })).toThrow('x must be on the backend of the recording');
  expect(() => step.replay({ x: flat })).toThrow('x must be f32[2, 2] as recorded, got f32[4]');
  expect(() => step.replay({ x: integers })).toThrow('x must be f32[2, 2] as recorded, got i32[2, 2]');
  expect(() => step.replay({ x: ops.permute(x, [1, 0]) })).toThrow(
    'x must be f32[2, 2] as recorded, got f32[2, 2] with strides [1, 2]',
  );
  expect(() => step.replay({ y: x })).toThrow('has no field y');
  expect(() => step.replay({ x: 3 as never })).toThrow('x must be a tensor, got 3');
  expect(() => step.replay({ x: out })).toThrow('x overlaps memory that the recording uses');
  const work = (): unknown => ops.mul(x, x);
  expect(() => ops.record(backend, work, { slots: { x: foreign } })).toThrow(
    'x must be on the backend of the recording',
  );
  expect(() => step.replay(new Map([['x', x]]) as never)).toThrow(
    'takes tensors by names of slots, such as { x }, got Map',
  );
  expect(() => step.replay(x as never)).toThrow('takes tensors by names of slots');
  using none = ops.empty(backend, [0, 2]);
  expect(() => ops.record(backend, work, { slots: { none } })).toThrow('none is f32[0, 2], which has no elements');
  expect(() => ops.record(backend, work, { slots: { flat } })).toThrow('nothing that was recorded uses slots.flat');
  expect(() => ops.record(backend, work, { slot: { x } } as never)).toThrow('did you mean slots?');
});
