import { avgPool, globalAveragePool, maxPool, permute, resize } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(2 * 3 * 7 * 8, 41);
const SHAPE = [2, 3, 7, 8] as const;
const count = (length: number): number[] => Array.from({ length }, (_, i) => i);
const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

interface Pooled {
  readonly kernel: readonly [number, number];
  readonly stride: readonly [number, number];
  readonly padding?: readonly [number, number, number, number];
  readonly dilation?: readonly [number, number];
  readonly places: readonly [number, number];
}

/** The result for the elements of each window, and the number of its places in the padded image. */
function pooled(
  { kernel, stride, padding = [0, 0, 0, 0], dilation = [1, 1], places }: Pooled,
  make: (inside: readonly number[], inPadded: number) => number,
): number[] {
  const [, , height, width] = SHAPE;
  const [top, left, bottom, right] = padding;
  const values: number[] = [];
  for (let image = 0; image < 6; image++)
    for (let row = 0; row < places[0]; row++)
      for (let column = 0; column < places[1]; column++) {
        const inside: number[] = [];
        let inPadded = 0;
        for (let i = 0; i < kernel[0]; i++)
          for (let j = 0; j < kernel[1]; j++) {
            const y = row * stride[0] - top + i * dilation[0];
            const z = column * stride[1] - left + j * dilation[1];
            if (y >= -top && y < height + bottom && z >= -left && z < width + right) inPadded++;
            if (y < 0 || y >= height || z < 0 || z >= width) continue;
            inside.push(X[(image * height + y) * width + z] as number);
          }
        values.push(make(inside, inPadded));
      }
  return values;
}

const greatest = (inside: readonly number[]): number => Math.max(...inside);

/** interpolate of PyTorch, worked out anew. */
function resized(h: number, w: number, place: (i: number, from: number, to: number) => number): number[] {
  const values: number[] = [];
  const [, , height, width] = SHAPE;
  for (let image = 0; image < 6; image++)
    for (let i = 0; i < h; i++)
      for (let j = 0; j < w; j++) {
        const [y, z] = [place(i, height, h), place(j, width, w)];
        let sum = 0;
        for (let row = 0; row < height; row++)
          for (let column = 0; column < width; column++) {
            const share = Math.max(0, 1 - Math.abs(y - row)) * Math.max(0, 1 - Math.abs(z - column));
            sum += share * (X[(image * height + row) * width + column] as number);
          }
        values.push(sum);
      }
  return values;
}

const edges = (i: number, from: number, to: number): number =>
  Math.min(from - 1, Math.max(0, ((i + 0.5) * from) / to - 0.5));
const corners = (i: number, from: number, to: number): number => (to === 1 ? 0 : (i * (from - 1)) / (to - 1));

