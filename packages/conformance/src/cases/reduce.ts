import { REDUCE_OPS, type ReduceOp } from '@concord/backend-core';
import { reduceReference } from '@concord/backend-cpu/reference';
import { compareAll, reduceBound } from '../checks/compare.ts';
import { defineSuite, type Suite } from '../harness/case.ts';
import { checkPlanned, checkRepeat, type PlanCall } from '../harness/planned-call.ts';
import type { Random } from '../harness/random.ts';
import { plainer, replaced, smallerSizes } from '../harness/shrink.ts';
import { nameSlots } from '../harness/workspace.ts';
import { sizeOf } from '../run/placement.ts';

/** Parameters of reduce, with the value that each has where an id leaves it out. */
export const REDUCE_DEFAULTS = {
  fn: 'sum',
  shape: [1] as readonly number[],
  axis: 0,
  offset: 0,
  together: false,
  seed: 0,
};

/** Parameters of reduce. */
export type ReduceParams = Readonly<typeof REDUCE_DEFAULTS>;

function outputsOf({ shape, axis }: ReduceParams): number {
  return shape.reduce((product, size, index) => (index === axis ? product : product * size), 1);
}

type Draw = (random: Random, params: ReduceParams) => () => number;

/** A reduction of drawn numbers; the mean is divided, and so bounded even where sums are exact. */
const planValues =
  (draw: Draw, isExact: boolean): PlanCall<ReduceParams> =>
  (slots, { backend, random }, params) => {
    const { shape, axis, fn } = params;
    const op = fn as ReduceOp;
    const values = Float32Array.from({ length: sizeOf(shape) }, draw(random, params));
    const [input, output] = [slots.input(values), slots.output(outputsOf(params))];
    nameSlots({ input, output });
    return {
      op: 'reduce',
      shape: { op, shape, axis },
      call: () => backend.reduce({ op, shape, axis, input: input.ptr, output: output.ptr }),
      judge: () => {
        const { value, magnitude } = reduceReference({ op, shape, axis }, values);
        const isBounded = op === 'mean' || (op === 'sum' && !isExact);
        const bound = (i: number): number =>
          isBounded ? reduceBound(shape[axis] as number, op === 'mean', magnitude[i] as number) : 0;
        compareAll('output', output.values(), value, { bound });
      },
    };
  };

/** Small integers: sums are exact in any order. */
export const planReduce: PlanCall<ReduceParams> = planValues((random) => () => random.integer(-8, 8), true);

const drawWide: Draw = (random) => () => random.wideFloat(random.chance(0.05) ? 12 : 3);
/** All terms of one sign, where an error that grows with the length shows most. */
const drawPositive: Draw = (random) => () => 0.1 + random.unit();
/** One value throughout: the roundings of a running float32 sum all go the same way. */
const drawEqual: Draw = (random) => {
  const value = random.wideFloat();
  return () => value;
};
/** Near the end of the range, of one sign: the mean is finite, and only a sum may be infinite. */
const drawHuge: Draw = (random) => {
  const sign = random.pick([1, -1]);
  return () => sign * (2e38 + 1.3e38 * random.unit());
};
/** NaN wins everywhere; infinities as in arithmetic. */
const drawSpecials: Draw = (random, { shape, axis }) => {
  const chance = 1 / (2 * Math.max(1, shape[axis] as number));
  return () => (random.chance(chance) ? random.pick([Number.NaN, Infinity, -Infinity]) : random.integer(-4, 4));
};

type Entry = readonly [string, Partial<ReduceParams>];

const SHAPES: readonly Partial<ReduceParams>[] = [
  { shape: [1], axis: 0 },
  { shape: [63], axis: 0 },
  { shape: [65], axis: 0 },
  { shape: [257], axis: 0 },
  { shape: [1025], axis: 0 },
  { shape: [5, 7], axis: 0 },
  { shape: [5, 7], axis: 1 },
  { shape: [33, 129], axis: 0 },
  { shape: [33, 129], axis: 1 },
  { shape: [3, 4, 5], axis: 1 },
  { shape: [2, 3, 4, 5, 6], axis: 2 },
  { shape: [2, 1, 3], axis: 1 },
];

