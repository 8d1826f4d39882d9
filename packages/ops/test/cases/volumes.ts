import {
  avgPool3d,
  conv3d,
  empty,
  maxPool3d,
  maxPool3dWithIndices,
  maxPoolWithIndices,
  permute,
  slice,
} from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

type Three = readonly [number, number, number];
const SIZE: Three = [5, 6, 4];
const [N, C] = [2, 4];
const X = numbers(N * C * 5 * 6 * 4, 71);

interface Windows {
  readonly kernel: Three;
  readonly stride?: Three;
  readonly before?: Three;
  readonly after?: Three;
  readonly dilation?: Three;
  readonly places: Three;
}

const counted = (sizes: Three): Three[] =>
  Array.from({ length: sizes[0] * sizes[1] * sizes[2] }, (_, at) => [
    Math.floor(at / sizes[2] / sizes[1]),
    Math.floor(at / sizes[2]) % sizes[1],
    at % sizes[2],
  ]);

/** For each place of a window the element that each of its taps sees in one volume: undefined outside, null beyond the padding. */
function seen(volume: number, of: Windows): (number | undefined | null)[][] {
  const { kernel, stride = [1, 1, 1], before = [0, 0, 0], after = before, dilation = [1, 1, 1], places } = of;
  return counted(places).map((place) =>
    counted(kernel).map((tap) => {
      const at = place.map(
        (each, axis) => each * stride[axis as 0] - before[axis as 0] + tap[axis as 0] * dilation[axis as 0],
      ) as unknown as Three;
      if (at.some((each, axis) => each >= SIZE[axis as 0] + after[axis as 0])) return null;
      if (at.some((each, axis) => each < 0 || each >= SIZE[axis as 0])) return undefined;
      return X[((volume * SIZE[0] + at[0]) * SIZE[1] + at[1]) * SIZE[2] + at[2]];
    }),
  );
}

const isInside = (each: number | undefined | null): each is number => typeof each === 'number';
const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const volumes = Array.from({ length: N * C }, (_, volume) => volume);
const pooled = (of: Windows, make: (taps: (number | undefined | null)[]) => number): number[] =>
  volumes.flatMap((volume) => seen(volume, of).map(make));

/** By groups, with weights `[k, c / groups, ...]`. */
function convolved(of: Windows, w: readonly number[], k: number, groups: number): number[] {
  const taps = of.kernel[0] * of.kernel[1] * of.kernel[2];
  const perGroup = C / groups;
  return Array.from({ length: N * k }, (_, at) => [Math.floor(at / k), at % k] as const).flatMap(([image, filter]) => {
    const first = image * C + Math.floor(filter / (k / groups)) * perGroup;
    const windows = Array.from({ length: perGroup }, (_, c) => seen(first + c, of));
    return counted(of.places).map((_, place) =>
      total(
        windows.flatMap((each, c) =>
          (each[place] as (number | undefined | null)[]).map(
            (value, tap) => (value ?? 0) * (w[(filter * perGroup + c) * taps + tap] as number),
          ),
        ),
      ),
    );
  });
}

const PADDED: Windows = {
  kernel: [3, 2, 3],
  stride: [2, 1, 2],
  before: [1, 1, 0],
  after: [1, 0, 2],
  dilation: [1, 2, 1],
  places: [3, 5, 2],
};
const OPTIONS = { stride: [2, 1, 2], padding: [1, 1, 0, 1, 0, 2], dilation: [1, 2, 1] } as const;
const W = numbers(6 * 2 * 3 * 2 * 3, 72);
const [BIAS, RESIDUAL] = [numbers(6, 73), numbers(3 * 5 * 2, 74)] as const;
const whole = convolved(PADDED, W, 6, 2);

/** The windows of the planes of `[2, 2, 5, 6]`. */
const PLANES = Array.from({ length: 4 * 15 }, (_, at) => {
  const [image, row, column] = [Math.floor(at / 15), Math.floor(at / 3) % 5, at % 3] as const;
  let [value, place] = [-Infinity, -1];
  for (let i = row - 1; i < row + 2; i++)
    for (const j of [column * 2 - 1, column * 2 + 1]) {
      const own = X[(image * 5 + i) * 6 + j] as number;
      if (i < 0 || i >= 5 || j < 0 || j >= 6 || own <= value) continue;
      [value, place] = [own, i * 6 + j];
    }
  return { value, place };
});

