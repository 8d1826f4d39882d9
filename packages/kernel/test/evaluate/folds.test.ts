import { defineKernel, reduceKernel } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { numbers, run } from '../support/run.ts';

const OPS = ['sum', 'max', 'min', 'mean'] as const;
const integers = (length: number): Float32Array => Float32Array.from({ length }, (_, i) => ((i * 7919 + 5) % 31) - 15);

/** As `reduce` runs it: over the middle of three axes. */
function reduce(op: (typeof OPS)[number], outer: number, length: number, inner: number, input: Float32Array): number[] {
  const output = new Float32Array(outer * inner).fill(123);
  const view = { strides: [length * inner, 1, inner] };
  run(reduceKernel(op), {
    shape: [outer, inner, length],
    folded: 1,
    inputs: { input: { memory: input, view } },
    outputs: { output },
  });
  return [...output];
}

describe('built-in folds', () => {
  it('fold the middle of any shape', () => {
    for (const outer of [1, 3]) {
      for (const length of [1, 2, 3, 4, 5, 8, 33]) {
        for (const inner of [1, 2, 7, 8, 9, 17, 1025]) {
          const input = integers(outer * length * inner);
          for (const op of OPS) {
            const want = Array.from({ length: outer * inner }, (_, at) => {
              const first = Math.floor(at / inner) * length * inner + (at % inner);
              const values = Array.from({ length }, (_value, a) => input[first + a * inner] as number);
              const sum = values.reduce((x, y) => x + y, 0);
              if (op === 'max') return Math.max(...values);
              if (op === 'min') return Math.min(...values);
              return Math.fround(op === 'sum' ? sum : sum / length);
            });
            // -0 is 0.
            expect(reduce(op, outer, length, inner, input).map((x) => x + 0)).toEqual(want.map((x) => x + 0));
          }
        }
      }
    }
  });
});

describe('folds of integers and truths', () => {
  const kernel = defineKernel('statistics', { inputs: { x: 'i32' } }, ({ x }, k) => {
    const isOdd = k.eq(k.and(x, 1), 1);
    return {
      sum: k.fold('sum', x),
      product: k.fold('product', x),
      greatest: k.fold('max', x),
      least: k.fold('min', x),
      place: k.fold('argmin', x),
      odd: k.add(
        k.mul(k.fold('count', isOdd), 4),
        k.add(k.mul(k.toU32(k.toF32(k.fold('any', isOdd))), 2), k.toU32(k.toF32(k.fold('all', isOdd)))),
      ),
    };
  });

  it('wrap, and have their neutral elements', () => {
    const outputs = Object.fromEntries(kernel.outputs.map(({ name }) => [name, new Int32Array(3)]));
    const x = Int32Array.of(2 ** 31 - 1, 5, -7, 3, 4, 6, 1, 3, 5);
    run(kernel, { shape: [3, 3], folded: 1, inputs: { x }, outputs });
    const results = Object.fromEntries(Object.entries(outputs).map(([name, values]) => [name, [...values]]));
    expect(results).toEqual({
      sum: [(2 ** 31 - 3) | 0, 13, 9],
      product: [Math.imul(Math.imul(2 ** 31 - 1, 5), -7), 72, 15],
      greatest: [2 ** 31 - 1, 6, 5],
      least: [-7, 3, 1],
      place: [2, 0, 0],
      odd: [15, 6, 15],
    });
    run(kernel, { shape: [3, 0], folded: 1, inputs: { x: new Int32Array() }, outputs });
    expect(Object.values(outputs).map(([first]) => first)).toEqual([0, 1, -(2 ** 31), 2 ** 31 - 1, 0, 1]);
  });
});