const list: Entry[] = [
  ...REDUCE_OPS.flatMap((fn) => SHAPES.map((params): Entry => ['exact', { fn, ...params }])),
  ...REDUCE_OPS.flatMap((fn): Entry[] => [
    ['bounded', { fn, shape: [17, 300], axis: 1 }],
    ['bounded', { fn, shape: [300, 17], axis: 0 }],
    ['positive', { fn, shape: [100_003], axis: 0 }],
    ['positive', { fn, shape: [2, 30_001, 3], axis: 1 }],
    ['equal', { fn, shape: [100_003], axis: 0 }],
    ['huge', { fn, shape: [4], axis: 0 }],
    ['huge', { fn, shape: [33, 300], axis: 1 }],
    ['huge', { fn, shape: [300, 33], axis: 0 }],
    ['huge', { fn, shape: [300, 8], axis: 0 }],
    ['huge', { fn, shape: [100_003], axis: 0 }],
    ['specials', { fn, shape: [40, 33], axis: 1 }],
    // Axes of one element: an infinity is often alone.
    ['specials', { fn, shape: [70, 1], axis: 1 }],
    ['specials', { fn, shape: [33, 40], axis: 0 }],
    ['exact', { fn, shape: [4, 0, 3], axis: 1 }],
    ['exact', { fn, shape: [0], axis: 0 }],
    ['exact', { fn, shape: [9, 11], axis: 1, offset: 4 }],
    ['exact', { fn, shape: [9, 11], axis: 0, offset: 4, together: true }],
    ['exact', { fn, shape: [70_001, 2], axis: 1 }],
    ['exact', { fn, shape: [2, 70_001], axis: 0 }],
    ['exact', { fn, shape: [70_001, 3, 2], axis: 1 }],
    ['repeat', { fn, shape: [7, 3001], axis: 1 }],
  ]),
];

function draw(random: Random): [string, ReduceParams] {
  const rank = random.integer(1, 4);
  const longest = [2000, 60, 14, 8][rank - 1] as number;
  const shape = Array.from({ length: rank }, () => (random.chance(0.02) ? 0 : random.integer(1, longest)));
  const params: ReduceParams = {
    fn: random.pick(REDUCE_OPS),
    shape,
    axis: random.integer(0, rank - 1),
    offset: random.pick([0, 4, 12]),
    together: random.chance(0.2),
    seed: random.uint32(),
  };
  return [random.pick(['exact', 'bounded', 'positive', 'equal', 'specials', 'repeat']), params];
}

function shrink(params: ReduceParams): Partial<ReduceParams>[] {
  const { shape } = params;
  return [
    ...shape.flatMap((size, at) => smallerSizes(size).map((less) => ({ shape: replaced(shape, at, less) }))),
    ...plainer(params, REDUCE_DEFAULTS, ['offset', 'together']),
  ];
}

/** `reduce`. */
export const reduceSuite: Suite = defineSuite<ReduceParams>({
  op: 'reduce',
  defaults: REDUCE_DEFAULTS,
  checks: {
    exact: checkPlanned(planReduce),
    bounded: checkPlanned(planValues(drawWide, false)),
    positive: checkPlanned(planValues(drawPositive, false)),
    equal: checkPlanned(planValues(drawEqual, false)),
    huge: checkPlanned(planValues(drawHuge, false)),
    specials: checkPlanned(planValues(drawSpecials, true)),
    repeat: checkRepeat(planValues((random) => () => random.wideFloat(), false)),
  },
  list,
  needs: ({ fn, shape, axis }) => ({ dtype: 'f32', shape: { op: fn, shape, axis } }),
  draw,
  shrink,
});
