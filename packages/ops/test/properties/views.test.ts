import { CpuBackend } from '@concord/backend-cpu';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import * as ops from '../../src/index.ts';
import { at, indicesOf, type Model } from '../support/model.ts';
import { chains, stepOf } from '../support/view-steps.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

// Sizes of 0 make all that follows empty, so there are few.
const sizes = fc.oneof(
  { weight: 15, arbitrary: fc.integer({ min: 1, max: 4 }) },
  { weight: 1, arbitrary: fc.constant(0) },
);
const shapes = fc.array(sizes, { maxLength: 4 });
const counted = (shape: readonly number[], nanEvery = Infinity): Model => ({
  shape,
  values: indicesOf(shape).map((_, place) => (place % nanEvery === 1 ? NaN : (place * 3) % 41)),
});

/** The tensor and the model at the end of a chain; what was done is in the message of a failure. */
function chained(
  shape: readonly number[],
  chain: readonly number[][],
  nanEvery?: number,
): { x: ops.Tensor; model: Model; shown: string } {
  let model = counted(shape, nanEvery);
  let x = ops.tensor(backend, [...model.values], shape);
  const shown = [`[${shape.join()}]`];
  for (const drawn of chain) {
    const step = stepOf(model, drawn);
    shown.push(step.shown);
    x = step.tensor(x);
    ({ model } = step);
  }
  return { x, model, shown: shown.join(', ') };
}

test('chains of views are what a plain loop makes of them, read and packed', async () => {
  await fc.assert(
    fc.asyncProperty(shapes, chains, async (shape, chain) => {
      const { x, packed, model, shown } = ops.tidy(() => {
        const end = chained(shape, chain);
        return { ...end, packed: ops.pack(end.x) };
      });
      using own = x;
      using copied = packed;
      expect(own.shape, shown).toEqual(model.shape);
      expect(Array.from(await own.toArray()), shown).toEqual(model.values);
      expect(copied.isDense).toBe(true);
      expect(Array.from(await copied.toArray()), shown).toEqual(model.values);
    }),
    { numRuns: 300 },
  );
  expect(backend.memory().liveAllocations).toBe(0);
});

test('folds over any axes of any view are what a plain loop makes of them', async () => {
  const folds = fc.record({
    axes: fc.array(fc.nat(), { maxLength: 3 }),
    keepDims: fc.boolean(),
    isAll: fc.boolean(),
    nanEvery: fc.constantFrom(Infinity, 2, 3, 7),
  });
  await fc.assert(
    fc.asyncProperty(shapes, chains, folds, async (shape, chain, { axes, keepDims, isAll, nanEvery }) => {
      const result = ops.tidy(() => {
        const { x, model, shown } = chained(shape, chain, nanEvery);
        const { rank } = x;
        // A row of one is an axis more.
        const isWhole = isAll || rank === 0 || (axes.length === 0 && rank === 8);
        const axis = isWhole ? undefined : [...new Set(axes.map((each) => each % rank))];
        const given = axis?.map((each, place) => (place % 2 === 0 ? each : each - rank));
        const options = { axis: given, keepDims };
        const folded = [ops.sum(x, options), ops.max(x, options), ops.argmin(x, options)] as const;
        return {
          model,
          folded,
          axis: axis ?? x.shape.map((_, each) => each),
          message: `${shown}; over ${String(given)}`,
        };
      });
      const { model, folded, axis, message } = result;
      const want = foldedLoop(model, axis, keepDims);
      for (const [place, each] of folded.entries()) {
        using own = each;
        expect(own.shape, message).toEqual(want.shape);
        expect(Array.from(await own.toArray()), message).toEqual(want.rows.map((row) => FOLDS[place]?.(row)));
      }
    }),
    { numRuns: 200 },
  );
  expect(backend.memory().liveAllocations).toBe(0);
});

const FOLDS = [
  (row: readonly number[]) => row.reduce((total, each) => total + each, 0),
  (row: readonly number[]) => Math.max(...row),
  (row: readonly number[]) =>
    Math.max(
      0,
      row.findIndex((x) => Object.is(x, Math.min(...row))),
    ),
];

