import {
  CONV2D_CHECKS,
  CONV2D_DEFAULTS,
  conv2dNeeds,
  type Conv2dParams,
  drawConv2d,
  shrinkConv2d,
} from '../checks/conv2d.ts';
import { defineSuite, type Suite } from '../harness/case.ts';

type Entry = readonly [string, Partial<Conv2dParams>];

const SHAPES: readonly Partial<Conv2dParams>[] = [
  { input: [1, 1, 1, 1], filter: [1, 1, 1] },
  { input: [1, 1, 5, 5], filter: [1, 3, 3] },
  { input: [2, 3, 7, 9], filter: [4, 3, 3], pad: [1, 1] },
  { input: [2, 3, 9, 7], filter: [5, 3, 2], pad: [1, 0] },
  { input: [1, 2, 8, 8], filter: [3, 2, 3], pad: [0, 2] },
  { input: [1, 3, 11, 13], filter: [2, 5, 5], pad: [2, 2], stride: [2, 2] },
  { input: [1, 2, 12, 9], filter: [3, 3, 3], stride: [3, 1] },
  { input: [1, 2, 9, 12], filter: [3, 3, 3], stride: [1, 3], pad: [1, 2] },
  { input: [1, 2, 13, 11], filter: [3, 3, 3], dilation: [2, 3] },
  { input: [2, 2, 13, 14], filter: [4, 3, 2], dilation: [3, 2], pad: [3, 1], stride: [2, 3] },
  { input: [2, 4, 6, 7], filter: [6, 3, 3], groups: 2, pad: [1, 1] },
  { input: [1, 6, 7, 6], filter: [6, 3, 3], groups: 6, pad: [1, 1] },
  { input: [1, 4, 7, 6], filter: [12, 3, 2], groups: 4, stride: [2, 1] },
  { input: [1, 9, 5, 4], filter: [3, 2, 2], groups: 3, dilation: [2, 1], pad: [1, 1] },
  { input: [2, 17, 5, 5], filter: [33, 1, 1] },
  { input: [1, 8, 9, 9], filter: [16, 1, 1], stride: [2, 2] },
  { input: [1, 3, 1, 40], filter: [2, 1, 7], pad: [0, 3] },
  { input: [1, 3, 40, 1], filter: [2, 7, 1], pad: [3, 0], stride: [2, 1] },
  { input: [1, 2, 4, 6], filter: [2, 4, 6] },
  { input: [3, 1, 2, 2], filter: [2, 3, 3], pad: [3, 3] },
];

/** Separate zeros on each side; the first is what others call `same`. */
const ASYMMETRIC: readonly Partial<Conv2dParams>[] = [
  { input: [1, 3, 8, 9], filter: [4, 2, 4], pad: [0, 1, 1, 2] },
  { input: [2, 3, 7, 9], filter: [4, 3, 3], pad: [2, 0, 0, 1] },
  { input: [1, 2, 9, 12], filter: [3, 3, 3], pad: [0, 3, 1, 0], stride: [2, 3] },
  { input: [1, 6, 7, 6], filter: [6, 3, 3], pad: [1, 0, 3, 2], groups: 6 },
  { input: [1, 8, 12, 13], filter: [16, 3, 3], pad: [0, 0, 2, 2], dilation: [2, 1] },
  { input: [1, 2, 1, 1], filter: [2, 3, 3], pad: [2, 0, 0, 2] },
];

/** Zeros on one side alone, whichever it is: of filters that look at one place, and at more, in one group and in several. */
const ONE_SIDED: readonly Partial<Conv2dParams>[] = [0, 1, 2, 3].flatMap((side) => {
  const pad = [0, 0, 0, 0].map((_, index) => (index === side ? 1 : 0));
  return [
    { input: [2, 4, 5, 6], filter: [6, 1, 1], pad },
    { input: [2, 4, 5, 6], filter: [6, 1, 1], pad, groups: 2 },
    { input: [2, 4, 5, 6], filter: [6, 3, 2], pad, groups: 2 },
    { input: [2, 4, 5, 6], filter: [4, 1, 1], pad, groups: 4 },
  ];
});