describe('places of the greatest', () => {
  const kernel = defineKernel('places', { inputs: { x: 'f32' } }, ({ x }, k) => ({
    most: k.fold('argmax', x),
    least: k.fold('argmin', x),
  }));
  const places = (x: Float32Array, shape: readonly number[], folded: number, strides?: readonly number[]): number[] => {
    const [most, least] = [new Uint32Array(1), new Uint32Array(1)];
    const view = strides === undefined ? {} : { strides };
    run(kernel, { shape, folded, inputs: { x: { memory: x, view } }, outputs: { most, least } });
    return [most[0] as number, least[0] as number];
  };

  it('are the first, zeros being equal and NaN before all', () => {
    expect(places(Float32Array.of(-0, 0, -0, 0), [1, 4], 1)).toEqual([0, 0]);
    expect(places(Float32Array.of(1, 3, 3, 1), [1, 4], 1)).toEqual([1, 0]);
    expect(places(Float32Array.of(1, NaN, Infinity, NaN), [1, 4], 1)).toEqual([1, 1]);
    expect(places(new Float32Array(3).fill(-Infinity), [1, 3], 1)).toEqual([0, 0]);
  });

  it('are row-major in the folded axes, whatever the strides', () => {
    const x = new Float32Array(7 * 5000);
    x[3 * 5000 + 4999] = 2;
    x[6 * 5000 + 1] = -2;
    expect(places(x, [1, 7, 5000], 2)).toEqual([3 * 5000 + 4999, 6 * 5000 + 1]);
    expect(places(x, [1, 5000, 7], 2, [0, 1, 5000])).toEqual([4999 * 7 + 3, 7 + 6]);
  });

  it.each([
    [2, 3],
    [40, 7],
    [7, 40],
    [5000, 3],
  ])('are the first of equal ones in the order of the folded axes, %d by %d, whatever the strides', (rows, columns) => {
    const length = rows * columns;
    const pairs = [0, 1, columns - 1, columns].flatMap((a) =>
      [columns, columns + 1, length - columns, length - 1].map((b) => [a, b] as const),
    );
    for (const [down, right] of [
      [columns, 1],
      [1, rows],
    ] as const) {
      for (const [value, which] of [
        [2, 0],
        [-2, 1],
        [NaN, 0],
        [NaN, 1],
      ] as const) {
        for (const pair of pairs) {
          const x = new Float32Array(length);
          for (const place of pair) x[Math.floor(place / columns) * down + (place % columns) * right] = value;
          const found = places(x, [1, rows, columns], 2, [0, down, right]);
          expect(found[which], `${value} at ${pair.join()}, strides ${down}, ${right}`).toBe(Math.min(...pair));
        }
      }
    }
  });
});

describe('folds that need folds', () => {
  const softmax = defineKernel('softmax', { inputs: { x: 'f32' } }, ({ x }, k) => {
    const e = k.exp(k.sub(x, k.fold('max', x)));
    return { y: k.div(e, k.fold('sum', e)) };
  });

  it.each([
    ['short rows', [37, 20], [20, 1]],
    ['a row that is kept', [3, 4096], [4096, 1]],
    ['a row that is computed again', [2, 9001], [9001, 1]],
    ['short columns', [1500, 20], [1, 1500]],
    ['long columns', [40, 3000], [1, 40]],
    ['rows with gaps', [11, 13], [20, 1]],
  ])('are right for %s, also in place', (_, [rows, length], strides) => {
    const [r, l] = [rows as number, length as number];
    const extent = (r - 1) * (strides[0] as number) + (l - 1) * (strides[1] as number) + 1;
    const x = numbers(extent);
    const want = new Float32Array(x);
    for (let row = 0; row < r; row++) {
      const at = Array.from({ length: l }, (_place, i) => row * (strides[0] as number) + i * (strides[1] as number));
      const greatest = Math.max(...at.map((place) => x[place] as number));
      const powers = at.map((place) => Math.fround(Math.exp(Math.fround((x[place] as number) - greatest))));
      const sum = Math.fround(powers.reduce((a, b) => a + b, 0));
      at.forEach((place, i) => {
        want[place] = (powers[i] as number) / sum;
      });
    }
    const operand = { memory: x, view: { strides } };
    run(softmax, { shape: [r, l], folded: 1, inputs: { x: operand }, outputs: { y: operand } });
    expect(x).toEqual(want);
  });
});
