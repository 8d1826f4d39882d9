import { type ComputeBackend, isBackendError } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { WasmBackend } from '@concord/backend-wasm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as ops from '../../src/index.ts';
import { tensor, withLayout } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';

type Call = (operands: readonly ops.Tensor[], options: { readonly out?: ops.Tensor }) => ops.Tensor;

const SQUARE = [4, 4];
const IMAGES = [2, 3, 4, 4];
const ones = (b: ComputeBackend, length: number): ops.Tensor =>
  tensor(
    b,
    Array.from({ length }, (_, i) => 1 + i / 4),
  );
const places = (x: ops.Tensor): ops.Tensor => tensor(x.backend, Int32Array.of(3, 1, 0, 2));

/** Functions whose result may be as large as an operand, and the shapes of their operands. */
const CALLS: Readonly<Record<string, readonly [shapes: readonly (readonly number[])[], call: Call]>> = {
  sub: [[SQUARE, SQUARE], ([a, b], o) => ops.sub(a as ops.Tensor, b as ops.Tensor, o)],
  'add of a row': [[SQUARE, [4]], ([a, b], o) => ops.add(a as ops.Tensor, b as ops.Tensor, o)],
  where: [[SQUARE, SQUARE, SQUARE], ([a, b, c], o) => ops.where(a as ops.Tensor, b as ops.Tensor, c as ops.Tensor, o)],
  clamp: [[SQUARE], ([x], o) => ops.clamp(x as ops.Tensor, { ...o, min: -0.5, max: 0.5 })],
  matmul: [[SQUARE, SQUARE], ([a, b], o) => ops.matmul(a as ops.Tensor, b as ops.Tensor, o)],
  linear: [
    [SQUARE, SQUARE, SQUARE],
    ([x, weight, residual], o) =>
      ops.linear(x as ops.Tensor, weight as ops.Tensor, { ...o, residual: residual as ops.Tensor }),
  ],
  conv2d: [
    [IMAGES, [3, 3, 3, 3]],
    ([x, filter], o) => ops.conv2d(x as ops.Tensor, filter as ops.Tensor, { ...o, padding: 1 }),
  ],
  'conv2d into its filter': [
    [
      [2, 2, 2, 2],
      [2, 2, 2, 2],
    ],
    ([x, filter], o) => ops.conv2d(x as ops.Tensor, filter as ops.Tensor, { ...o, padding: [1, 1, 0, 0] }),
  ],
  'conv2d of groups': [
    [IMAGES, [3, 1, 3, 3]],
    ([x, filter], o) => ops.conv2d(x as ops.Tensor, filter as ops.Tensor, { ...o, padding: 1, groups: 3 }),
  ],
  conv1d: [
    [
      [2, 3, 5],
      [3, 3, 3],
    ],
    ([x, filter], o) => ops.conv1d(x as ops.Tensor, filter as ops.Tensor, { ...o, padding: 1 }),
  ],
  attention: [
    [
      [1, 1, 4, 4],
      [1, 1, 4, 4],
      [1, 1, 4, 4],
      [1, 1, 4, 4],
    ],
    ([q, k, v, mask], o) =>
      ops.attention(q as ops.Tensor, k as ops.Tensor, v as ops.Tensor, { ...o, mask: mask as ops.Tensor }),
  ],
  softmax: [[SQUARE], ([x], o) => ops.softmax(x as ops.Tensor, o)],
  'softmax down': [[SQUARE], ([x], o) => ops.softmax(x as ops.Tensor, { ...o, axis: 0 })],
  logSoftmax: [[SQUARE], ([x], o) => ops.logSoftmax(x as ops.Tensor, o)],
  layerNorm: [[SQUARE], ([x], o) => ops.layerNorm(x as ops.Tensor, o)],
  rmsNorm: [[SQUARE], ([x], o) => ops.rmsNorm(x as ops.Tensor, o)],
  groupNorm: [[[2, 4, 3]], ([x], o) => ops.groupNorm(x as ops.Tensor, 2, o)],
  batchNorm: [
    [[2, 4, 3]],
    ([x], o) => {
      const { backend } = x as ops.Tensor;
      return ops.batchNorm(x as ops.Tensor, { ...o, mean: ones(backend, 4), variance: ones(backend, 4) });
    },
  ],
  rope: [[[2, 3, 4]], ([x], o) => ops.rope(x as ops.Tensor, o)],
  takeAlongAxis: [
    [SQUARE],
    ([x], o) => {
      const turned = Int32Array.from({ length: 16 }, (_, i) => (i * 5 + 3) % 4);
      return ops.takeAlongAxis(x as ops.Tensor, tensor((x as ops.Tensor).backend, turned, SQUARE), 0, o);
    },
  ],
  gather: [[SQUARE], ([x], o) => ops.gather(x as ops.Tensor, places(x as ops.Tensor), o)],
  maxPool: [[IMAGES], ([x], o) => ops.maxPool(x as ops.Tensor, 3, { ...o, stride: 1, padding: 1 })],
  avgPool: [[IMAGES], ([x], o) => ops.avgPool(x as ops.Tensor, 3, { ...o, stride: 1, padding: 1 })],
  resize: [[IMAGES], ([x], o) => ops.resize(x as ops.Tensor, [4, 4], o)],
  tril: [[SQUARE], ([x], o) => ops.tril(x as ops.Tensor, o)],
  flip: [[SQUARE], ([x], o) => ops.flip(x as ops.Tensor, { ...o, axis: 0 })],
  pad: [
    [SQUARE],
    ([x], o) =>
      ops.pad(
        ops.slice(x as ops.Tensor, [[1, null]]),
        [
          [0, 1],
          [0, 0],
        ],
        o,
      ),
  ],
  tile: [[SQUARE], ([x], o) => ops.tile(ops.slice(x as ops.Tensor, [[2, null]]), [2, 1], o)],
  'concat of halves': [
    [SQUARE],
    ([x], o) => ops.concat([ops.slice(x as ops.Tensor, [[2, null]]), ops.slice(x as ops.Tensor, [[0, 2]])], o),
  ],
  'stack of rows': [
    [SQUARE],
    ([x], o) =>
      ops.stack(
        [3, 0, 2, 1].map((row) => ops.slice(x as ops.Tensor, [row])),
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
      const operands = (): ops.Tensor[] =>
        shapes.map((shape, index) => tensor(backend, drawn(shape, 7 + index), shape));
      const plain = call(operands(), {});
      const want = await plain.toArray();
      let filled = 0;
      for (const layout of ['dense', 'padded', 'reversed'] as const) {
        for (const [index, shape] of shapes.entries()) {
          if (String(shape) !== String(plain.shape)) continue;
          const own = withLayout(layout, operands);
          const isFilled = attempt(() => call(own, { out: own[index] as ops.Tensor }));
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
      const operands = (): ops.Tensor[] =>
        shapes.map((shape, index) => tensor(backend, drawn(shape, 7 + index), shape));
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
          own[index] = ops.slice(base, [shift > 0 ? [0, first] : [1, null]]);
          const out = ops.slice(base, [shift > 0 ? [1, null] : [0, first]]);
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
