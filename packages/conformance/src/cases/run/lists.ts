import { NODE_OPS, type NodeOp, STORAGE_DTYPES } from '@concord/backend-core/kernel';
import { borderCount, FLOAT_SPECIALS, INTEGER_SPECIALS } from '../../run/data.ts';
import { GATHER_KERNELS, SCAN_KERNELS, SCATTER_KERNELS } from '../../run/access-kernels.ts';
import { FOLD_CASES, inputTypeOf, NODE_CASES } from '../../run/node-kernels.ts';
import type { RunParams } from '../../run/plan.ts';

/** Name of a check, and the parameters that differ from the defaults. */
export type RunEntry = readonly [check: string, params: Partial<RunParams>];

const countOf = (type: string): number =>
  type === 'f32' ? FLOAT_SPECIALS.length : INTEGER_SPECIALS[type === 'u32' ? 'u32' : 'i32'].length;

/** Each operation of each type on all pairs of special values, then where its function bends, then anywhere. */
const nodes: readonly RunEntry[] = NODE_CASES.flatMap(([kernel, type]): RunEntry[] => {
  const count = countOf(inputTypeOf(type));
  const isFunction = type === 'f32' && NODE_OPS[kernel].operands === 1;
  return [
    ['node', { kernel, type, shape: [isFunction ? 16 : count, count], data: 'specials' }],
    ['node', { kernel, type, shape: [509], data: 'any' }],
    ...(isFunction ? [['node', { kernel, type, shape: [2048], data: 'functions' }] as const] : []),
  ];
});

const WITH_CONSTANTS = (Object.keys(NODE_OPS) as NodeOp[]).filter((op) => {
  const { operands, types } = NODE_OPS[op];
  return operands === 2 && types.includes('f32');
});

const PLACES = ['constant', 'constant-first'];
const SPECIALS = { shape: [FLOAT_SPECIALS.length], data: 'specials' };

/** Constants that a compiler may wrongly fold: x + NaN, x * 0, x < infinity, x / -1. */
const constants: readonly RunEntry[] = [
  ...WITH_CONSTANTS.flatMap((kernel): RunEntry[] =>
    [0, 1].flatMap((seed) => PLACES.map((place) => [place, { ...SPECIALS, kernel, type: 'f32', seed }])),
  ),
  ...(['add', 'mul', 'div', 'rem', 'shl', 'shr', 'lt', 'and'] as const).flatMap((kernel): RunEntry[] =>
    (['i32', 'u32'] as const).flatMap((type) =>
      [0, 3].flatMap((seed) =>
        PLACES.map((place): RunEntry => [place, { kernel, type, shape: [countOf(type)], data: 'specials', seed }]),
      ),
    ),
  ),
];

