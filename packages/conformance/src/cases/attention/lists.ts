import type { AttentionParams } from './suite.ts';

/** Name of a check, and the parameters that differ from the defaults. */
export type Entry = readonly [string, Partial<AttentionParams>];

/** seqQ, seqKv, headDim */
const SIZES: readonly (readonly [number, number, number])[] = [
  [1, 1, 1],
  [1, 33, 8],
  [5, 3, 4],
  [3, 5, 7],
  [16, 16, 16],
  [17, 31, 33],
  [64, 65, 64],
  [33, 129, 40],
  [65, 17, 128],
  [2, 3, 256],
];

/** Cases with whole heads of packed float32: name of a check, and what differs from the defaults. */
export const PLAIN_CASES: readonly Entry[] = [
  ...SIZES.flatMap(([seqQ, seqKv, headDim]): Entry[] => [
    ['bounded', { seqQ, seqKv, headDim }],
    ['bounded', { seqQ, seqKv, headDim, causal: true }],
  ]),
  ...SIZES.slice(3, 8).map(([seqQ, seqKv, headDim]): Entry => ['rows', { seqQ, seqKv, headDim, range: 3 }]),
  ['bounded', { batch: 2, heads: 3, seqQ: 7, seqKv: 9, headDim: 5 }],
  ['bounded', { batch: 3, heads: 2, seqQ: 9, seqKv: 7, headDim: 5, causal: true }],
  ['bounded', { batch: 2, heads: 2, seqQ: 20, seqKv: 20, headDim: 24, offset: 4 }],
  ['bounded', { batch: 2, heads: 2, seqQ: 20, seqKv: 20, headDim: 24, offset: 4, together: true }],
  ['bounded', { seqQ: 4, seqKv: 1500, headDim: 16 }],
  ['bounded', { seqQ: 3, seqKv: 2501, headDim: 4 }],
  ['bounded', { seqQ: 2, seqKv: 20_001, headDim: 8 }],
  ['bounded', { seqQ: 501, seqKv: 9, headDim: 4 }],
  ['bounded', { seqQ: 501, seqKv: 501, headDim: 3, causal: true }],
  ['bounded', { seqQ: 300, seqKv: 300, headDim: 16, causal: true }],
  ['bounded', { seqQ: 8, seqKv: 40, headDim: 16, range: 30 }],
  ['bounded', { seqQ: 8, seqKv: 40, headDim: 16, range: 30, causal: true }],
  ['bounded', { seqQ: 4, seqKv: 20, headDim: 4, range: 100, scale: 1 }],
  ['bounded', { seqQ: 8, seqKv: 8, headDim: 8, scale: 2.5 }],
  ['bounded', { seqQ: 8, seqKv: 8, headDim: 8, scale: 1e-30 }],
  ['bounded', { batch: 660, heads: 100, seqQ: 1, seqKv: 2, headDim: 2 }],
  ['rows', { seqQ: 70, seqKv: 70, headDim: 8, causal: true, range: 3 }],
  ['rows', { seqQ: 3, seqKv: 700, headDim: 8, range: 6 }],
  ['one-key', { batch: 2, heads: 2, seqQ: 5, seqKv: 1, headDim: 64 }],
  // Large scores of both signs: with a maximum that starts at 0 the weights of the negative ones vanish.
  ['one-key', { batch: 2, heads: 3, seqQ: 5, seqKv: 1, headDim: 64, range: 50 }],
  ['one-key', { seqQ: 1, seqKv: 40, headDim: 33, causal: true, range: 5 }],
  ['one-key', { seqQ: 3, seqKv: 1, headDim: 100, causal: true, range: 50 }],
  ['hidden', { heads: 2, seqQ: 5, seqKv: 40, headDim: 8, causal: true }],
  ['hidden', { seqQ: 40, seqKv: 70, headDim: 64, causal: true }],
  ['specials', { heads: 2, seqQ: 9, seqKv: 12, headDim: 8 }],
  ['specials', { heads: 2, seqQ: 12, seqKv: 12, headDim: 8, causal: true }],
  ['infinite', { heads: 2, seqQ: 9, seqKv: 12, headDim: 8 }],
  ['infinite', { heads: 2, seqQ: 20, seqKv: 20, headDim: 8, causal: true }],
  ['infinite', { seqQ: 5, seqKv: 300, headDim: 16 }],
  ['infinite', { seqQ: 70, seqKv: 70, headDim: 33, causal: true }],
  ['bad-key', { heads: 2, seqQ: 9, seqKv: 12, headDim: 8 }],
  ['bad-key', { heads: 2, seqQ: 20, seqKv: 20, headDim: 8, causal: true }],
  ['bad-key', { heads: 2, seqQ: 5, seqKv: 200, headDim: 8 }],
  ['overflow', { scale: 2 ** -10 }],
  ['overflow', { heads: 2, seqQ: 9, seqKv: 12, headDim: 8, scale: 2 ** -10 }],
  ['overflow', { heads: 2, seqQ: 20, seqKv: 20, headDim: 8, scale: 2 ** -10, causal: true }],
  ['overflow', { seqQ: 5, seqKv: 300, headDim: 16, scale: 2 ** -10 }],
  ['overflow', { seqQ: 70, seqKv: 70, headDim: 33, scale: 2 ** -10, causal: true }],
  ['overflow', { seqQ: 130, seqKv: 200, headDim: 64, scale: 2 ** -10 }],
  ['repeat', { heads: 2, seqQ: 33, seqKv: 65, headDim: 32 }],
  ['repeat', { heads: 2, seqQ: 65, seqKv: 65, headDim: 32, causal: true }],
];

