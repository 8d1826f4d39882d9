import { REDUCE_OPS, type ReduceOp } from '@concord/backend-core';
import { reduceReference } from '@concord/backend-cpu/reference';
import { reduceBound } from '../checks/bounds.ts';
import { compareAll, compareBytes } from '../checks/compare.ts';
import type { CaseContext } from '../harness/case.ts';
import { checkPlanned, type PlanCall } from '../harness/planned-call.ts';
import type { Random } from '../harness/random.ts';
import { nameSlots } from '../harness/slot.ts';
import { defineSuite, type Suite } from '../harness/suite.ts';
import { Workspace } from '../harness/workspace.ts';
import { REDUCE_TEXTS } from '../texts/reduce.ts';

/** Parameters of reduce. */
export type ReduceParams = {
  readonly fn: string;
  readonly shape: readonly number[];
  readonly axis: number;
  readonly offset: number;
  readonly together: boolean;
  readonly seed: number;
};

/** The parameters that an id leaves out. */
export const REDUCE_DEFAULTS: ReduceParams = { fn: 'sum', shape: [1], axis: 0, offset: 0, together: false, seed: 0 };

async function reduceOnDevice(
  { backend }: CaseContext,
  params: ReduceParams,
  values: Float32Array,
): Promise<Float32Array> {
  const { shape, axis, offset: offsetBytes, together } = params;
  const workspace = new Workspace(backend, { offsetBytes, together });
  const input = workspace.input(values);
  const output = workspace.output(outputsOf(params));
  const op = params.fn as ReduceOp;
  await workspace.run(() => backend.reduce({ op, shape, axis, input: input.ptr, output: output.ptr }));
  return output.values();
}

function outputsOf({ shape, axis }: ReduceParams): number {
  return shape.reduce((product, size, index) => (index === axis ? product : product * size), 1);
}

function drawValues({ shape }: ReduceParams, draw: () => number): Float32Array {
  return Float32Array.from({ length: shape.reduce((x, y) => x * y, 1) }, draw);
}

async function compareWithOracle(
  context: CaseContext,
  params: ReduceParams,
  values: Float32Array,
  isExact: boolean,
): Promise<void> {
  compareReduced(params, await reduceOnDevice(context, params, values), values, isExact);
}

function compareReduced(params: ReduceParams, got: Float32Array, values: Float32Array, isExact: boolean): void {
  const { fn, shape, axis } = params;
  const { value, magnitude } = reduceReference({ op: fn as ReduceOp, shape, axis }, values);
  const length = shape[axis] as number;
  const isSum = fn === 'sum' || fn === 'mean';
  const bound = (i: number): number =>
    isExact || !isSum ? 0 : reduceBound(length, fn === 'mean', magnitude[i] as number);
  compareAll('output', got, value, { bound });
}

/** Small integers: sums are exact in any order. The mean is divided, and so bounded. */
export const planReduce: PlanCall<ReduceParams> = (slots, { backend, random }, params) => {
  const { shape, axis, fn } = params;
  const values = drawValues(params, () => random.integer(-8, 8));
  const [input, output] = [slots.input(values), slots.output(outputsOf(params))];
  nameSlots({ input, output });
  const op = fn as ReduceOp;
  return {
    op: 'reduce',
    shape: { op, shape, axis },
    call: () => backend.reduce({ op, shape, axis, input: input.ptr, output: output.ptr }),
    judge: () => compareReduced(params, output.values(), values, fn !== 'mean'),
  };
};

async function checkBounded(context: CaseContext, params: ReduceParams): Promise<void> {
  const { random } = context;
  const values = drawValues(params, () => random.wideFloat(random.chance(0.05) ? 12 : 3));
  await compareWithOracle(context, params, values, false);
}

/** All terms of one sign, where an error that grows with the length shows most. */
async function checkPositive(context: CaseContext, params: ReduceParams): Promise<void> {
  await compareWithOracle(
    context,
    params,
    drawValues(params, () => 0.1 + context.random.unit()),
    false,
  );
}

/** One value throughout: the roundings of a running float32 sum all go the same way. */
async function checkEqual(context: CaseContext, params: ReduceParams): Promise<void> {
  const value = context.random.wideFloat();
  await compareWithOracle(
    context,
    params,
    drawValues(params, () => value),
    false,
  );
}

/** Near the end of the range, of one sign: the mean is finite, and only a sum may be infinite. */
async function checkHuge(context: CaseContext, params: ReduceParams): Promise<void> {
  const sign = context.random.pick([1, -1]);
  const values = drawValues(params, () => sign * (2e38 + 1.3e38 * context.random.unit()));
  await compareWithOracle(context, params, values, false);
}

/** NaN wins everywhere; infinities as in arithmetic. */
async function checkSpecials(context: CaseContext, params: ReduceParams): Promise<void> {
  const { random } = context;
  const chance = 1 / (2 * Math.max(1, params.shape[params.axis] as number));
  const special = (): number => random.pick([Number.NaN, Infinity, -Infinity]);
  const values = drawValues(params, () => (random.chance(chance) ? special() : random.integer(-4, 4)));
  await compareWithOracle(context, params, values, params.fn !== 'mean');
}

async function checkRepeat(context: CaseContext, params: ReduceParams): Promise<void> {
  const values = drawValues(params, () => context.random.wideFloat());
  const first = await reduceOnDevice(context, params, values);
  const second = await reduceOnDevice(context, params, values);
  compareBytes('second of two equal calls', new Uint8Array(second.buffer), new Uint8Array(first.buffer));
}

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
  const smaller: Partial<ReduceParams>[] = [];
  for (const [index, size] of params.shape.entries()) {
    const replaced = (other: number): number[] => params.shape.map((x, i) => (i === index ? other : x));
    if (size > 1) smaller.push({ shape: replaced(Math.ceil(size / 2)) }, { shape: replaced(size - 1) });
  }
  if (params.offset > 0) smaller.push({ offset: 0 });
  if (params.together) smaller.push({ together: false });
  return smaller;
}

/** `reduce`. */
export const reduceSuite: Suite = defineSuite<ReduceParams>({
  op: 'reduce',
  defaults: REDUCE_DEFAULTS,
  checks: {
    exact: checkPlanned(planReduce),
    bounded: checkBounded,
    positive: checkPositive,
    equal: checkEqual,
    huge: checkHuge,
    specials: checkSpecials,
    repeat: checkRepeat,
  },
  texts: REDUCE_TEXTS,
  list,
  needs: ({ fn, shape, axis }) => ({ dtype: 'f32', shape: { op: fn, shape, axis } }),
  draw,
  shrink,
});