/** Pooling and convolution of volumes, and places of the greatest elements, by their definitions. */
export const volumeCases: OpCases = {
  'maxPool3d, of a view, rounded up, into out': {
    run: (b) => {
      const x = tensor(b, X, [N, C, ...SIZE]);
      const permuted = permute(tensor(b, X, [C, N, ...SIZE]), [1, 0, 2, 3, 4]);
      return [
        maxPool3d(x, [3, 2, 3], { ...OPTIONS, padding: [1, 1, 0] }),
        maxPool3d(x, 2, { ceilMode: true, out: permute(empty(b, [3, 3, 2, N, C]), [3, 4, 0, 1, 2]) }),
        slice(permute(maxPool3d(permuted, SIZE), [1, 0, 2, 3, 4]), [0]),
      ];
    },
    want: [
      pooled({ ...PADDED, after: [1, 1, 0], places: [3, 6, 1] }, (taps) => Math.max(...taps.filter(isInside))),
      pooled({ kernel: [2, 2, 2], stride: [2, 2, 2], places: [3, 3, 2] }, (taps) => Math.max(...taps.filter(isInside))),
      pooled({ kernel: SIZE, places: [1, 1, 1] }, (taps) => Math.max(...taps.filter(isInside))).slice(0, N),
    ],
    shape: [N, C, 3, 6, 1],
    tolerance: 0,
  },
  'maxPool3dWithIndices: padding, stride and dilation, ties, NaN, and nothing but -Infinity': {
    run: (b) => {
      const { values, indices } = maxPool3dWithIndices(tensor(b, X, [N, C, ...SIZE]), [3, 2, 3], OPTIONS);
      const ties = tensor(b, [2, 2, NaN, 2, -Infinity, -Infinity, 2, 2, NaN, 1, -Infinity, -Infinity], [1, 1, 2, 2, 3]);
      const some = maxPool3dWithIndices(ties, [2, 1, 1]);
      const all = maxPool3dWithIndices(slice(ties, [null, null, null, [1, 2], [1, 3]]), [2, 1, 2], {
        padding: [0, 0, 1],
      });
      return [values, indices, some.values, some.indices, all.values, all.indices];
    },
    want: [
      pooled(PADDED, (taps) => Math.max(...taps.filter(isInside))),
      volumes.flatMap((volume) =>
        seen(volume, PADDED).map((taps) => X.indexOf(Math.max(...taps.filter(isInside)), volume * 120) - volume * 120),
      ),
      [2, 2, NaN, 2, -Infinity, -Infinity],
      [0, 1, 2, 3, 4, 5],
      [-Infinity, -Infinity],
      [0, 1],
    ],
    shape: [N, C, 3, 5, 2],
    tolerance: 0,
  },
  'avgPool3d, padding counted and not, rounded up, in half precision': {
    run: (b) => {
      const x = tensor(b, Float32Array.from(X), [N, C, ...SIZE], { dtype: 'f16' });
      const options = { stride: 2, padding: 1, ceilMode: true };
      return [avgPool3d(x, 3, options), avgPool3d(x, 3, { ...options, countIncludePad: false })];
    },
    want: [
      pooled(
        { kernel: [3, 3, 3], stride: [2, 2, 2], before: [1, 1, 1], places: [3, 4, 3] },
        (taps) => total(taps.filter(isInside)) / taps.filter((each) => each !== null).length,
      ),
      pooled(
        { kernel: [3, 3, 3], stride: [2, 2, 2], before: [1, 1, 1], places: [3, 4, 3] },
        (taps) => total(taps.filter(isInside)) / taps.filter(isInside).length,
      ),
    ],
    shape: [N, C, 3, 4, 3],
    tolerance: 1e-3,
  },
  'conv3d with everything, of a view, into out': {
    run: (b) => {
      const x = permute(tensor(b, X, [N, C, ...SIZE]), [0, 1, 2, 3, 4]);
      const w = tensor(b, W, [6, 2, 3, 2, 3]);
      const own = { bias: tensor(b, BIAS), residual: tensor(b, RESIDUAL, [3, 5, 2]), activation: 'relu' } as const;
      return [
        conv3d(x, w, { ...OPTIONS, groups: 2 }),
        conv3d(x, w, { ...OPTIONS, groups: 2, ...own, out: empty(b, [N, 6, 3, 5, 2]) }),
        conv3d(x, tensor(b, W.slice(0, 8), [1, C, 2, 1, 1])),
      ];
    },
    want: [
      whole,
      whole.map((y, at) => Math.max(0, y + (BIAS[Math.floor(at / 30) % 6] as number)) + (RESIDUAL[at % 30] as number)),
      convolved({ kernel: [2, 1, 1], places: [4, 6, 4] }, W, 1, 1),
    ],
    shape: [N, 6, 3, 5, 2],
  },
  'maxPoolWithIndices: padding, stride and dilation, ties, NaN, and nothing but -Infinity': {
    run: (b) => {
      const x = tensor(b, X.slice(0, 4 * 30), [2, 2, 5, 6]);
      const ties = tensor(b, [
        [
          [
            [2, 2, NaN, -Infinity, -Infinity],
            [2, 1, NaN, -Infinity, -Infinity],
          ],
        ],
      ]);
      const [all, some] = [
        maxPoolWithIndices(x, [3, 2], { stride: [1, 2], padding: [1, 1], dilation: [1, 2] }),
        maxPoolWithIndices(ties, 2, { stride: 1, padding: 1 }),
      ];
      // Left of the second row lies the end of the first.
      const none = maxPoolWithIndices(slice(ties, [null, null, null, [3, 5]]), [1, 2], { stride: 1, padding: [0, 1] });
      return [all.values, all.indices, some.values, some.indices, none.values, none.indices];
    },
    want: [
      PLANES.map(({ value }) => value),
      PLANES.map(({ place }) => place),
      [
        ...[2, 2, NaN, NaN, -Infinity, -Infinity],
        ...[2, 2, NaN, NaN, -Infinity, -Infinity],
        ...[2, 2, NaN, NaN, -Infinity, -Infinity],
      ],
      [0, 0, 2, 2, 3, 4, 0, 0, 2, 2, 3, 4, 5, 5, 7, 7, 8, 9],
      Array.from({ length: 6 }, () => -Infinity),
      [0, 0, 1, 2, 2, 3],
    ],
    shape: [2, 2, 5, 3],
    tolerance: 0,
  },
};