/** One token after a cache. */
const CACHE: Partial<AttentionParams> = { seqQ: 1, seqKv: 77, headDim: 64, causal: true, causalOffset: 76 };
const LONG: Partial<AttentionParams> = { seqQ: 3, seqKv: 1300, headDim: 16, heads: 2 };
/** A step of several sequences over caches of one capacity. */
const RAGGED: Partial<AttentionParams> = { batch: 4, heads: 4, kvHeads: 2, seqQ: 1, seqKv: 300, headDim: 64 };
const SQUARE: Partial<AttentionParams> = { heads: 2, seqQ: 70, seqKv: 70, headDim: 24 };
/** Crosses tiles of keys and of queries. */
const TILES: Partial<AttentionParams> = { seqQ: 150, seqKv: 200, headDim: 16 };

const MASK_AXES = ['bhqk', 'hqk', 'bqk', 'bhk', 'bhq', 'qk', 'hk', 'bk', 'bh', 'k', 'q', 'h', 'b', 'one'];

const offsets: readonly Entry[] = [
  ['bounded', { ...CACHE }],
  ['bounded', { ...CACHE, batch: 2, heads: 3, headDim: 33 }],
  ['bounded', { ...CACHE, seqQ: 4, causalOffset: 73 }],
  ['bounded', { ...LONG, causal: true, causalOffset: 1297 }],
  ['bounded', { ...LONG, causal: true, causalOffset: 600 }],
  // Query 0 sees nothing, and 0 is what it gives; then all of them.
  ['bounded', { seqQ: 9, seqKv: 5, headDim: 8, causal: true, causalOffset: -1 }],
  ['bounded', { ...TILES, heads: 2, causal: true, causalOffset: -70 }],
  ['bounded', { seqQ: 6, seqKv: 5, headDim: 8, causal: true, causalOffset: -6 }],
  ['bounded', { seqQ: 6, seqKv: 5, headDim: 8, causal: true, causalOffset: -(2 ** 40) }],
  ['bounded', { seqQ: 6, seqKv: 5, headDim: 8, causal: true, causalOffset: 2 ** 40 }],
  // Without causal an offset matters to windows only.
  ['bounded', { seqQ: 6, seqKv: 5, headDim: 8, causalOffset: 3 }],
  ['hidden', { ...CACHE, seqKv: 100, heads: 2 }],
  ['hidden', { seqQ: 20, seqKv: 90, headDim: 16, causal: true, causalOffset: 31 }],
  ['infinite', { ...SQUARE, causal: true, causalOffset: 5 }],
  ['bad-key', { ...SQUARE, causal: true, causalOffset: -3 }],
  ['specials', { ...SQUARE, causal: true, causalOffset: 7 }],
];