/** Lengths of folds: nothing, one, less than a vector, a tile, and what no tile divides. */
const folds: readonly RunEntry[] = FOLD_CASES.flatMap(([kernel, type]): RunEntry[] => {
  const entry = (rows: number, length: number, data: string, more: Partial<RunParams> = {}): RunEntry => [
    'fold',
    { kernel, type, shape: [rows, length], folded: 1, data, ...more },
  ];
  const exact = kernel === 'product' ? 'factors' : 'small';
  const isLeast = kernel === 'min' || kernel === 'argmin' || kernel === 'all';
  const spike = isLeast ? 'low-spike' : 'spike';
  return [
    ...[0, 1, 7, 1024].map((length) => entry(5, length, exact)),
    entry(7, 7, spike),
    entry(14, 1024, spike),
    ...(type === 'f32' ? [entry(1, 50_257, exact)] : []),
    entry(3, 50_257, spike),
    entry(300, 33, exact, { views: 'transposed' }),
    entry(300, 33, spike, { views: 'permuted', offset: 1 }),
    entry(40, 33, 'rare-specials'),
    // Rows that lie across, with and without gaps between what vectors would read.
    ...(kernel === 'sum' || kernel === 'max' ? [1, 2, 3, 4] : []).map((seed) =>
      entry(36, 33, exact, { views: 'permuted', seed }),
    ),
    // Rows with half of the special values, and with each of them twice.
    ...(/max|min/.test(kernel) ? [entry(150, 37, 'specials'), entry(20, 150, 'specials')] : []),
    // More rows than one dimension of workgroups has; for one fold of each kind.
    ...(kernel === 'sum' || (kernel === 'argmax' && type === 'f32') ? [entry(70_001, 3, exact)] : []),
    ['fold', { kernel, type, shape: [6, 5, 4, 7], folded: 3, data: exact }],
    ['fold', { kernel, type, shape: [3, 2, 5, 7], folded: 2, data: spike, views: 'permuted' }],
    ...(kernel.startsWith('arg') ? [entry(5, 129, 'equal'), entry(3, 5000, 'equal')] : []),
    // Of several NaN, zeros and equals the first by its place, whichever is met first in memory.
    ...(/max|min/.test(kernel) ? (['transposed', 'permuted', 'padded'] as const) : []).flatMap((views): RunEntry[] => [
      ['fold', { kernel, type, shape: [9, 5, 7], folded: 2, data: 'specials', views }],
      ['fold', { kernel, type, shape: [2, 3, 40, 50], folded: 3, data: 'specials', views }],
      ['fold', { kernel, type, shape: [4, 30, 20], folded: 2, data: 'equal', views }],
    ]),
    // The roundings of a running float32 sum would all go the same way.
    ...(type === 'f32' && (kernel === 'sum' || kernel === 'mean') ? [entry(1, 50_257, 'same-float')] : []),
    ...(kernel === 'mean' ? [entry(3, 300, 'huge'), entry(300, 8, 'huge', { views: 'transposed' })] : []),
  ];
});

const NARROW = Object.values(STORAGE_DTYPES).flatMap((dtypes) => dtypes.slice(1));

/** Element types in memory, in and out, where a neighbour may share the word. */
const dtypes: readonly RunEntry[] = NARROW.flatMap((dtype): RunEntry[] => {
  const kernel = dtype === 'i8' ? 'copy i32' : dtype === 'u8' ? 'copy u32' : 'copy';
  const arithmetic = dtype === 'i8' ? 'sub i32' : dtype === 'u8' ? 'mul u32' : 'sum and difference';
  const [words, word] = [
    { kernel, dtype },
    { kernel: arithmetic, dtype },
  ];
  return [
    ...[1, 2, 3, 5, 64, 257].flatMap((n): RunEntry[] =>
      [0, 1, 3].map((offset) => ['kernel', { ...words, shape: [n], data: 'bits', offset }]),
    ),
    ...(['padded', 'transposed', 'permuted', 'repeated', 'scalar'] as const).flatMap((views): RunEntry[] => [
      ['kernel', { ...word, shape: [5, 7, 3], data: 'any', views, offset: 1 }],
      ['kernel', { ...word, shape: [33, 65], data: 'small', views }],
    ]),
    ...(['packed', 'together', 'in-place', 'same-input', 'interleaved', 'woven'] as const).map((place): RunEntry => [
      'kernel',
      { ...word, shape: [61, 5], data: 'any', place, offset: 1 },
    ]),
    ...(dtype === 'f16' || dtype === 'bf16'
      ? [
          ['kernel', { kernel: 'cast', dtype, shape: [65_536], data: 'bits' }] as const,
          ['kernel', { kernel: 'cast', dtype, shape: [4096], data: 'any', offset: 1 }] as const,
          // What is stored by branches, of values whose making compilers follow far back.
          ['kernel', { kernel: 'functions of parameters', dtype, shape: [6, 64], data: 'moderate' }] as const,
          ['kernel', { kernel: 'functions of parameters', dtype, shape: [7, 9], data: 'moderate' }] as const,
          ['kernel', { kernel: 'softmax', dtype, shape: [9, 77], folded: 1, data: 'moderate', offset: 1 }] as const,
          [
            'kernel',
            { kernel: 'softmax', dtype, shape: [9, 77], folded: 1, data: 'moderate', place: 'in-place' },
          ] as const,
        ]
      : [['kernel', { kernel: arithmetic, dtype, shape: [4096], data: 'bits', offset: 3 }] as const]),
  ];
});

