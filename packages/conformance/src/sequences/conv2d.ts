import { CONV2D_DEFAULTS, type Conv2dParams, conv2dShape, planConv2d } from '../checks/conv2d.ts';
import type { ConformanceCase } from '../harness/case.ts';
import type { Random } from '../harness/random.ts';
import { offsetCases, pairCases, sequenceCase, type SequenceEntry, type SequenceSubject } from './check-calls.ts';

type Change = Partial<Conv2dParams>;

const CONV: SequenceSubject<Conv2dParams> = { op: 'conv2dForward', defaults: CONV2D_DEFAULTS, plan: planConv2d };

const PLAIN: Change = { input: [2, 4, 8, 12], filter: [8, 3, 3], pad: [1, 1] };
const CHANGES: readonly Change[] = [
  ...[1, 3].map((n): Change => ({ input: [n, 4, 8, 12] })),
  ...[1, 5, 8].map((c): Change => ({ input: [2, c, 8, 12] })),
  ...[7, 9, 12].map((h): Change => ({ input: [2, 4, h, 12] })),
  ...[8, 11, 13].map((w): Change => ({ input: [2, 4, 8, w] })),
  ...[1, 7, 9].map((k): Change => ({ filter: [k, 3, 3] })),
  ...[1, 2, 4].flatMap((size): Change[] => [{ filter: [8, size, 3] }, { filter: [8, 3, size] }]),
  ...[2, 3].flatMap((step): Change[] => [
    { stride: [step, 1] },
    { stride: [1, step] },
    { dilation: [step, 1] },
    { dilation: [1, step] },
  ]),
  ...[0, 2, 3].flatMap((zeros): Change[] =>
    [0, 1, 2, 3].map((side) => ({ pad: [1, 1, 1, 1].map((own, at) => (at === side ? zeros : own)) })),
  ),
  { groups: 2 },
  { groups: 4 },
  ...[{ dtypeFilter: 'f16' as const }, { dtypeFilter: 'bf16' as const }],
  { dtype: 'f16' },
];

/** Changes that keep the channels and the groups. */
const DEPTHWISE_CHANGES = CHANGES.filter(({ input = [2, 4], filter = [0, 2], groups, ...rest }) => {
  const isOther = input[1] !== 4 || groups !== undefined || ![0, 2, 8].includes(filter[0] as number);
  return !isOther && Object.keys(rest).length > 0;
});

/** A filter of one pixel is a product, unless one of these is not as there. */
const POINTWISE_CHANGES: readonly Change[] = [
  ...CHANGES.filter(({ filter, dilation, pad }) => filter === undefined && dilation === undefined && pad === undefined),
  ...[0, 1, 2, 3].map((side): Change => ({ pad: [0, 1, 2, 3].map((own) => (own === side ? 1 : 0)) })),
  { filter: [8, 1, 2] },
  { filter: [8, 2, 1] },
  { stride: [2, 2] },
];

/** Parameters of another value, and other kernels and dtypes. */
const WITH_EPILOGUE: Change = { input: [1, 3, 6, 9], filter: [5, 3, 3], epilogue: 'parameters' };
const EPILOGUE_CHANGES: readonly Change[] = [
  ...[1, 2, 3].map((seed): Change => ({ seed })),
  ...['', 'copy', 'indices', 'low bits'].map((epilogue): Change => ({ epilogue })),
  { dtype: 'f16' },
];

const STEPS = [1, 2, 3];
const ZEROS = [0, 1, 2, 3];

/** Every stride, dilation and padding of both sides up to 3, along one axis; the other is plain. */
function edges(random: Random, axis: 0 | 1, dtype: Conv2dParams['dtype']): SequenceEntry<Conv2dParams>[] {
  const along = <T>(value: T, plain: T): [T, T] => (axis === 0 ? [value, plain] : [plain, value]);
  return STEPS.flatMap((stride) =>
    STEPS.flatMap((dilation) =>
      ZEROS.flatMap((before) =>
        ZEROS.map((after) => {
          const size = Math.max(1, 2 * dilation + 1 - before - after) + random.integer(0, 5);
          const params: Change = {
            ...{ input: [1, 2, ...along(size, 4)], filter: [3, ...along(3, 1)], dtype },
            ...{ stride: along(stride, 1), dilation: along(dilation, 1) },
            pad: [...along(before, 0), ...along(after, 0)],
          };
          return { params };
        }),
      ),
    ),
  );
}

/** Every stride and dilation of both axes up to 3, with zeros drawn for each side. */
function corners(random: Random, dtype: Conv2dParams['dtype']): SequenceEntry<Conv2dParams>[] {
  const pairs = STEPS.flatMap((h) => STEPS.map((w): [number, number] => [h, w]));
  return pairs.flatMap((stride) =>
    pairs.map((dilation) => {
      const pad = Array.from({ length: 4 }, () => random.integer(0, 3));
      const filter = [random.integer(1, 5), random.integer(2, 3), random.integer(2, 3)] as const;
      const side = (axis: 0 | 1): number => {
        const reach = dilation[axis] * ((filter[axis + 1] as number) - 1) + 1;
        return Math.max(1, reach - (pad[axis] as number) - (pad[axis + 2] as number)) + random.integer(0, 5);
      };
      return { params: { input: [1, random.integer(1, 5), side(0), side(1)], filter, stride, dilation, pad, dtype } };
    }),
  );
}

const edgeCases = (['f32', 'f16'] as const).flatMap((dtype): ConformanceCase[] => [
  ...([0, 1] as const).map((axis) =>
    sequenceCase(
      CONV,
      `${dtype}: every edge along ${axis === 0 ? 'the height' : 'the width'}`,
      'pooled',
      ({ random }) => edges(random, axis, dtype),
    ),
  ),
  sequenceCase(CONV, `${dtype}: every corner`, 'pooled', ({ random }) =>
    corners(random, dtype).filter(({ params }) => isWhole(params)),
  ),
]);

function isWhole(params: Change): boolean {
  return conv2dShape({ ...CONV2D_DEFAULTS, ...params }).outputShape.every((size) => size > 0);
}

const offsets = [['f32', 4] as const, ['f16', 2] as const].map(([dtype, size]) =>
  offsetCases(CONV, {
    ...{ name: dtype, operands: 3, size },
    shapes: [
      { input: [1, 8, 4, 8], filter: [8, 1, 1], dtype },
      { input: [1, 3, 5, 6], filter: [4, 3, 3], pad: [1, 1], dtype },
    ],
  }),
);

/** Sequences of conv2dForward. */
export const conv2dSequences: readonly ConformanceCase[] = [
  ...pairCases(CONV, 'plain', PLAIN, CHANGES),
  ...pairCases(CONV, 'depthwise', { ...PLAIN, filter: [4, 3, 3], groups: 4 }, DEPTHWISE_CHANGES),
  ...pairCases(CONV, 'pointwise', { ...PLAIN, filter: [8, 1, 1], pad: [0, 0] }, POINTWISE_CHANGES),
  ...pairCases(CONV, 'grouped', { ...PLAIN, groups: 2 }, DEPTHWISE_CHANGES),
  ...pairCases(CONV, 'epilogue', WITH_EPILOGUE, EPILOGUE_CHANGES),
  ...edgeCases,
  ...offsets,
];