const windows: readonly Entry[] = [
  ...[1, 2, 17, 63, 64, 65, 150, 1000].flatMap((window): Entry[] => [
    ['bounded', { ...TILES, window, causal: true }],
    ['bounded', { ...TILES, window }],
  ]),
  ['bounded', { ...TILES, window: 40, causal: true, causalOffset: 50 }],
  ['bounded', { ...TILES, heads: 2, window: 5, causalOffset: 100 }],
  // After the last key there is nothing to see.
  ['bounded', { seqQ: 300, seqKv: 40, headDim: 8, window: 2, causal: true }],
  ['bounded', { ...CACHE, window: 20 }],
  ['bounded', { ...LONG, window: 300, causal: true, causalOffset: 1200 }],
  ['hidden', { seqQ: 6, seqKv: 200, headDim: 16, window: 30, causal: true, causalOffset: 120 }],
  ['hidden', { ...LONG, window: 300, causal: true, causalOffset: 900 }],
  ['hidden', { ...CACHE, window: 3, mask: 'k' }],
  ['infinite', { ...SQUARE, window: 9, causal: true }],
  ['infinite', { ...SQUARE, headDim: 64, window: 33 }],
  ['bad-key', { ...SQUARE, window: 9, causal: true }],
  ['specials', { ...SQUARE, window: 9 }],
  ['rows', { ...SQUARE, window: 9, causal: true, range: 3 }],
  ['overflow', { seqQ: 70, seqKv: 70, headDim: 33, scale: 2 ** -10, causal: true, window: 20 }],
];

const masks: readonly Entry[] = [
  ...MASK_AXES.map((mask): Entry => ['bounded', { batch: 2, heads: 3, seqQ: 7, seqKv: 9, headDim: 8, mask }]),
  ['bounded', { ...TILES, heads: 2, mask: 'qk' }],
  ['bounded', { ...TILES, mask: 'k', causal: true }],
  ['bounded', { ...SQUARE, headDim: 64, mask: 'hqk', offset: 4 }],
  ['bounded', { ...SQUARE, mask: 'bhqk', together: true }],
  ['bounded', { ...SQUARE, headDim: 160, mask: 'qk' }],
  ['bounded', { ...LONG, mask: 'hqk' }],
  ['bounded', { ...CACHE, mask: 'k', heads: 4 }],
  ['rows', { ...SQUARE, mask: 'qk', range: 3 }],
  ['unseen', { seqQ: 7, seqKv: 9, headDim: 8, mask: 'qk' }],
  ['unseen', { heads: 2, seqQ: 70, seqKv: 130, headDim: 64, mask: 'hqk' }],
  ['unseen', { seqQ: 5, seqKv: 600, headDim: 16, mask: 'q' }],
  ['unseen', { seqQ: 1, seqKv: 900, headDim: 64, mask: 'one' }],
  ['unseen', { seqQ: 40, seqKv: 40, headDim: 33, mask: 'qk', causal: true }],
  ['masked-nan', { seqQ: 5, seqKv: 70, headDim: 8, mask: 'k', heads: 2 }],
  ['masked-nan', { seqQ: 1, seqKv: 300, headDim: 64, mask: 'one' }],
  ['masked-nan', { seqQ: 40, seqKv: 40, headDim: 16, mask: 'qk', causal: true }],
];