const EPILOGUES: readonly Partial<Conv2dParams>[] = [
  { epilogue: 'copy' },
  { epilogue: 'bias', view: 'axis 1' },
  { epilogue: 'bias', view: 'axis 3', stored: 'f16' },
  { epilogue: 'bias', view: 'dense', stored: 'bf16' },
  { epilogue: 'bias', view: 'permuted' },
  { epilogue: 'bias gelu', view: 'axis 1' },
  { epilogue: 'low bits' },
  { epilogue: 'three inputs', view: 'axis 1' },
  { epilogue: 'three inputs', view: 'padded', together: true },
  { epilogue: 'parameters' },
  { epilogue: 'parameters', seed: 1 },
  { epilogue: 'indices' },
  { epilogue: 'mask', view: 'repeated', stored: 'u8' },
];

/** Each way in which taps meet: phases with as many taps, with more and with none, in both orders of stride and dilation. */
const TRANSPOSED: readonly Partial<Conv2dParams>[] = (
  [
    { input: [1, 1, 1, 1], filter: [1, 1, 1] },
    { input: [2, 3, 5, 6], filter: [4, 3, 2] },
    { input: [2, 3, 5, 6], filter: [4, 3, 3], pad: [1, 1] },
    { input: [2, 3, 5, 6], filter: [4, 4, 4], stride: [2, 2], pad: [1, 1] },
    { input: [2, 3, 5, 4], filter: [5, 3, 3], stride: [2, 2], pad: [1, 1], outputPadding: [1, 1] },
    { input: [1, 4, 4, 5], filter: [3, 2, 2], stride: [2, 2] },
    { input: [1, 4, 4, 5], filter: [3, 2, 2], stride: [3, 3], outputPadding: [2, 1] },
    { input: [1, 5, 4, 5], filter: [3, 5, 4], stride: [3, 2], pad: [2, 1, 0, 3] },
    { input: [2, 5, 4, 5], filter: [7, 1, 1], stride: [2, 3], outputPadding: [1, 0] },
    { input: [2, 5, 4, 5], filter: [7, 1, 1] },
    { input: [1, 2, 5, 4], filter: [3, 3, 4], dilation: [2, 3], pad: [1, 0] },
    { input: [1, 2, 5, 4], filter: [3, 4, 3], stride: [2, 3], dilation: [3, 2], pad: [1, 2], outputPadding: [2, 0] },
    { input: [1, 2, 5, 4], filter: [3, 3, 4], stride: [4, 2], dilation: [2, 4], outputPadding: [3, 3] },
    { input: [1, 2, 5, 4], filter: [3, 5, 3], stride: [2, 3], dilation: [2, 3], pad: [0, 3, 1, 0] },
    { input: [2, 4, 5, 6], filter: [6, 3, 3], stride: [2, 1], pad: [1, 1], groups: 2 },
    { input: [1, 6, 5, 4], filter: [6, 4, 4], stride: [2, 2], pad: [1, 1], groups: 6 },
    { input: [1, 4, 5, 4], filter: [12, 3, 3], stride: [1, 2], groups: 4, outputPadding: [0, 1] },
    { input: [1, 9, 4, 4], filter: [3, 3, 2], stride: [2, 2], groups: 3 },
    // More left out than the filter reaches, of one side and of all.
    { input: [1, 2, 6, 7], filter: [3, 2, 2], stride: [2, 2], pad: [5, 0, 0, 6] },
    { input: [1, 2, 7, 6], filter: [3, 2, 3], pad: [3, 2] },
    { input: [1, 2, 6, 7], filter: [3, 1, 2], stride: [3, 3], pad: [4, 5, 3, 2], outputPadding: [2, 2] },
    { input: [1, 3, 1, 9], filter: [2, 1, 4], stride: [1, 2], pad: [0, 1] },
    { input: [3, 3, 9, 1], filter: [2, 4, 1], stride: [5, 1], outputPadding: [4, 0] },
  ] satisfies Partial<Conv2dParams>[]
).map((params: Partial<Conv2dParams>) => ({ ...params, transposed: true }));

const WINDOWS: readonly Partial<Conv2dParams>[] = [
  { stride: [2, 1] },
  { stride: [1, 2] },
  { dilation: [2, 1] },
  { dilation: [1, 2] },
];

/**
 * Calls with more filters than a matrix product by vectors is too small for, with rows that are vectors of eight and
 * others.
 */
