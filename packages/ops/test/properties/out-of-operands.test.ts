import { type ComputeBackend, isBackendError } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { WasmBackend } from '@concord/backend-wasm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as ops from '../../src/index.ts';
import { tensor, withLayout } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';

/** A call of a function, and the shapes of its operands. */
interface Case {
  readonly call: (options: { readonly out?: ops.Tensor }, ...operands: ops.Tensor[]) => ops.Tensor;
  readonly shapes: readonly (readonly number[])[];
}
const of = (call: Case['call'], ...shapes: Case['shapes']): Case => ({ call, shapes });

const SQUARE = [4, 4];
const IMAGES = [2, 3, 4, 4];
const factors = (x: ops.Tensor): ops.Tensor => tensor(x.backend, [1, 1.25, 1.5, 1.75]);
const places = (x: ops.Tensor): ops.Tensor => tensor(x.backend, Int32Array.of(3, 1, 0, 2));

/** Functions whose result may be as large as an operand. */
const CALLS: Readonly<Record<string, Case>> = {
  sub: of((o, a, b) => ops.sub(a, b, o), SQUARE, SQUARE),
  'add of a row': of((o, a, b) => ops.add(a, b, o), SQUARE, [4]),
  where: of((o, a, b, c) => ops.where(a, b, c, o), SQUARE, SQUARE, SQUARE),
  clamp: of((o, x) => ops.clamp(x, { ...o, min: -0.5, max: 0.5 }), SQUARE),
  matmul: of((o, a, b) => ops.matmul(a, b, o), SQUARE, SQUARE),
  linear: of((o, x, weight, residual) => ops.linear(x, weight, { ...o, residual }), SQUARE, SQUARE, SQUARE),
  conv2d: of((o, x, filter) => ops.conv2d(x, filter, { ...o, padding: 1 }), IMAGES, [3, 3, 3, 3]),
  'conv2d into its filter': of(
    (o, x, filter) => ops.conv2d(x, filter, { ...o, padding: [1, 1, 0, 0] }),
    [2, 2, 2, 2],
    [2, 2, 2, 2],
  ),
  'conv2d of groups': of(
    (o, x, filter) => ops.conv2d(x, filter, { ...o, padding: 1, groups: 3 }),
    IMAGES,
    [3, 1, 3, 3],
  ),
  conv1d: of((o, x, filter) => ops.conv1d(x, filter, { ...o, padding: 1 }), [2, 3, 5], [3, 3, 3]),
  attention: of(
    (o, q, k, v, mask) => ops.attention(q, k, v, { ...o, mask }),
    [1, 1, 4, 4],
    [1, 1, 4, 4],
    [1, 1, 4, 4],
    [1, 1, 4, 4],
  ),
  softmax: of((o, x) => ops.softmax(x, o), SQUARE),
  'softmax down': of((o, x) => ops.softmax(x, { ...o, axis: 0 }), SQUARE),
  logSoftmax: of((o, x) => ops.logSoftmax(x, o), SQUARE),
  layerNorm: of((o, x) => ops.layerNorm(x, o), SQUARE),
  rmsNorm: of((o, x) => ops.rmsNorm(x, o), SQUARE),
  groupNorm: of((o, x) => ops.groupNorm(x, 2, o), [2, 4, 3]),
  batchNorm: of((o, x) => ops.batchNorm(x, { ...o, mean: factors(x), variance: factors(x) }), [2, 4, 3]),
  rope: of((o, x) => ops.rope(x, o), [2, 3, 4]),
  takeAlongAxis: of((o, x) => {
    const turned = Int32Array.from({ length: 16 }, (_, i) => (i * 5 + 3) % 4);
    return ops.takeAlongAxis(x, tensor(x.backend, turned, SQUARE), 0, o);
  }, SQUARE),
  gather: of((o, x) => ops.gather(x, places(x), o), SQUARE),
  maxPool: of((o, x) => ops.maxPool(x, 3, { ...o, stride: 1, padding: 1 }), IMAGES),
  avgPool: of((o, x) => ops.avgPool(x, 3, { ...o, stride: 1, padding: 1 }), IMAGES),
  resize: of((o, x) => ops.resize(x, [4, 4], o), IMAGES),
  tril: of((o, x) => ops.tril(x, o), SQUARE),
  flip: of((o, x) => ops.flip(x, { ...o, axis: 0 }), SQUARE),
  pad: of(
    (o, x) =>
      ops.pad(
        ops.slice(x, [[1, null]]),
        [
          [0, 1],
          [0, 0],
        ],
        o,
      ),
    SQUARE,
  ),
  tile: of((o, x) => ops.tile(ops.slice(x, [[2, null]]), [2, 1], o), SQUARE),
  'concat of halves': of((o, x) => ops.concat([ops.slice(x, [[2, null]]), ops.slice(x, [[0, 2]])], o), SQUARE),
  'stack of rows': of(
    (o, x) =>
      ops.stack(
        [3, 0, 2, 1].map((row) => ops.slice(x, [row])),
        o,
      ),
    SQUARE,
  ),
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

  const operandsOf = (shapes: Case['shapes']) => (): ops.Tensor[] =>
    shapes.map((shape, index) => tensor(backend, drawn(shape, 7 + index), shape));

  test.each(Object.entries(CALLS))(
    '%s into each of its operands is right, or refused',
    async (name, { call, shapes }) => {
      const operands = operandsOf(shapes);
      const plain = call({}, ...operands());
      const want = await plain.toArray();
      let filled = 0;
      for (const layout of ['dense', 'padded', 'reversed'] as const) {
        for (const [index, shape] of shapes.entries()) {
          if (String(shape) !== String(plain.shape)) continue;
          const own = withLayout(layout, operands);
          const isFilled = attempt(() => call({ out: own[index] as ops.Tensor }, ...own));
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
    async (name, { call, shapes }) => {
      const operands = operandsOf(shapes);
      const plain = call({}, ...operands());
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
          const isFilled = attempt(() => call({ out }, ...own));
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