/** Masks that are not float32; of operands in float32 their own type is said. */
const MASK_TYPES: readonly Partial<AttentionParams>[] = [
  { maskDtype: 'u8' },
  { maskDtype: 'u8', dtype: 'f16' },
  { maskDtype: 'own' },
  { maskDtype: 'own', dtype: 'f16' },
];
const maskTypes: readonly Entry[] = MASK_TYPES.flatMap((type): Entry[] => [
  ...['bhqk', 'qk', 'bk', 'k', 'q'].map((mask): Entry => [
    'bounded',
    { batch: 2, heads: 3, seqQ: 7, seqKv: 9, headDim: 8, ...type, mask },
  ]),
  ['bounded', { ...TILES, heads: 2, ...type, mask: 'qk' }],
  ['bounded', { ...SQUARE, headDim: 64, ...type, mask: 'hqk', offset: 4, softcap: 3 }],
  ['bounded', { ...SQUARE, ...type, mask: 'bhqk', together: true, causal: true }],
  ['bounded', { ...LONG, ...type, mask: 'hqk' }],
  ['bounded', { ...CACHE, ...type, mask: 'k', heads: 4 }],
  ['bounded', { ...RAGGED, ...type, mask: 'bk', lengths: 'each', causal: true }],
  ['unseen', { heads: 2, seqQ: 70, seqKv: 130, headDim: 64, ...type, mask: 'hqk' }],
  ['unseen', { seqQ: 1, seqKv: 900, headDim: 64, ...type, mask: 'one' }],
  ['masked-nan', { seqQ: 5, seqKv: 70, headDim: 8, heads: 2, ...type, mask: 'k' }],
  ['repeat', { ...SQUARE, ...type, mask: 'qk' }],
]);

const softcaps: readonly Entry[] = [
  ['bounded', { ...SQUARE, softcap: 2, range: 4 }],
  ['bounded', { ...SQUARE, softcap: 50, range: 20, scale: 1 }],
  ['bounded', { seqQ: 20, seqKv: 30, headDim: 64, softcap: 0.5, causal: true }],
  ['bounded', { ...SQUARE, softcap: 1e30 }],
  ['bounded', { ...SQUARE, headDim: 160, softcap: 3, range: 4 }],
  ['bounded', { ...CACHE, softcap: 5, range: 8 }],
  ['bounded', { ...SQUARE, softcap: 3, range: 4, mask: 'qk', window: 20, causal: true, causalOffset: 2 }],
  ['rows', { ...SQUARE, softcap: 3, range: 4 }],
  // A softcap makes a score finite that is beyond float32.
  ['overflow', { ...SQUARE, softcap: 3, scale: 2 ** -10 }],
  ['bad-key', { ...SQUARE, softcap: 3 }],
  ['specials', { ...SQUARE, softcap: 3, causal: true }],
];

const groups: readonly Entry[] = [
  ['bounded', { batch: 2, heads: 8, kvHeads: 2, seqQ: 9, seqKv: 12, headDim: 8 }],
  ['bounded', { batch: 2, heads: 8, kvHeads: 1, seqQ: 9, seqKv: 12, headDim: 64, causal: true }],
  ['bounded', { heads: 6, kvHeads: 3, seqQ: 70, seqKv: 70, headDim: 32 }],
  ['bounded', { ...CACHE, heads: 8, kvHeads: 2, batch: 2 }],
  ['bounded', { ...CACHE, heads: 16, kvHeads: 2, headDim: 128 }],
  ['bounded', { ...CACHE, heads: 12, kvHeads: 1, seqQ: 2, causalOffset: 75, headDim: 40 }],
  ['bounded', { ...LONG, heads: 8, kvHeads: 2 }],
  ['bounded', { ...CACHE, heads: 8, kvHeads: 2, mask: 'hk', softcap: 5, window: 50 }],
  ['specials', { batch: 2, heads: 4, kvHeads: 2, seqQ: 9, seqKv: 12, headDim: 8 }],
];

const onlyOne: readonly Entry[] = (['only q', 'only k', 'only v', 'only o'] as const).flatMap((layout): Entry[] => [
  ['bounded', { batch: 2, heads: 3, seqQ: 17, seqKv: 9, headDim: 8, layout }],
  ['bounded', { batch: 2, heads: 4, kvHeads: 2, seqQ: 1, seqKv: 40, headDim: 32, layout }],
]);

