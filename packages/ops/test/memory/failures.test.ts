import { defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { afterAll, afterEach, expect, test } from 'vitest';
import { expectError } from '../../../backend-core/test/expect-error.ts';
import * as ops from '../../src/index.ts';
import { FailingBackend } from '../support/failing-backend.ts';

const backend = await FailingBackend.create();
afterAll(() => backend.dispose());
afterEach(() => backend.failAfter(Infinity));

const ofI32 = (shape: readonly number[]): ops.Tensor => ops.zeros(backend, shape, { dtype: 'i32' });

/** A kernel with two outputs, one of each level. */
const scaled = defineKernel('scaled', { inputs: { x: 'f32' }, params: { factor: 'f32' } }, ({ x, factor }, k) => ({
  y: k.mul(x, factor),
  total: k.fold('sum', x),
}));
const params = { factor: 2 };
const anyKernel: Kernel = scaled;

/** Calls on a `[3, 4]` matrix, with how many allocations and launches each is; views are made before. */
const calls: readonly (readonly [name: string, asks: number, prepare: (x: ops.Tensor) => () => unknown])[] = [
  ['tensor', 1, () => () => ops.tensor(backend, [1, 2, 3])],
  ['randomNormal', 2, () => () => ops.randomNormal(backend, [4], { seed: 1 })],
  ['copy', 2, (x) => () => ops.copy(x)],
  [
    'reshape of a transposed matrix',
    2,
    (x) => {
      const view = ops.transpose(x);
      return () => ops.reshape(view, [12]);
    },
  ],
  ['where', 2, (x) => () => ops.where(x, x, 0)],
  ['cast', 2, (x) => () => ops.cast(x, 'u8')],
  ['dropout', 2, (x) => () => ops.dropout(x, 0.5, { seed: 1 })],
  ['dropout of all', 2, (x) => () => ops.dropout(x, 1, { seed: 1 })],
  ['softmax', 2, (x) => () => ops.softmax(x)],
  ['groupNorm', 2, (x) => () => ops.groupNorm(x, 2)],
  [
    'oneHot',
    2,
    () => {
      const indices = ofI32([3]);
      return () => ops.oneHot(indices, 3);
    },
  ],
  [
    'dequantize',
    2,
    (x) => {
      const bytes = ops.cast(x, 'u8');
      return () => ops.dequantize(bytes, 0.5, { bits: 4 });
    },
  ],
  [
    'quantizedTensor',
    3,
    () => {
      const options = {
        shape: [1, 2],
        dtype: 'i8',
        block: 2,
        data: new Int8Array(2),
        scales: [1],
        offsets: [1],
      } as const;
      return () => ops.quantizedTensor(backend, options);
    },
  ],
  [
    'linear of a quantized weight',
    2,
    (x) => {
      const data = new Uint8Array(2);
      const weight = ops.quantizedTensor(backend, { shape: [1, 4], dtype: 'u4', block: 4, data, scales: [1] });
      return () => ops.linear(x, weight);
    },
  ],
  [
    'crossEntropy',
    4,
    (x) => {
      const targets = ofI32([3]);
      return () => ops.crossEntropy(x, targets);
    },
  ],
  ['run', 3, (x) => () => ops.run(scaled, { x }, { params })],
  [
    'run with an output that is given',
    2,
    (x) => {
      const y = ops.copy(x);
      return () => ops.run(scaled, { x }, { params, out: { y } });
    },
  ],
  ['topK of dense rows', 3, (x) => () => ops.topK(x, 2)],
  ['topK of columns', 5, (x) => () => ops.topK(x, 2, { axis: 0 })],
  [
    'topK of f16',
    7,
    (x) => {
      const halves = ops.cast(x, 'f16');
      return () => ops.topK(halves, 2);
    },
  ],
  [
    'takeAlongAxis of many axes that lie apart',
    4,
    (x) => {
      const many = ops.permute(ops.reshape(x, [3, 1, 1, 2, 2]), [4, 3, 0, 1, 2]);
      const indices = ofI32([2, 2, 1, 1, 1]);
      return () => ops.takeAlongAxis(many, indices, 2);
    },
  ],
];

test.each(calls)('%s: whatever fails in it, nothing remains', (_, asks, prepare) => {
  ops.tidy(() => {
    const x = ops.tensor(
      backend,
      Array.from({ length: 12 }, (__, place) => place),
      [3, 4],
    );
    const call = prepare(x);
    const held = (): unknown => ({ program: ops.memory(), bytes: backend.memory().inUseBytes });
    const before = held();
    for (let succeeding = 0; succeeding < asks; succeeding++) {
      backend.failAfter(succeeding);
      expectError(call, 'OUT_OF_MEMORY');
      expect(held(), `after ${succeeding}`).toEqual(before);
    }
    backend.failAfter(asks);
    call();
  });
  expect(backend.memory().liveAllocations).toBe(0);
});

test.each<readonly [string, (x: ops.Tensor, flipped: ops.Tensor) => unknown]>([
  // @ts-expect-error - the kernel's type has parameters
  ['parameters that are missing', (x) => ops.run(scaled, { x })],
  // @ts-expect-error - options without them
  ['parameters missing in its options', (x) => ops.run(scaled, { x }, { axis: 0 })],
  // @ts-expect-error - one of them
  ['a parameter that is missing', (x) => ops.run(scaled, { x }, { params: {} })],
  // @ts-expect-error - another one
  ['a parameter that there is not', (x) => ops.run(scaled, { x }, { params: { ...params, other: 1 } })],
  // A kernel whose type says nothing is checked when it runs.
  ['the parameters of a kernel of any type', (x) => ops.run(anyKernel, { x })],
  ['a given output of another shape', (x) => ops.run(scaled, { x }, { params, out: { total: x } })],
  ['a given output that overlaps an input', (x, y) => ops.run(scaled, { x }, { params, out: { y } })],
  ['an element type of its last output', (x) => ops.run(scaled, { x }, { params, dtypes: { total: 'f64' as 'f32' } })],
])('run that is refused for %s leaves nothing', (_, call) => {
  using x = ops.zeros(backend, [4, 4]);
  using flipped = ops.transpose(x);
  const before = ops.memory();
  const { inUseBytes } = backend.memory();
  expectError(() => call(x, flipped), 'INVALID_ARGUMENT');
  expect([ops.memory(), backend.memory().inUseBytes]).toEqual([before, inUseBytes]);
});

test('reading a view frees its packed copy when that fails', async () => {
  using x = ops.tensor(backend, [1, 2, 3, 4], [2, 2]);
  using view = ops.transpose(x);
  const before = backend.memory().inUseBytes;
  for (const succeeding of [0, 1]) {
    backend.failAfter(succeeding);
    await expect(view.toArray()).rejects.toThrow('as asked');
    expect(backend.memory().inUseBytes).toBe(before);
  }
  backend.failAfter(Infinity);
  expect(Array.from(await view.toArray())).toEqual([1, 3, 2, 4]);
});