const MANY_FILTERS: readonly Partial<Conv2dParams>[] = (
  [
    { input: [2, 16, 9, 7], filter: [33, 3, 3], pad: [1, 1] },
    { input: [2, 3, 9, 8], filter: [40, 3, 2], pad: [2, 0, 0, 1], stride: [1, 2], offset: 2 },
    { input: [1, 32, 8, 8], filter: [64, 1, 1] },
    { input: [2, 32, 6, 6], filter: [72, 1, 1] },
    { input: [2, 40, 7, 6], filter: [24, 1, 1], stride: [2, 2] },
    { input: [2, 48, 8, 8], filter: [40, 3, 3], pad: [1, 1], groups: 2 },
    { input: [1, 64, 10, 11], filter: [65, 3, 3], dilation: [2, 1] },
  ] satisfies Partial<Conv2dParams>[]
).map((params: Partial<Conv2dParams>) => ({ ...params, dtype: 'f16' }));

const list: Entry[] = [
  ...['exact', 'bounded'].flatMap((check) => MANY_FILTERS.map((params): Entry => [check, params])),
  ['specials', MANY_FILTERS[0] as Partial<Conv2dParams>],
  ...EPILOGUES.map((params): Entry => ['epilogue', { ...MANY_FILTERS[5], ...params }]),
  ...(['f32', 'f16'] as const).flatMap((dtype) => ONE_SIDED.map((params): Entry => ['exact', { ...params, dtype }])),
  ...ASYMMETRIC.map((params): Entry => ['exact', params]),
  ...ASYMMETRIC.slice(0, 5).map((params): Entry => ['bounded', params]),
  ...[...SHAPES, ...ASYMMETRIC].map((params): Entry => ['exact', { ...params, dtype: 'f16' }]),
  ...SHAPES.slice(2, 10).map((params): Entry => ['bounded', { ...params, dtype: 'f16' }]),
  ...SHAPES.slice(2, 5).map((params): Entry => ['exact-wide', { ...params, dtype: 'f16', offset: 2 }]),
  ['specials', { ...SHAPES[2], dtype: 'f16' }],
  ['repeat', { input: [1, 32, 12, 12], filter: [16, 3, 3], pad: [1, 1], dtype: 'f16' }],
  ...(['f32', 'f16'] as const).flatMap((dtype) => [
    ...EPILOGUES.map((params): Entry => ['epilogue', { ...SHAPES[2], ...params, dtype }]),
    [
      'epilogue',
      { input: [1, 16, 11, 13], filter: [36, 3, 3], pad: [1, 0, 2, 1], epilogue: 'bias', view: 'axis 1', dtype },
    ] as Entry,
    ['epilogue', { ...SHAPES[11], epilogue: 'indices', dtype }] as Entry,
    // Of several groups, of many filters and of one each.
    ...(['bias', 'indices'] as const).flatMap((epilogue): Entry[] => [
      [
        'epilogue',
        { input: [2, 6, 7, 9], filter: [24, 3, 3], pad: [1, 1], groups: 2, epilogue, view: 'axis 1', dtype },
      ],
      [
        'epilogue',
        { input: [2, 6, 17, 9], filter: [6, 3, 3], pad: [1, 1], groups: 6, epilogue, view: 'axis 1', dtype },
      ],
    ]),
    // The index of a line or column that is the only one, and of the other one.
    ['epilogue', { input: [2, 3, 1, 9], filter: [4, 1, 3], epilogue: 'indices', dtype }] as Entry,
    ['epilogue', { input: [2, 3, 9, 1], filter: [4, 3, 1], epilogue: 'indices', dtype }] as Entry,
    ['epilogue-bounded', { ...SHAPES[9], epilogue: 'bias gelu', view: 'axis 1', dtype }] as Entry,
    [
      'epilogue-bounded',
      { input: [1, 32, 12, 12], filter: [40, 3, 3], epilogue: 'three inputs', view: 'dense', dtype },
    ] as Entry,
  ]),
  ...SHAPES.map((params): Entry => ['exact', params]),
  ...SHAPES.slice(2, 14).map((params): Entry => ['bounded', params]),
  ...SHAPES.slice(2, 8).map((params): Entry => ['exact-wide', params]),
  ['exact', { input: [1, 64, 8, 8], filter: [65, 3, 3], pad: [1, 1] }],
  // Zeros on one side alone, where a kernel for large ones that expects none would read on.
  ...[
    [0, 1],
    [0, 0, 1, 0],
    [0, 0, 0, 1],
  ].map((pad): Entry => ['exact', { input: [1, 64, 8, 8], filter: [65, 3, 3], pad }]),
  // One field of the window that is not 1, and no zeros at all, for the same kernels.
  ...WINDOWS.map((window): Entry => ['exact', { input: [1, 64, 10, 11], filter: [65, 3, 3], ...window }]),
  ['exact', { input: [1, 3, 33, 35], filter: [8, 7, 7], stride: [2, 2], pad: [3, 3] }],
  ['exact', { input: [66_000, 1, 1, 2], filter: [1, 1, 2] }],
  ['exact', { input: [1, 3, 2, 2], filter: [1030, 1, 1] }],
  // One place an image, and one more than a block of them.
  ...[33, 65, 129].map((n): Entry => ['exact', { input: [n, 2, 3, 3], filter: [3, 3, 3] }]),
  ['exact', { input: [1, 1, 150, 151], filter: [2, 3, 3], pad: [1, 1] }],
  ['exact', { input: [1, 9000, 3, 3], filter: [2, 3, 3], pad: [1, 1] }],
  ['exact', { ...SHAPES[2], offset: 4 }],
  ['exact', { ...SHAPES[10], offset: 12, together: true }],
  ['exact-wide', { ...SHAPES[11] }],
  ['exact-wide', { ...SHAPES[14] }],
  ['bounded', { input: [1, 128, 6, 6], filter: [32, 3, 3], pad: [1, 1] }],
  ['specials', SHAPES[2] as Partial<Conv2dParams>],
  ['specials', SHAPES[9] as Partial<Conv2dParams>],
  ['specials', SHAPES[14] as Partial<Conv2dParams>],
  ['repeat', { input: [1, 32, 12, 12], filter: [16, 3, 3], pad: [1, 1] }],
  ...(['f32', 'f16'] as const).flatMap((dtype) => [
    ...TRANSPOSED.map((params): Entry => ['exact', { ...params, dtype }]),
    ...TRANSPOSED.slice(1, 18).map((params): Entry => ['bounded', { ...params, dtype }]),
    ...[2, 4, 11, 14].flatMap((index): Entry[] => [
      ['exact-wide', { ...TRANSPOSED[index], dtype }],
      ['specials', { ...TRANSPOSED[index], dtype }],
      ['epilogue', { ...TRANSPOSED[index], epilogue: 'bias', view: 'axis 1', dtype }],
      ['epilogue', { ...TRANSPOSED[index], epilogue: 'indices', dtype }],
      ['epilogue-bounded', { ...TRANSPOSED[index], epilogue: 'three inputs', view: 'dense', dtype }],
    ]),
    ['exact', { ...TRANSPOSED[3], input: [1, 64, 9, 10], filter: [65, 4, 4], dtype }] as Entry,
    ['exact', { ...TRANSPOSED[4], input: [1, 64, 9, 10], filter: [65, 3, 3], dtype }] as Entry,
    ['repeat', { ...TRANSPOSED[3], input: [1, 32, 12, 12], filter: [16, 4, 4], dtype }] as Entry,
  ]),
  ...(['f16', 'bf16'] as const).flatMap((dtypeFilter) => [
    ...SHAPES.map((params): Entry => ['exact', { ...params, dtypeFilter }]),
    ...SHAPES.slice(2, 8).map((params): Entry => ['bounded', { ...params, dtypeFilter }]),
    ...TRANSPOSED.slice(1, 8).map((params): Entry => ['bounded', { ...params, dtypeFilter }]),
    ...[SHAPES[2], SHAPES[14], TRANSPOSED[4]].flatMap((params): Entry[] => [
      ['exact-wide', { ...params, dtypeFilter }],
      ['specials', { ...params, dtypeFilter }],
      ['epilogue', { ...params, epilogue: 'bias', view: 'axis 1', dtypeFilter }],
    ]),
    [
      'exact',
      { input: [1, 64, 8, 8], filter: [65, 3, 3], pad: [1, 1], dtypeFilter, offset: 4, together: true },
    ] as Entry,
    ['repeat', { input: [1, 32, 12, 12], filter: [16, 3, 3], pad: [1, 1], dtypeFilter }] as Entry,
  ]),
  ['exact', { ...TRANSPOSED[3], offset: 4 }],
  ['exact', { ...TRANSPOSED[14], offset: 12, together: true }],
  ['exact', { ...TRANSPOSED[11], dtype: 'f16', offset: 2, together: true }],
];

/** `conv2dForward`. */
export const conv2dSuite: Suite = defineSuite<Conv2dParams>({
  op: 'conv2dForward',
  defaults: CONV2D_DEFAULTS,
  checks: CONV2D_CHECKS,
  list,
  needs: conv2dNeeds,
  draw: drawConv2d,
  shrink: shrinkConv2d,
});