const layouts: readonly Entry[] = (['interleaved', 'padded', 'joined'] as const).flatMap((layout): Entry[] => [
  ['bounded', { batch: 2, heads: 3, seqQ: 17, seqKv: 17, headDim: 8, layout }],
  ['bounded', { batch: 2, heads: 3, seqQ: 17, seqKv: 17, headDim: 5, layout, causal: true }],
  ['bounded', { batch: 2, heads: 4, kvHeads: 2, seqQ: 65, seqKv: 65, headDim: 64, layout, causal: true }],
  ['bounded', { batch: 2, heads: 2, seqQ: 33, seqKv: 33, headDim: 40, layout, offset: 4, together: true }],
  ['bounded', { heads: 2, seqQ: 20, seqKv: 20, headDim: 160, layout, mask: 'qk' }],
  ['bounded', { heads: 3, seqQ: 1, seqKv: 1, headDim: 64, layout }],
  ['infinite', { ...SQUARE, causal: true, layout }],
  ...(layout === 'joined'
    ? []
    : ([
        ['bounded', { ...CACHE, batch: 2, heads: 4, kvHeads: 2, layout }],
        ['bounded', { ...LONG, layout, window: 300 }],
        ['bounded', { batch: 2, heads: 2, seqQ: 9, seqKv: 30, headDim: 33, layout }],
      ] as const)),
]);

const HALF: Partial<AttentionParams> = { dtype: 'f16' };
const halves: readonly Entry[] = [
  ...SIZES.flatMap(([seqQ, seqKv, headDim]): Entry[] => [
    ['bounded', { ...HALF, seqQ, seqKv, headDim, heads: 2 }],
    ['bounded', { ...HALF, seqQ, seqKv, headDim, causal: true, offset: 2 }],
  ]),
  ['bounded', { ...HALF, seqQ: 70, seqKv: 130, headDim: 64, offset: 8, heads: 2 }],
  // Few queries of many keys: on a large GPU the keys are split, also for matrix units.
  ['bounded', { ...HALF, seqQ: 64, seqKv: 1100, headDim: 64 }],
  ['bounded', { ...HALF, seqQ: 70, seqKv: 1030, headDim: 64, causal: true, causalOffset: 960, offset: 2 }],
  ['bounded', { ...HALF, ...SQUARE, headDim: 33, together: true }],
  ['bounded', { ...HALF, ...SQUARE, headDim: 33, offset: 2, layout: 'padded' }],
  ['bounded', { ...HALF, ...SQUARE, headDim: 32, layout: 'interleaved', batch: 2 }],
  ['bounded', { ...HALF, ...SQUARE, headDim: 7, layout: 'joined', batch: 2, offset: 2 }],
  ['bounded', { ...HALF, ...CACHE, heads: 8, kvHeads: 2 }],
  ['bounded', { ...HALF, ...CACHE, heads: 3, headDim: 15, offset: 2 }],
  ['bounded', { ...HALF, ...LONG, window: 400, mask: 'qk', softcap: 10 }],
  ['bounded', { ...HALF, ...SQUARE, mask: 'hqk', offset: 4 }],
  ['bounded', { ...HALF, seqQ: 8, seqKv: 40, headDim: 16, range: 30 }],
  ['rows', { ...HALF, ...SQUARE, range: 3 }],
  ['unseen', { ...HALF, seqQ: 7, seqKv: 9, headDim: 9, mask: 'qk' }],
  ['hidden', { ...HALF, seqQ: 20, seqKv: 90, headDim: 16, causal: true, causalOffset: 31 }],
  ['infinite', { ...HALF, ...SQUARE, causal: true }],
  ['bad-key', { ...HALF, heads: 2, seqQ: 20, seqKv: 20, headDim: 8, causal: true }],
  ['specials', { ...HALF, ...SQUARE }],
  ['repeat', { ...HALF, ...SQUARE, causal: true }],
  ['rounding', { ...HALF, heads: 2, seqQ: 3, seqKv: 4, headDim: 64 }],
  ['rounding', { ...HALF, seqQ: 40, seqKv: 4, headDim: 37, offset: 2 }],
];

