import { add, concat, empty, flip, matmul, pad, permute, slice, stack, tile, tril, triu } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(2 * 3 * 4, 21);
const at = (i: number, j: number, k: number): number => X[(i * 3 + j) * 4 + k] as number;
const over = <T>(length: number, each: (index: number) => T): T[] => Array.from({ length }, (_, index) => each(index));

/** Places of NumPy's pad along an axis: -1 where it is the constant. */
const reflected = (length: number, before: number, after: number): number[] => {
  const wave = [...over(length, (i) => i), ...over(Math.max(0, length - 2), (i) => length - 2 - i)];
  return over(length + before + after, (i) => wave.at((i - before) % wave.length) as number);
};
const symmetric = (length: number, before: number, after: number): number[] => {
  const wave = over(2 * length, (i) => Math.min(i, 2 * length - 1 - i));
  const periods = 1 + Math.ceil(before / wave.length);
  return over(length + before + after, (i) => wave[(i - before + periods * wave.length) % wave.length] as number);
};
const wrapped = (length: number, before: number, after: number): number[] => {
  const ends = over(before, (i) => length - 1 - (i % length)).reverse();
  return [...ends, ...over(length + after, (i) => i % length)];
};
const clamped = (length: number, before: number, after: number): number[] =>
  over(length + before + after, (i) => Math.min(length - 1, Math.max(0, i - before)));

const DIAGONALS = [-9, -4, -3, -2, -1, 0, 1, 2, 3, 9];
const F16 = { dtype: 'f16' } as const;