/** The rows that a fold makes one element each of, row-major. */
function foldedLoop(model: Model, axes: readonly number[], keepDims: boolean): { shape: number[]; rows: number[][] } {
  const kept = model.shape.map((length, axis) => (axes.includes(axis) ? 1 : length));
  const within = model.shape.map((length, axis) => (axes.includes(axis) ? length : 1));
  const rows = indicesOf(kept).map((outer) =>
    indicesOf(within).map((inner) =>
      at(
        model,
        outer.map((place, axis) => place + (inner[axis] as number)),
      ),
    ),
  );
  return { shape: keepDims ? kept : kept.filter((_, axis) => !axes.includes(axis)), rows };
}

test('a range is what a loop makes of it, forwards and backwards, beyond both ends', async () => {
  const places = [null, -6, -4, -1, 0, 1, 3, 4, 6];
  for (const length of [0, 1, 4]) {
    using x = ops.tensor(
      backend,
      Int32Array.from({ length }, (_, place) => place),
    );
    for (const from of places) {
      for (const to of places) {
        for (const step of [1, 2, -1, -3]) {
          using part = ops.slice(x, [[from, to, step]]);
          expect(Array.from(await part.toArray()), `${from}:${to}:${step} of ${length}`).toEqual(
            walked(length, from, to, step),
          );
        }
      }
    }
  }
  expect(backend.memory().liveAllocations).toBe(0);
});

/** The places from `from` to before `to` that an axis has. */
function walked(length: number, from: number | null, to: number | null, step: number): number[] {
  const own = (place: number): number => (place < 0 ? place + length : place);
  const inside = (place: number): number => Math.max(-1, Math.min(length, place));
  const until = to === null ? (step > 0 ? length : -1) : inside(own(to));
  let place = from === null ? (step > 0 ? 0 : length - 1) : own(from);
  // What is beyond the side where a walk begins is cut, not stepped over.
  place = step > 0 ? Math.max(0, place) : Math.min(length - 1, place);
  const result: number[] = [];
  for (; step > 0 ? place < until : place > until; place += step) {
    if (place >= 0 && place < length) result.push(place);
  }
  return result;
}

test('rows that overlap are read where they lie by every product', async () => {
  const data = [1, 2, 3, 5, 8, 13, 21, 34, 55];
  const ptr = backend.alloc(4 * data.length);
  backend.copyHtod(ptr, Float32Array.from(data));
  const results = ops.tidy(() => {
    // Row i is data[i], data[i + 1], data[i + 2].
    const windows = ops.wrap(backend, ptr, [4, 3], 'f32', [1, 1]);
    const batches = ops.wrap(backend, ptr, [2, 3, 4], 'f32', [1, 2, 1]);
    const weights = ops.tensor(backend, [1, 0, 2, 0, 1, -1, 1, 1, 1], [3, 3]);
    return [
      ops.matmul(windows, weights),
      ops.matmul(weights, ops.transpose(windows)),
      ops.linear(weights, windows),
      ops.matmul(ops.transpose(windows), windows),
      ops.matmul(weights, batches),
    ];
  });
  const rows = (starts: readonly number[], length: number): number[][] =>
    starts.map((start) => data.slice(start, start + length));
  const weights = [
    [1, 0, 2],
    [0, 1, -1],
    [1, 1, 1],
  ];
  const flipped = (matrix: readonly (readonly number[])[]): number[][] =>
    (matrix[0] as readonly number[]).map((_, column) => matrix.map((row) => row[column] as number));
  const product = (a: readonly (readonly number[])[], b: readonly (readonly number[])[]): number[] =>
    a.flatMap((row) =>
      flipped(b).map((column) => row.reduce((total, each, place) => total + each * (column[place] as number), 0)),
    );
  const windows = rows([0, 1, 2, 3], 3);
  const want = [
    product(windows, weights),
    product(weights, flipped(windows)),
    product(weights, flipped(windows)),
    product(flipped(windows), windows),
    [...product(weights, rows([0, 2, 4], 4)), ...product(weights, rows([1, 3, 5], 4))],
  ];
  for (const [place, each] of results.entries()) {
    using own = each;
    expect(Array.from(await own.toArray()), `product ${place}`).toEqual(want[place]);
  }
  backend.free(ptr);
});