const PLACES: readonly Partial<AttentionParams>[] = [
  { lengths: 'each' },
  { lengths: 'one' },
  { starts: 'each' },
  { starts: 'one' },
  { lengths: 'each', starts: 'each' },
];
const places: readonly Entry[] = PLACES.flatMap((place, seed): Entry[] => [
  ...[RAGGED, { ...TILES, batch: 3 }, { ...SQUARE, batch: 2, headDim: 64 }, { ...LONG, batch: 2 }].flatMap(
    (shape): Entry[] => [
      ['bounded', { ...shape, ...place, causal: true, seed }],
      ['bounded', { ...shape, ...place, seed }],
      ['hidden', { ...shape, ...place, causal: true, seed }],
    ],
  ),
  ['bounded', { ...RAGGED, ...place, causal: true, window: 40, seed }],
  ['bounded', { ...TILES, batch: 3, ...place, causal: true, window: 70, seed }],
  ['bounded', { ...TILES, batch: 3, ...place, window: 70, mask: 'qk', seed }],
  ['bounded', { ...RAGGED, ...place, dtype: 'f16', causal: true, seed }],
  ['bounded', { ...SQUARE, batch: 2, ...place, dtype: 'f16', headDim: 64, causal: true, seed }],
  ['bounded', { ...RAGGED, ...place, layout: 'padded', headDim: 40, mask: 'k', softcap: 5, seed }],
  ['infinite', { ...SQUARE, batch: 2, ...place, causal: true, seed }],
  ['repeat', { ...RAGGED, ...place, causal: true, seed }],
  ...(place.starts === undefined
    ? ([
        ['bounded', { ...TILES, batch: 3, ...place, causal: true, causalOffset: 7, seed }],
        ['bounded', { ...TILES, batch: 3, ...place, causal: true, causalOffset: -20, window: 9, seed }],
        ['bounded', { ...TILES, batch: 3, ...place, window: 2 ** 33, causalOffset: 2 ** 33, seed }],
      ] as const)
    : []),
]);

const widths: readonly Entry[] = [
  [1, 1, 8, 3],
  [3, 33, 5, 64],
  [17, 31, 33, 16],
  [70, 130, 64, 128],
  [70, 130, 128, 32],
  [66, 70, 24, 200],
  [20, 40, 192, 128],
  [1, 900, 64, 20],
  [3, 1300, 16, 40],
].flatMap(([seqQ, seqKv, headDim, valueDim]): Entry[] => {
  const shape = { seqQ, seqKv, headDim, valueDim } as Partial<AttentionParams>;
  return [
    ['bounded', { ...shape, heads: 2 }],
    ['bounded', { ...shape, heads: 4, kvHeads: 2, batch: 2, causal: true, layout: 'padded', mask: 'k' }],
    ['bounded', { ...shape, heads: 2, batch: 2, lengths: 'each', layout: 'interleaved', causal: true }],
    ['bounded', { ...shape, ...HALF, heads: 3, offset: 2 }],
    ['hidden', { ...shape, heads: 2, causal: true, causalOffset: 2, window: 40 }],
  ];
});
const valueDims: readonly Entry[] = [
  ...widths,
  ['bounded', { ...SQUARE, batch: 2, heads: 4, kvHeads: 2, valueDim: 9, layout: 'joined' }],
  ...(['only v', 'only o'] as const).map((layout): Entry => [
    'bounded',
    { batch: 2, heads: 3, seqQ: 17, seqKv: 9, headDim: 8, valueDim: 12, layout },
  ]),
  ['one-key', { batch: 2, heads: 2, seqQ: 5, seqKv: 1, headDim: 64, valueDim: 24 }],
  ['infinite', { ...SQUARE, causal: true, valueDim: 33 }],
  ['specials', { heads: 2, seqQ: 12, seqKv: 12, headDim: 8, valueDim: 20, causal: true }],
  ['rounding', { ...HALF, heads: 2, seqQ: 3, seqKv: 4, headDim: 64, valueDim: 37 }],
  ['repeat', { ...SQUARE, valueDim: 50, causal: true }],
];

