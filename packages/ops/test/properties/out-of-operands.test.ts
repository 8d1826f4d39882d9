import { type ComputeBackend, isBackendError } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { WasmBackend } from '@concord/backend-wasm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  add,
  attention,
  avgPool,
  batchNorm,
  clamp,
  concat,
  conv1d,
  conv2d,
  flip,
  gather,
  groupNorm,
  layerNorm,
  linear,
  logSoftmax,
  matmul,
  maxPool,
  pad,
  resize,
  rmsNorm,
  rope,
  slice,
  softmax,
  stack,
  sub,
  takeAlongAxis,
  type Tensor,
  tile,
  tril,
  where,
} from '../../src/index.ts';
import { tensor, withLayout } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';

type Call = (operands: readonly Tensor[], options: { readonly out?: Tensor }) => Tensor;

const SQUARE = [4, 4];
const IMAGES = [2, 3, 4, 4];
const ones = (b: ComputeBackend, length: number): Tensor =>
  tensor(
    b,
    Array.from({ length }, (_, i) => 1 + i / 4),
  );
const places = (x: Tensor): Tensor => tensor(x.backend, Int32Array.of(3, 1, 0, 2));

/** Functions whose result may be as large as an operand, and the shapes of their operands. */
const CALLS: Readonly<Record<string, readonly [shapes: readonly (readonly number[])[], call: Call]>> = {
  sub: [[SQUARE, SQUARE], ([a, b], o) => sub(a as Tensor, b as Tensor, o)],
  'add of a row': [[SQUARE, [4]], ([a, b], o) => add(a as Tensor, b as Tensor, o)],
  where: [[SQUARE, SQUARE, SQUARE], ([a, b, c], o) => where(a as Tensor, b as Tensor, c as Tensor, o)],
  clamp: [[SQUARE], ([x], o) => clamp(x as Tensor, { ...o, min: -0.5, max: 0.5 })],
  matmul: [[SQUARE, SQUARE], ([a, b], o) => matmul(a as Tensor, b as Tensor, o)],
  linear: [
    [SQUARE, SQUARE, SQUARE],
    ([x, weight, residual], o) => linear(x as Tensor, weight as Tensor, { ...o, residual: residual as Tensor }),
  ],
  conv2d: [[IMAGES, [3, 3, 3, 3]], ([x, filter], o) => conv2d(x as Tensor, filter as Tensor, { ...o, padding: 1 })],
  'conv2d into its filter': [
    [
      [2, 2, 2, 2],
      [2, 2, 2, 2],
    ],
    ([x, filter], o) => conv2d(x as Tensor, filter as Tensor, { ...o, padding: [1, 1, 0, 0] }),
  ],
  'conv2d of groups': [
    [IMAGES, [3, 1, 3, 3]],
    ([x, filter], o) => conv2d(x as Tensor, filter as Tensor, { ...o, padding: 1, groups: 3 }),
  ],
  conv1d: [
    [
      [2, 3, 5],
      [3, 3, 3],
    ],
    ([x, filter], o) => conv1d(x as Tensor, filter as Tensor, { ...o, padding: 1 }),
  ],
  attention: [
    [
      [1, 1, 4, 4],
      [1, 1, 4, 4],
      [1, 1, 4, 4],
      [1, 1, 4, 4],
    ],
    ([q, k, v, mask], o) => attention(q as Tensor, k as Tensor, v as Tensor, { ...o, mask: mask as Tensor }),
  ],
  softmax: [[SQUARE], ([x], o) => softmax(x as Tensor, o)],
  'softmax down': [[SQUARE], ([x], o) => softmax(x as Tensor, { ...o, axis: 0 })],
  logSoftmax: [[SQUARE], ([x], o) => logSoftmax(x as Tensor, o)],
  layerNorm: [[SQUARE], ([x], o) => layerNorm(x as Tensor, o)],
  rmsNorm: [[SQUARE], ([x], o) => rmsNorm(x as Tensor, o)],
  groupNorm: [[[2, 4, 3]], ([x], o) => groupNorm(x as Tensor, 2, o)],
  batchNorm: [
    [[2, 4, 3]],
    ([x], o) => {
      const { backend } = x as Tensor;
      return batchNorm(x as Tensor, { ...o, mean: ones(backend, 4), variance: ones(backend, 4) });
    },
  ],
  rope: [[[2, 3, 4]], ([x], o) => rope(x as Tensor, o)],
  takeAlongAxis: [
    [SQUARE],
    ([x], o) => {
      const turned = Int32Array.from({ length: 16 }, (_, i) => (i * 5 + 3) % 4);
      return takeAlongAxis(x as Tensor, tensor((x as Tensor).backend, turned, SQUARE), 0, o);
    },
  ],
  gather: [[SQUARE], ([x], o) => gather(x as Tensor, places(x as Tensor), o)],
  maxPool: [[IMAGES], ([x], o) => maxPool(x as Tensor, 3, { ...o, stride: 1, padding: 1 })],
  avgPool: [[IMAGES], ([x], o) => avgPool(x as Tensor, 3, { ...o, stride: 1, padding: 1 })],
  resize: [[IMAGES], ([x], o) => resize(x as Tensor, [4, 4], o)],
  tril: [[SQUARE], ([x], o) => tril(x as Tensor, o)],
  flip: [[SQUARE], ([x], o) => flip(x as Tensor, { ...o, axis: 0 })],
  pad: [
    [SQUARE],
    ([x], o) =>
      pad(
        slice(x as Tensor, [[1, null]]),
        [
          [0, 1],
          [0, 0],
        ],
        o,
      ),
  ],
  tile: [[SQUARE], ([x], o) => tile(slice(x as Tensor, [[2, null]]), [2, 1], o)],
  'concat of halves': [
    [SQUARE],
    ([x], o) => concat([slice(x as Tensor, [[2, null]]), slice(x as Tensor, [[0, 2]])], o),
  ],
  'stack of rows': [
    [SQUARE],
    ([x], o) =>
      stack(
        [3, 0, 2, 1].map((row) => slice(x as Tensor, [row])),
        o,
      ),
  ],
};