/** Stores of wide numbers where a narrow dtype rounds, saturates, or has no more numbers; then loads of every kind of bits. */
const borders: readonly RunEntry[] = NARROW.flatMap((dtype): RunEntry[] => {
  const type = dtype === 'i8' ? 'i32' : dtype === 'u8' ? 'u32' : 'f32';
  const kernels = { f32: ['copy', 'sum and difference'], i32: ['copy i32', 'sub i32'], u32: ['copy u32', 'mul u32'] };
  const count = borderCount(type);
  return kernels[type].flatMap((kernel): RunEntry[] => [
    // Whole words, and an odd count from an odd element on: each value in every place of a word.
    ['narrowed', { kernel, dtype, shape: [4 * count], data: 'borders' }],
    ['narrowed', { kernel, dtype, shape: [4 * count + 1], data: 'borders', offset: 1 }],
    ['narrowed', { kernel, dtype, shape: [3, count], data: 'borders', views: 'transposed', offset: 3 }],
    ['kernel', { kernel, dtype, shape: [2 * count + 1], data: 'borders', offset: 1 }],
  ]);
});

/** Views of every kind, at every rank. */
const layouts: readonly RunEntry[] = [
  ...['dense', 'padded', 'transposed', 'permuted', 'repeated', 'scalar'].flatMap((views): RunEntry[] => [
    ['kernel', { kernel: 'sum and difference', shape: [33, 65], views }],
    ['kernel', { kernel: 'sum and difference', shape: [4, 1, 5, 1, 3], views, offset: 1 }],
    ['kernel', { kernel: 'both operands of seven', shape: [3, 4, 5, 6], data: 'any', views }],
    ['kernel', { kernel: 'both operands of seven', shape: [3, 4, 5, 6], data: 'any', views, place: 'packed' }],
    ['kernel', { kernel: 'eight operands with three in place', shape: [3, 4, 5, 6], data: 'any', views }],
    ['kernel', { kernel: 'rows in place', shape: [5, 3, 40], folded: 1, data: 'moderate', views }],
    ['kernel', { kernel: 'softmax', shape: [5, 3, 40], folded: 1, data: 'moderate', views }],
    ['kernel', { kernel: 'three folds in a chain', shape: [7, 4, 9], folded: 2, data: 'any', views }],
    ['kernel', { kernel: 'layerNorm', shape: [6, 96], folded: 1, data: 'moderate', views }],
    ['kernel', { kernel: 'copy', shape: [2, 1, 3, 1, 2, 1, 4, 2], data: 'bits', views }],
  ]),
  ...Array.from({ length: 9 }, (_, rank): RunEntry => {
    const shape = [3, 2, 1, 4, 2, 3, 1, 2].slice(0, rank);
    return ['kernel', { kernel: 'sub i32', shape, data: 'any', views: 'mixed', offset: rank }];
  }),
  ...Array.from({ length: 8 }, (_, rest): RunEntry => {
    const shape = [2, 3, 2, 1, 4, 2, 3, 2].slice(0, rest + 1);
    return ['kernel', { kernel: 'sum and max of rows', shape, folded: 1 + (rest % (rest + 1)), views: 'mixed' }];
  }),
  ...[1, 2, 3, 4, 5, 63, 64, 65, 255, 256, 257, 1023, 1025].map((n): RunEntry => [
    'kernel',
    { kernel: 'mul u32', shape: [n], data: 'any' },
  ]),
];