const sums: readonly Entry[] = [
  ...SIZES.map(([seqQ, seqKv, headDim]): Entry => ['bounded', { seqQ, seqKv, headDim, heads: 2, lse: true }]),
  ['bounded', { ...SQUARE, batch: 2, heads: 4, kvHeads: 2, layout: 'padded', causal: true, lse: true }],
  ['bounded', { ...SQUARE, batch: 2, layout: 'interleaved', together: true, offset: 4, lse: true }],
  ['bounded', { ...SQUARE, range: 4, softcap: 3, mask: 'hqk', lse: true }],
  ['bounded', { ...SQUARE, range: 20, scale: 1, lse: true }],
  ['bounded', { ...TILES, batch: 3, window: 70, mask: 'qk', maskDtype: 'u8', lse: true }],
  ['bounded', { ...TILES, heads: 2, causal: true, causalOffset: -70, lse: true }],
  ['bounded', { ...TILES, batch: 3, lengths: 'each', causal: true, lse: true }],
  ['bounded', { ...RAGGED, lengths: 'each', starts: 'each', causal: true, lse: true }],
  ['bounded', { ...LONG, valueDim: 24, lse: true }],
  ['bounded', { seqQ: 2, seqKv: 20_001, headDim: 8, lse: true }],
  ['bounded', { ...HALF, ...SQUARE, headDim: 64, causal: true, lse: true }],
  ['bounded', { ...HALF, ...SQUARE, headDim: 33, offset: 2, layout: 'padded', lse: true }],
  ['bounded', { ...CACHE, batch: 2, heads: 8, kvHeads: 2, lse: true }],
  ['unseen', { heads: 2, seqQ: 70, seqKv: 130, headDim: 64, mask: 'hqk', lse: true }],
  ['masked-nan', { seqQ: 40, seqKv: 40, headDim: 16, mask: 'qk', causal: true, lse: true }],
  ['hidden', { ...LONG, window: 300, causal: true, causalOffset: 900, lse: true }],
  ['bad-key', { heads: 2, seqQ: 20, seqKv: 20, headDim: 8, causal: true, lse: true }],
  ['infinite', { ...SQUARE, causal: true, lse: true }],
  ['overflow', { seqQ: 70, seqKv: 70, headDim: 33, scale: 2 ** -10, causal: true, lse: true }],
  ['repeat', { ...SQUARE, causal: true, lse: true }],
];

const caches: readonly Entry[] = (['f16', 'bf16'] as const).flatMap((dtypeKv): Entry[] => [
  ...SIZES.map(([seqQ, seqKv, headDim]): Entry => ['bounded', { seqQ, seqKv, headDim, heads: 2, dtypeKv }]),
  ['bounded', { ...SQUARE, batch: 2, heads: 4, kvHeads: 2, layout: 'padded', causal: true, dtypeKv }],
  ['bounded', { ...SQUARE, headDim: 33, layout: 'interleaved', together: true, offset: 4, dtypeKv }],
  ['bounded', { ...TILES, heads: 2, mask: 'qk', window: 50, dtypeKv, lse: true }],
  ['bounded', { ...RAGGED, lengths: 'each', causal: true, dtypeKv }],
  ['bounded', { ...TILES, batch: 3, lengths: 'each', starts: 'each', causal: true, dtypeKv, valueDim: 20 }],
  ['bounded', { ...CACHE, batch: 2, heads: 8, kvHeads: 2, softcap: 5, dtypeKv }],
  ['bounded', { ...LONG, dtypeKv }],
  ['bounded', { seqQ: 8, seqKv: 40, headDim: 16, range: 30, dtypeKv }],
  ['hidden', { ...CACHE, seqKv: 100, heads: 2, dtypeKv }],
  ['specials', { ...SQUARE, causal: true, dtypeKv }],
  ['infinite', { ...SQUARE, causal: true, dtypeKv }],
  ['bad-key', { heads: 2, seqQ: 20, seqKv: 20, headDim: 8, causal: true, dtypeKv }],
  ['repeat', { ...SQUARE, causal: true, dtypeKv }],
]);

/** Cases of the fields that a call may leave out, alone and together. */
export const FIELD_CASES: readonly Entry[] = [
  ...offsets,
  ...windows,
  ...masks,
  ...maskTypes,
  ...softcaps,
  ...groups,
  ...layouts,
  ...onlyOne,
  ...halves,
  ...valueDims,
  ...sums,
  ...caches,
  ...places,
  ['repeat', { ...SQUARE, kvHeads: 1, mask: 'hqk', softcap: 4, window: 30, causal: true, layout: 'interleaved' }],
  ['repeat', { ...CACHE, heads: 8, kvHeads: 2, mask: 'k' }],
];