/** Pooling and resizing by their definitions. */
export const poolingCases: OpCases = {
  'maxPool with padding, stride and dilation': {
    run: (b) => maxPool(tensor(b, X, SHAPE), [3, 2], { stride: [2, 1], padding: [1, 0], dilation: [1, 3] }),
    want: pooled({ kernel: [3, 2], stride: [2, 1], padding: [1, 0, 1, 0], dilation: [1, 3], places: [4, 5] }, greatest),
    shape: [2, 3, 4, 5],
  },
  'maxPool of a permuted view, rounded up, in half precision': {
    run: (b) => {
      const x = tensor(b, Float32Array.from(X), [2, 3, 7, 8], { dtype: 'f16' });
      return maxPool(permute(x, [0, 1, 3, 2]), [3, 2], { ceilMode: true });
    },
    want: pooled({ kernel: [2, 3], stride: [2, 3], places: [4, 3] }, greatest).map((_, at, all) => {
      const [image, row, column] = [Math.floor(at / 12), Math.floor((at % 12) / 4), at % 4];
      return all[image * 12 + column * 3 + row] as number;
    }),
    tolerance: 1e-3,
    shape: [2, 3, 3, 4],
  },
  'maxPool where the last window would begin in the padding, and with NaN': {
    run: (b) => [
      maxPool(tensor(b, [1, 2, 3], [1, 1, 1, 3]), [1, 2], { padding: [0, 1], ceilMode: true }),
      maxPool(tensor(b, [1, Number.NaN, 3, 4], [1, 1, 1, 4]), [1, 2]),
    ],
    want: [
      [1, 3],
      [Number.NaN, 4],
    ],
    shape: [1, 1, 1, 2],
  },
  'maxPool of windows too large to be written out': {
    run: (b) => maxPool(tensor(b, X, SHAPE), [6, 5], { stride: 2, padding: 'same' }),
    want: pooled({ kernel: [6, 5], stride: [2, 2], padding: [2, 1, 3, 2], places: [4, 4] }, greatest),
    shape: [2, 3, 4, 4],
  },
  'avgPool, padding counted and not, rounded up': {
    run: (b) => {
      const x = tensor(b, X, SHAPE);
      const options = { stride: 2, padding: 1, ceilMode: true };
      return [avgPool(x, 3, options), avgPool(x, 3, { ...options, countIncludePad: false })];
    },
    want: [
      pooled(
        { kernel: [3, 3], stride: [2, 2], padding: [1, 1, 1, 1], places: [4, 5] },
        (inside, n) => total(inside) / n,
      ),
      pooled(
        { kernel: [3, 3], stride: [2, 2], padding: [1, 1, 1, 1], places: [4, 5] },
        (inside) => total(inside) / inside.length,
      ),
    ],
    shape: [2, 3, 4, 5],
  },
  'avgPool of windows too large to be written out, padding counted and not': {
    run: (b) => {
      const x = tensor(b, X, SHAPE);
      const options = { stride: [3, 1], padding: [2, 3] } as const;
      return [avgPool(x, [5, 6], options), avgPool(x, [5, 6], { ...options, countIncludePad: false })];
    },
    want: [
      pooled({ kernel: [5, 6], stride: [3, 1], padding: [2, 3, 2, 3], places: [3, 9] }, (inside) => total(inside) / 30),
      pooled(
        { kernel: [5, 6], stride: [3, 1], padding: [2, 3, 2, 3], places: [3, 9] },
        (inside) => total(inside) / inside.length,
      ),
    ],
    shape: [2, 3, 3, 9],
  },
  'avgPool with more padding at the end than at the start, windows small and too large to be written out': {
    run: (b) =>
      [
        [3, 2],
        [6, 5],
      ].flatMap(([r = 0, s = 0]) =>
        [true, false].map((countIncludePad) =>
          avgPool(tensor(b, X, SHAPE), [r, s], { stride: 2, padding: [r - 3, s - 2, r - 2, s - 1], countIncludePad }),
        ),
      ),
    want: [
      [3, 2],
      [6, 5],
    ].flatMap(([r = 0, s = 0]) => {
      const windows: Pooled = { kernel: [r, s], stride: [2, 2], padding: [r - 3, s - 2, r - 2, s - 1], places: [0, 0] };
      const [top, left, bottom, right] = [r - 3, s - 2, r - 2, s - 1];
      const places = [Math.floor((7 + top + bottom - r) / 2) + 1, Math.floor((8 + left + right - s) / 2) + 1] as const;
      return [
        pooled({ ...windows, places }, (inside, n) => total(inside) / n),
        pooled({ ...windows, places }, (inside) => total(inside) / inside.length),
      ];
    }),
  },
  'globalAveragePool of images and of signals': {
    run: (b) => [globalAveragePool(tensor(b, X, SHAPE)), globalAveragePool(tensor(b, X, [6, 8, 7]))],
    want: [56, 7].map((size) => count(336 / size).map((i) => total(X.slice(i * size, i * size + size)) / size)),
    shape: [2, 3],
  },
  'resize to the nearest, of integers too': {
    run: (b) => [
      resize(tensor(b, X, SHAPE), [5, 13]),
      resize(tensor(b, Uint8Array.of(1, 2, 3, 200), [1, 1, 2, 2]), [3, 1]),
    ],
    want: [resized(5, 13, (i, from, to) => Math.floor((i * from) / to)), [1, 1, 3]],
    shape: [2, 3, 5, 13],
  },
  'resize bilinear, up and down, edges and corners aligned': {
    run: (b) => {
      const x = tensor(b, X, SHAPE);
      return [
        resize(x, [10, 5], { mode: 'bilinear' }),
        resize(x, [4, 11], { mode: 'bilinear', alignCorners: true }),
        resize(permute(tensor(b, X, [3, 2, 7, 8]), [1, 0, 2, 3]), [1, 8], { mode: 'bilinear', alignCorners: true }),
      ];
    },
    want: [
      resized(10, 5, edges),
      resized(4, 11, corners),
      count(6).flatMap((image) => X.slice(((image % 3) * 2 + Math.floor(image / 3)) * 56).slice(0, 8)),
    ],
    shape: [2, 3, 10, 5],
  },
};