const places: readonly RunEntry[] = [
  ...(['packed', 'together', 'in-place', 'same-input', 'interleaved', 'woven'] as const).flatMap(
    (place): RunEntry[] => [
      ['kernel', { kernel: 'sum and difference', shape: [257], place }],
      ['kernel', { kernel: 'sum and difference', shape: [9, 31], place, views: 'transposed', offset: 1 }],
      ['kernel', { kernel: 'swap by select', shape: [129], data: 'bits', place }],
      ['kernel', { kernel: 'softmax', shape: [17, 257], folded: 1, data: 'moderate', place }],
      ['kernel', { kernel: 'softmax', shape: [257, 17], folded: 1, data: 'moderate', place, views: 'transposed' }],
      ['kernel', { kernel: 'layerNorm', shape: [3, 1025], folded: 1, data: 'moderate', place }],
      ['kernel', { kernel: 'three folds in a chain', shape: [5, 200], folded: 1, data: 'any', place }],
      ['kernel', { kernel: 'eight operands with three in place', shape: [10_001], data: 'any', place }],
    ],
  ),
];

/** Inputs that outputs take the place of are not at one address. */
const namesakes = (['packed', 'together', 'interleaved', 'woven'] as const).map((place): RunEntry => [
  'kernel',
  { kernel: 'rows in place', shape: [3, 5003], folded: 1, data: 'moderate', place, offset: 1 },
]);

const levels: readonly RunEntry[] = [
  ...['dense', 'permuted'].flatMap((views): RunEntry[] => [
    ['kernel', { kernel: 'row from call', shape: [5, 6, 7], folded: 1, views }],
    ['kernel', { kernel: 'row from call', shape: [5, 6, 7], folded: 2, views }],
    ['kernel', { kernel: 'row from call', shape: [5, 6, 7], folded: 3, views }],
    ['kernel', { kernel: 'fold of a row and of the call', shape: [5, 6, 7], folded: 1, data: 'any', views }],
    ['kernel', { kernel: 'extents', shape: [5, 6, 7], data: 'any', views }],
    ['kernel', { kernel: 'max of what exceeds the mean of integers', shape: [19, 37], folded: 1, views }],
  ]),
  ['kernel', { kernel: 'fold of a row and of the call', shape: [4, 3000], folded: 1, data: 'small' }],
  ['kernel', { kernel: 'spread of the call', shape: [300] }],
  ['kernel', { kernel: 'spread of the call' }],
  ['kernel', { kernel: 'clamp', shape: [FLOAT_SPECIALS.length, FLOAT_SPECIALS.length], data: 'specials' }],
  ['kernel', { kernel: 'random floats', shape: [7, 601] }],
  ...['softmax', 'log softmax', 'variance', 'layerNorm', 'rmsNorm'].flatMap((kernel): RunEntry[] => [
    // A row of several lines, each of which is more than a vector.
    ...(['padded', 'permuted'] as const).map((views): RunEntry => [
      'kernel',
      { kernel, shape: [3, 5, 37], folded: 2, data: 'moderate', views },
    ]),
    ...[1, 7, 128, 1023, 1024, 5000].map((length): RunEntry => [
      'kernel',
      { kernel, shape: [5, length], folded: 1, data: 'moderate' },
    ]),
    ['kernel', { kernel, shape: [1, 50_257], folded: 1, data: 'moderate' }],
    ['kernel', { kernel, shape: [40, 33], folded: 1, data: 'moderate', views: 'transposed' }],
    ['kernel', { kernel, shape: [21, 65], folded: 1, data: 'rare-specials' }],
    ['kernel', { kernel, shape: [4, 6, 50], folded: 2, data: 'moderate' }],
    ['repeat', { kernel, shape: [3, 3001], folded: 1, data: 'moderate' }],
  ]),
  ...[7, 1024, 50_257].flatMap((length): RunEntry[] => [
    ['kernel', { kernel: 'three folds in a chain', shape: [2, length], folded: 1, data: 'any' }],
    ['kernel', { kernel: 'max of what exceeds the mean of integers', shape: [2, length], folded: 1 }],
    ['kernel', { kernel: 'first of each', shape: [2, length], folded: 1, data: 'small' }],
  ]),
];

const FOLDING_SCATTERS: readonly string[] = ['rows are counted', 'at the greatest', 'normed and turned'];