/** concat, stack, pad, tile and flip by their places. */
export const shapingCases: OpCases = {
  'concat along an inner axis, of views, with an empty one': {
    run: (b) => {
      const x = tensor(b, X, [2, 3, 4]);
      return concat([slice(x, [null, [1, null]]), tensor(b, [], [2, 0, 4]), x], { axis: 1 });
    },
    want: over(2, (i) => [1, 2, 0, 1, 2].map((j) => over(4, (k) => at(i, j, k)))).flat(2),
    shape: [2, 5, 4],
  },
  'concat of half precision, of odd sizes': {
    run: (b) =>
      concat(over(3, (i) => tensor(b, Float32Array.of(i, i + 0.5, i + 0.25).slice(0, i + 1), undefined, F16))),
    want: [0, 1, 1.5, 2, 2.5, 2.25],
    shape: [6],
  },
  'concat of f32 and f16 is f32': {
    run: (b) => concat([tensor(b, [1]), tensor(b, Float32Array.of(0.5), [1], F16)], { axis: -1 }),
    want: [1, 0.5],
  },
  'concat into the memory of one of its parts, whichever it is': {
    run: (b) =>
      over(3, (own) => {
        const out = tensor(b, X.slice(0, 12), [6, 2]);
        const parts = over(3, (part) =>
          part === own ? slice(out, [[1, 3]]) : tensor(b, [part, part, part, part], [2, 2]),
        );
        return concat(parts, { out });
      }),
    want: over(3, (own) => over(3, (part) => (part === own ? X.slice(2, 6) : [part, part, part, part])).flat()),
    shape: [6, 2],
  },
  'sums of matrices whose strides have the same digits': {
    run: (b) => {
      const [x, y] = [tensor(b, numbers(252, 5), [21, 12]), tensor(b, numbers(252, 6), [12, 21])];
      const t = permute(y, [1, 0]);
      return [add(x, t), add(t, x), add(slice(x, [[0, 11]]), slice(t, [[10, 21]]))];
    },
    want: (() => {
      const [x, y] = [numbers(252, 5), numbers(252, 6)];
      const sum = (i: number, j: number, row = i): number => (x[12 * i + j] as number) + (y[21 * j + row] as number);
      const all = over(21, (i) => over(12, (j) => sum(i, j))).flat();
      return [all, all, over(11, (i) => over(12, (j) => sum(i, j, i + 10))).flat()];
    })(),
    shape: [21, 12],
  },
  'stack at the end of permuted integers': {
    run: (b) => {
      const x = permute(tensor(b, Int32Array.of(1, 2, 3, 4), [2, 2]), [1, 0]);
      return stack([x, x], { axis: -1 });
    },
    want: [1, 1, 3, 3, 2, 2, 4, 4],
    shape: [2, 2, 2],
  },
  'stack of numbers': {
    run: (b) => stack([tensor(b, 1), tensor(b, 2)]),
    want: [1, 2],
    shape: [2],
  },
  'pad by nothing is a copy, and matrix columns are stored as an f16 out is laid out': {
    run: (b) => {
      const x = tensor(b, [1, 2, 3, 4], [2, 2]);
      const out = permute(empty(b, [2, 2], F16), [1, 0]);
      return [
        pad(x, [
          [0, 0],
          [0, 0],
        ]),
        matmul(x, x, { out }),
      ];
    },
    want: [
      [1, 2, 3, 4],
      [7, 10, 15, 22],
    ],
  },
  'pad with a constant, of a permuted view': {
    run: (b) =>
      pad(
        permute(tensor(b, X, [2, 3, 4]), [2, 0, 1]),
        [
          [0, 0],
          [1, 0],
          [0, 2],
        ],
        { value: 7 },
      ),
    want: over(4, (k) => [-1, 0, 1].map((i) => over(5, (j) => (i < 0 || j > 2 ? 7 : at(i, j, k))))).flat(2),
    shape: [4, 3, 5],
  },
  'pad by reflection beyond the length, and where it is 1': {
    run: (b) => [
      pad(
        tensor(b, X, [2, 3, 4]),
        [
          [0, 0],
          [5, 7],
          [3, 4],
        ],
        { mode: 'reflect' },
      ),
      pad(tensor(b, [3]), [[2, 1]], { mode: 'reflect' }),
    ],
    want: [
      over(2, (i) => reflected(3, 5, 7).map((j) => reflected(4, 3, 4).map((k) => at(i, j, k)))).flat(2),
      [3, 3, 3, 3],
    ],
    shape: [2, 15, 11],
  },
  'pad symmetrically and by repetition beyond the length, and where it is 1': {
    run: (b) => {
      const x = permute(tensor(b, X, [2, 3, 4]), [0, 2, 1]);
      return (['symmetric', 'wrap'] as const).flatMap((mode) => [
        pad(
          x,
          [
            [0, 0],
            [9, 10],
            [5, 3],
          ],
          { mode },
        ),
        pad(tensor(b, Uint8Array.of(3)), [[2, 1]], { mode }),
        pad(tensor(b, Int32Array.of(1, 2, 3)), [[2, 1]], { mode }),
      ]);
    },
    want: (
      [
        [symmetric, [2, 1, 1, 2, 3, 3]],
        [wrapped, [2, 3, 1, 2, 3, 1]],
      ] as const
    ).flatMap(([places, three]) => [
      over(2, (i) => places(4, 9, 10).map((k) => places(3, 5, 3).map((j) => at(i, j, k)))).flat(2),
      [3, 3, 3, 3],
      three,
    ]),
    shape: [2, 23, 11],
  },
  'pad by the edge, of bytes': {
    run: (b) =>
      pad(
        tensor(b, Int8Array.of(-1, 2, 3, 4, 5, -6), [2, 3]),
        [
          [1, 0],
          [2, 3],
        ],
        { mode: 'edge' },
      ),
    want: clamped(2, 1, 0).flatMap((i) => clamped(3, 2, 3).map((j) => [-1, 2, 3, 4, 5, -6][i * 3 + j] as number)),
    shape: [3, 8],
  },
  'pad of more axes than a launch takes, into a view': {
    run: (b) => {
      const out = permute(empty(b, [3, 4, 2, 2, 4]), [4, 1, 2, 3, 0]);
      const x = tensor(b, X, [3, 2, 2, 2, 1]);
      return pad(
        x,
        [
          [1, 0],
          [0, 2],
          [0, 0],
          [0, 0],
          [1, 1],
        ],
        { mode: 'edge', out },
      );
    },
    want: clamped(3, 1, 0).flatMap((i) =>
      clamped(2, 0, 2).flatMap((j) => over(4, (k) => over(3, () => X[(i * 2 + j) * 4 + k] as number)).flat()),
    ),
    shape: [4, 4, 2, 2, 3],
  },
  'tile along new and old axes, of a view': {
    run: (b) => tile(permute(tensor(b, X, [6, 4]), [1, 0]), [2, 1, 3]),
    want: over(2, () => over(4, (k) => over(18, (j) => X[(j % 6) * 4 + k] as number))).flat(2),
    shape: [2, 4, 18],
  },
  'tile of nothing, and by nothing': {
    run: (b) => [tile(tensor(b, 5), [3]), tile(tensor(b, [1, 2]), [0])],
    want: [[5, 5, 5], []],
    shape: [3],
  },
  'slices backwards, of views and beside an index': {
    run: (b) => {
      const x = permute(tensor(b, X, [2, 3, 4]), [2, 0, 1]);
      return [
        slice(x, [[null, 0, -2], 1, [-1, null, -1]]),
        slice(x, [null, [null, null, -1]]),
        slice(tensor(b, [], [0, 2]), [
          [null, null, -1],
          [null, null, -1],
        ]),
      ];
    },
    want: [
      [3, 1].flatMap((k) => [2, 1, 0].map((j) => at(1, j, k))),
      over(4, (k) => over(2, (i) => over(3, (j) => at(1 - i, j, k)))).flat(2),
      [],
    ],
    shape: [2, 3],
  },
  'triangles of views, from each diagonal that there is and those beyond': {
    run: (b) => {
      const x = permute(tensor(b, X, [2, 3, 4]), [0, 2, 1]);
      return DIAGONALS.flatMap((diagonal) => [triu(x, { diagonal }), tril(x, { diagonal })]);
    },
    want: DIAGONALS.flatMap((diagonal) =>
      [1, -1].map((sign) => {
        const kept = (k: number, j: number): boolean => sign * (j - k - diagonal) >= 0;
        return over(2, (i) => over(4, (k) => over(3, (j) => (kept(k, j) ? at(i, j, k) : 0)))).flat(2);
      }),
    ),
    shape: [2, 4, 3],
  },
  'triangles leave nothing of what is outside, in their own memory too, and keep integers': {
    run: (b) => {
      const x = tensor(b, [1, NaN, Infinity, -2], [2, 2]);
      return [
        tril(tensor(b, [1, NaN, 3, 4], [2, 2])),
        triu(x, { diagonal: 2 }),
        triu(tensor(b, Int32Array.of(2 ** 31 - 1, 2, 3, -4), [2, 2]), { diagonal: -1e300 }),
        triu(tensor(b, Uint8Array.of(255, 2, 3, 4), [2, 2])),
        tril(x, { diagonal: -1, out: x }),
        tril(tensor(b, [], [2, 0])),
      ];
    },
    want: [[1, 0, 3, 4], [0, 0, 0, 0], [2 ** 31 - 1, 2, 3, -4], [255, 2, 0, 4], [0, 0, Infinity, 0], []],
    tolerance: 0,
  },
  'flip of outer and inner axes': {
    run: (b) => [
      flip(tensor(b, X, [2, 3, 4]), { axis: [0, -1] }),
      flip(tensor(b, Uint8Array.of(1, 2, 3))),
      flip(tensor(b, 4)),
    ],
    want: [over(2, (i) => over(3, (j) => over(4, (k) => at(1 - i, j, 3 - k)))).flat(2), [3, 2, 1], [4]],
    shape: [2, 3, 4],
  },
};