describe.each([
  ['cpu', new CpuBackend()],
  ['wasm', new WasmBackend()],
])('on %s', (_, backend: ComputeBackend) => {
  beforeAll(() => backend.init());
  afterAll(() => backend.dispose());

  const drawn = (shape: readonly number[], seed: number): number[] =>
    numbers(
      shape.reduce((all, size) => all * size, 1),
      seed,
    );

  test.each(Object.entries(CALLS))(
    '%s into each of its operands is right, or refused',
    async (name, [shapes, call]) => {
      const operands = (): Tensor[] => shapes.map((shape, index) => tensor(backend, drawn(shape, 7 + index), shape));
      const plain = call(operands(), {});
      const want = await plain.toArray();
      let filled = 0;
      for (const layout of ['dense', 'padded', 'reversed'] as const) {
        for (const [index, shape] of shapes.entries()) {
          if (String(shape) !== String(plain.shape)) continue;
          const own = withLayout(layout, operands);
          const isFilled = attempt(() => call(own, { out: own[index] as Tensor }));
          filled += Number(isFilled);
          for (const [other, operand] of own.entries()) {
            const kept = isFilled && other === index ? want : Float32Array.from(drawn(operand.shape, 7 + other));
            expect(Array.from(await operand.toArray()), `${name} into ${index}, ${layout}: ${other}`).toEqual(
              nearly(kept),
            );
          }
        }
      }
      expect(filled > 0).toBe(!READS_NEIGHBOURS.has(name));
    },
  );

  test.each(Object.entries(CALLS))(
    '%s into memory that begins within an operand is right, or refused',
    async (name, [shapes, call]) => {
      const operands = (): Tensor[] => shapes.map((shape, index) => tensor(backend, drawn(shape, 7 + index), shape));
      const plain = call(operands(), {});
      const want = await plain.toArray();
      for (const [index, shape] of shapes.entries()) {
        if (String(shape) !== String(plain.shape)) continue;
        const [first = 1, ...rest] = shape;
        for (const shift of [1, -1]) {
          const own = operands();
          const values = drawn(shape, 7 + index);
          const row = Array.from({ length: values.length / first }, () => 0);
          const base = tensor(backend, shift > 0 ? [...values, ...row] : [...row, ...values], [first + 1, ...rest]);
          own[index] = slice(base, [shift > 0 ? [0, first] : [1, null]]);
          const out = slice(base, [shift > 0 ? [1, null] : [0, first]]);
          const isFilled = attempt(() => call(own, { out }));
          const got = isFilled ? out : own[index];
          const kept = isFilled ? want : Float32Array.from(values);
          expect(Array.from(await got.toArray()), `${name} beside ${index}, ${shift}`).toEqual(nearly(kept));
        }
      }
    },
  );
});

/** Their results take the place of no operand, since an element of it is computed from several others. */
const READS_NEIGHBOURS: ReadonlySet<string> = new Set([
  'takeAlongAxis',
  'gather',
  'maxPool',
  'avgPool',
  'resize',
  'flip',
  'pad',
  'tile',
]);

/** Other layouts have other kernels, whose sums are rounded in another order. */
const nearly = (values: ArrayLike<number>): unknown[] =>
  Array.from(values, (value) => expect.closeTo(value, 5) as unknown);

/** Returns whether a call was made; what it may refuse is INVALID_ARGUMENT. */
function attempt(call: () => unknown): boolean {
  try {
    call();
    return true;
  } catch (error) {
    if (isBackendError(error, 'INVALID_ARGUMENT')) return false;
    throw error;
  }
}