/** Tensors written by index, small ones, so that points meet and miss: in each dtype, in maps, rows, columns and parts of rows. */
const scatters: readonly RunEntry[] = [
  ...Object.keys(SCATTER_KERNELS).flatMap((kernel): RunEntry[] => {
    const folded = FOLDING_SCATTERS.includes(kernel) ? 1 : 0;
    const entry = (shape: readonly number[], more: Partial<RunParams> = {}): RunEntry => [
      'scatter',
      { kernel, shape, folded, data: 'indices', ...more },
    ];
    return [
      entry([13, 7]),
      entry([30, 36], { views: 'permuted', offset: 1 }),
      entry([4, 1028], { place: 'packed' }),
      ...(folded === 1 ? [entry([300, 12], { views: 'transposed' }), entry([2, 70_001])] : [entry([5, 4099])]),
    ];
  }),
  ...(['set', 'add', 'max', 'min'] as const).flatMap((mode): RunEntry[] => [
    ['scatter', { kernel: `scatter ${mode} f32`, shape: [61], data: 'indices', dtype: 'f16', offset: 1 }],
    ['scatter', { kernel: `scatter ${mode} f32`, shape: [40], data: 'indices', dtype: 'bf16', views: 'padded' }],
    ['scatter', { kernel: `scatter ${mode} i32`, shape: [64], data: 'indices', dtype: 'i8', offset: 3 }],
    ['scatter', { kernel: `scatter ${mode} u32`, shape: [33], data: 'indices', dtype: 'u8', place: 'packed' }],
    ...(mode === 'add'
      ? []
      : [['scatter', { kernel: `scatter ${mode} f32`, shape: [16, 16], data: 'specials' }] as const]),
  ]),
  // Neighbours of 16 bits, which may fill a word.
  ...(['f16', 'bf16'] as const).flatMap((dtype): RunEntry[] => [
    ['scatter', { kernel: 'append rows', shape: [5, 12], data: 'indices', dtype }],
    ['scatter', { kernel: 'append rows', shape: [7, 36], data: 'indices', dtype, views: 'padded', offset: 1 }],
    ['scatter', { kernel: 'append rows', shape: [3, 4100], data: 'indices', dtype, place: 'packed' }],
  ]),
  ['scatter', { kernel: 'scatter set f32', shape: [0], data: 'indices' }],
  ['scatter', { kernel: 'rows are counted', shape: [5, 0], folded: 1, data: 'indices' }],
];

/** Rows of nothing, of one, of less than a vector, a tile, and what no tile divides; columns; rows of several lines. */
const scans: readonly RunEntry[] = Object.keys(SCAN_KERNELS).flatMap((kernel): RunEntry[] => {
  const isProduct = kernel.startsWith('scan product');
  const data = isProduct ? 'factors' : kernel.startsWith('what') ? 'indices' : 'small';
  const entry = (shape: readonly number[], more: Partial<RunParams> = {}): RunEntry => [
    'scan',
    { kernel, shape, folded: 1, data, ...more },
  ];
  const isPlain = kernel.startsWith('scan');
  const dtype = kernel.includes('f32') ? 'f16' : kernel.includes('i32') ? 'i8' : 'u8';
  // Of products of many float32 nothing is known.
  const isShort = kernel.startsWith('scan product f32');
  return [
    ...(isShort ? [0, 1, 7, 60] : [0, 1, 7, 1024]).map((length) => entry([3, length])),
    entry([300, 12], { views: 'transposed', offset: 1 }),
    entry([2, 5, 7], { folded: 2, views: 'permuted' }),
    ...(isShort ? [] : [entry([1, 50_257]), entry([9, 516], { views: 'transposed' })]),
    ...(isPlain
      ? [
          entry([9, isShort ? 33 : 129], { dtype, views: 'padded', offset: 3 }),
          entry([6, isShort ? 12 : 260], { data: isProduct ? data : 'rare-specials' }),
          entry([3, isShort ? 41 : 1025], {
            place: 'packed',
            data: isProduct || kernel.includes('sum f32') ? data : 'any',
          }),
          ...(isShort ? [] : [entry([9, 3], { data: 'specials' })]),
        ]
      : []),
    ...(kernel.startsWith('scan sum f32')
      ? [
          entry([2, 200_001], { data: 'same-float' }),
          entry([1, 50_257], { data: 'same-float' }),
          entry([5000, 36], { views: 'transposed', data: 'same-float' }),
          entry([20_000, 3]),
        ]
      : []),
  ];
});

const gathers: readonly RunEntry[] = [
  ...Object.keys(GATHER_KERNELS).flatMap((kernel): RunEntry[] => {
    const isRows = kernel === 'rows of a table' || kernel === 'at the greatest' || kernel.startsWith('sum of');
    const folded = isRows ? 1 : 0;
    return ['dense', 'permuted', 'scalar'].flatMap((views): RunEntry[] => [
      ['gather', { kernel, shape: [13, 7], folded, data: 'indices', views }],
      ['gather', { kernel, shape: [300, 6], folded, data: 'indices', views, dtype: views === 'dense' ? 'f16' : 'own' }],
    ]);
  }),
  [
    'gather',
    { kernel: 'gather 2 by i32', shape: [INTEGER_SPECIALS.i32.length, INTEGER_SPECIALS.i32.length], data: 'specials' },
  ],
  [
    'gather',
    { kernel: 'gather 3 by u32', shape: [INTEGER_SPECIALS.u32.length, INTEGER_SPECIALS.u32.length], data: 'specials' },
  ],
  ['gather', { kernel: 'gather 1 by i32', shape: [1025], data: 'indices', dtype: 'i8', offset: 1 }],
  ['gather', { kernel: 'gather 3 by u32', shape: [40, 9], data: 'indices', dtype: 'u8', offset: 3 }],
  ['gather', { kernel: 'gather 1 by i32', shape: [257], data: 'indices', place: 'packed', dtype: 'bf16' }],
  ...(['dense', 'transposed'] as const).flatMap((views): RunEntry[] => [
    ['gather', { kernel: 'at the last index', shape: [8, 16], views }],
    ['gather', { kernel: 'weighted by the last index', shape: [96, 100], folded: 1, views }],
  ]),
  ['gather', { kernel: 'at the last index', shape: [8, 1] }],
  ['gather', { kernel: 'at the last index', shape: [3, 8, 4], views: 'permuted', dtype: 'f16' }],
  ['gather', { kernel: 'weighted by the last index', shape: [12, 8, 20], folded: 2, views: 'permuted' }],
];

const zeros: readonly RunEntry[] = [
  ...[[0], [0, 3], [3, 0], [2, 0, 4]].flatMap((shape): RunEntry[] => [
    ['kernel', { kernel: 'sum and difference', shape }],
    ['kernel', { kernel: 'sum and max of rows', shape, folded: 1 }],
    ['kernel', { kernel: 'softmax', shape, folded: 1 }],
  ]),
  ['kernel', { kernel: 'sum and max of rows', shape: [4, 0, 3], folded: 2, views: 'permuted' }],
  ['kernel', { kernel: 'row from call', shape: [4, 0], folded: 1 }],
  ['kernel', { kernel: 'variance', shape: [4, 0], folded: 1 }],
];

/** Entries of over 65,535 workgroups of 64; `unary/long` and `binary/long` have over 65,535 of 256. */
const long: readonly RunEntry[] = [
  ['long', { kernel: 'copy', shape: [65_537 * 64 + 1], data: 'bits', dtype: 'f16', offset: 1 }],
];

const maximal: readonly RunEntry[] = [
  ...[200, 256].map((seed): RunEntry => ['maximal', { kernel: 'map', shape: [3, 111], data: 'any', seed }]),
  ...[150, 250].map((seed): RunEntry => ['maximal', { kernel: 'rows', shape: [5, 129], folded: 1, data: 'any', seed }]),
];

/** The cases of `run` that are written by hand. */
export const HAND_WRITTEN: readonly RunEntry[] = [
  ...nodes,
  ...constants,
  ...folds,
  ...dtypes,
  ...borders,
  ...layouts,
  ...places,
  ...namesakes,
  ...levels,
  ...gathers,
  ...scatters,
  ...scans,
  ...zeros,
  ...long,
  ...maximal,
];
