import { type ComputeBackend, type DType, NULL_PTR } from '@concord/backend-core';
import {
  defineKernel,
  type FoldOp,
  type Kernel,
  type NodeOp,
  type NumberType,
  STORAGE_DTYPES,
  type ValueType,
} from '@concord/backend-core/kernel';
import { compareAll, compareBytes } from '../../checks/compare.ts';
import { type CaseContext, type Check, type ConformanceCase, defineSuite, type Suite } from '../../harness/case.ts';
import { Random } from '../../harness/random.ts';
import { Workspace } from '../../harness/workspace.ts';
import { type DataKind, specialsOf } from '../../run/data.ts';
import { drawnPlan, drawRunParams, perhapsScanned, perhapsScattered, shrinkDrawn } from '../../run/drawn.ts';
import {
  gatheringKernel,
  gatherSizes,
  maximalMap,
  maximalRows,
  scanningKernel,
  scatteringKernel,
} from '../../run/access-kernels.ts';
import { handKernel } from '../../run/hand-kernels.ts';
import { expectedOf, judge, looseness, note } from '../../run/judge.ts';
import { remembered } from '../../run/kernel-table.ts';
import { constantKernel, type ConstantPlace, foldKernel, nodeKernel } from '../../run/node-kernels.ts';
import type { PlaceKind, ViewKind } from '../../run/placement.ts';
import {
  checkPlan,
  makePlan,
  type PlanRequest,
  RUN_DEFAULTS,
  type RunParams,
  runPlan,
  type RunPlan,
} from '../../run/plan.ts';
import { HAND_WRITTEN } from './lists.ts';
import { checkNibbles, drawNibbles, NIBBLES, shrinkNibbles } from './nibbles.ts';

/** Numbers of random cases about whose outputs the oracle knows too little. */
const TOO_LOOSE: readonly number[] = [79, 122, 182, 198, 239, 250, 301];
/** Numbers from which the listed random cases are drawn. */
const DRAWN_SEEDS: readonly number[] = Array.from({ length: 317 }, (_, index) => index + 1).filter(
  (seed) => !TOO_LOOSE.includes(seed),
);

/** A plan of a case's parameters, its values drawn from `seed`. */
type PlanOf = (params: RunParams, seed: string) => RunPlan;

/** Values of the parameters of kernels that are written out. */
const SCALARS: Readonly<Record<string, number>> = { eps: 1e-5, p: 3, seed: 0xdeadbeef, high: 5.5 };

/** A plan of a kernel with the layout that the parameters say, but for what `more` says of single operands. */
export function planned(kernel: Kernel, params: RunParams, seed: string, more: Partial<PlanRequest> = {}): RunPlan {
  const dtypeOf = ({ type }: { type: NumberType }): DType =>
    (STORAGE_DTYPES[type] as readonly string[]).includes(params.dtype) ? (params.dtype as DType) : type;
  return makePlan({
    ...{ seed, kernel, shape: params.shape, folded: params.folded },
    ...{ place: params.place as PlaceKind, offset: params.offset },
    params: Object.fromEntries(kernel.params.map(({ name }, index) => [name, SCALARS[name] ?? 1000 * index + 7])),
    dataOf: ({ name, type, access }) => dataOf(params.data as DataKind, name, type, access),
    dtypeOf,
    viewOf: ({ name }) => (name === 't' && params.views === 'scalar' ? 'dense' : (params.views as ViewKind)),
    gatherShapeOf: ({ rank }) => gatherSizes(kernel, rank),
    ...more,
  });
}

/** Indices are indices whatever the rest holds; row inputs have no spikes. */
function dataOf(kind: DataKind, name: string, type: NumberType, access: string): DataKind {
  if (kind === 'indices')
    return type !== 'f32' && access !== 'gather' && access !== 'scatter' && name !== 'x' ? 'indices' : 'small';
  return access === 'row' && kind.endsWith('spike') ? 'small' : kind;
}

/** Sets of five constants that operations are tried with. */
function constantsOf(type: NumberType, set: number): readonly number[] {
  const all = type === 'f32' ? FLOAT_CONSTANTS : specialsOf(type);
  return Array.from({ length: 5 }, (_, index) => all[(set * 5 + index) % all.length] as number);
}

const FLOAT_CONSTANTS = [Number.NaN, Infinity, -Infinity, -0, 1, 2 ** -149, 3.4028234663852886e38, -1, 0.5, 2 ** -126];

function withConstants({ kernel, type, seed }: RunParams, place: ConstantPlace): Kernel {
  return remembered(`constant ${place} ${kernel} ${type} ${seed}`, () =>
    constantKernel(kernel as NodeOp, type as NumberType, constantsOf(type as NumberType, seed), place),
  );
}

/** The kernel that a case's parameters name. */
export const KERNEL_OF: Readonly<Record<string, (params: RunParams) => Kernel>> = {
  node: ({ kernel, type }) =>
    remembered(`node ${kernel} ${type}`, () => nodeKernel(kernel as NodeOp, type as ValueType)),
  constant: (params) => withConstants(params, 'right'),
  'constant-first': (params) => withConstants(params, 'left'),
  fold: ({ kernel, type }) =>
    remembered(`fold ${kernel} ${type}`, () => foldKernel(kernel as FoldOp, type as ValueType)),
  kernel: ({ kernel }) => handKernel(kernel),
  gather: ({ kernel }) => gatheringKernel(kernel),
  scatter: ({ kernel }) => scatteringKernel(kernel),
  scan: ({ kernel }) => scanningKernel(kernel),
  maximal: ({ kernel, seed }) =>
    remembered(`maximal ${kernel} ${seed}`, () => (kernel === 'rows' ? maximalRows(seed) : maximalMap(seed))),
};

const planChecks: Readonly<Record<string, PlanOf>> = {
  ...Object.fromEntries(
    Object.entries(KERNEL_OF).map(([name, kernelOf]): [string, PlanOf] => [
      name,
      (params, seed) => planned(kernelOf(params), params, seed),
    ]),
  ),
  narrowed: (params, seed) => {
    const kernel = handKernel(params.kernel);
    const names = new Set(kernel.outputs.map(({ name }) => name));
    return planned(kernel, params, seed, {
      dtypeOf: ({ name, type }) => (names.has(name) ? (params.dtype as DType) : type),
    });
  },
  drawn: drawnPlan,
};

/** The same call twice gives the same bits. */
async function checkRepeat(context: CaseContext, params: RunParams): Promise<void> {
  const plan = planned(handKernel(params.kernel), params, String(context.random.uint32()));
  const first = await checkPlan(context, plan);
  const second = await runPlan(context.backend, plan);
  for (const [index, { name }] of plan.kernel.outputs.entries()) {
    const [one, two] = [first[index], second[index]].map((elements) => {
      const { buffer, byteOffset, byteLength } = elements as Float32Array;
      return new Uint8Array(buffer, byteOffset, byteLength);
    });
    compareBytes(`${name} of the second of two equal calls`, two as Uint8Array, one as Uint8Array);
  }
}

/** Period of the values of a long operand: a prime, so that it falls into step with no tile. */
const PERIOD = 1021;

/** Checks more elements than one dimension of workgroups holds; the oracle works out one period of them. */
async function checkLong(context: CaseContext, params: RunParams): Promise<void> {
  const { backend, random } = context;
  const [length = 0] = params.shape;
  const short = planned(handKernel(params.kernel), { ...params, shape: [PERIOD] }, String(random.uint32()));
  const plan = {
    ...short,
    shape: [length],
    operands: short.operands.map(({ bits, ...operand }) => ({
      ...{ ...operand, shape: [length] },
      ...(bits === undefined ? {} : { bits: Uint32Array.from({ length }, (_, at) => bits[at % PERIOD] as number) }),
    })),
  };
  const result = await runPlan(backend, plan);
  const expected = expectedOf(short, backend.capabilities.numerics.f32Subnormals);
  note(context, expected);
  for (let at = 0; at + PERIOD <= length; at += PERIOD) {
    const period = result.map((stored) => stored.subarray(at, at + PERIOD));
    judge(short, expected, period, `, repeated over [${length}], from ${at} on`);
  }
  const rest = result.map((stored) => {
    const last = stored.slice(0, PERIOD);
    last.set(stored.subarray(length - (length % PERIOD)));
    return last;
  });
  judge(short, expected, rest, `, repeated over [${length}], its end`);
}

/** The checks of `run` that make one call, by name. */
const RUN_CHECKS: Readonly<Record<string, Check<RunParams>>> = {
  ...Object.fromEntries(
    Object.entries(planChecks).map(([name, planOf]): [string, Check<RunParams>] => [
      name,
      async (context, params) => {
        await checkPlan(context, planOf(params, String(context.random.uint32())));
      },
    ]),
  ),
  repeat: checkRepeat,
  long: checkLong,
  nibbles: checkNibbles,
};

/** Exponents of the angles: `docs/numerics.md` bounds sin and cos below 2^24. */
const EXPONENTS = Array.from({ length: 13 }, (_, index) => index + 11);
const POINTS_EACH = 512;

const WAVES = defineKernel('waves', { inputs: { x: 'f32' } }, ({ x }, k) => ({ sines: k.sin(x), cosines: k.cos(x) }));

const SHAPE = [POINTS_EACH * EXPONENTS.length];

function callWaves(backend: ComputeBackend, x = NULL_PTR, sines = NULL_PTR, cosines = NULL_PTR): void {
  backend.run(WAVES, { shape: SHAPE, inputs: { x }, outputs: { sines, cosines } });
}

/** The float32 so many places after a positive one. */
function after(x: number, places: number): number {
  const bits = new Uint32Array(Float32Array.of(x).buffer);
  bits[0] = (bits[0] as number) + places;
  return new Float32Array(bits.buffer)[0] as number;
}

/** Angles around a power of two, over its binade, and beside multiples of pi/2 in it; the signs alternate. */
function anglesFrom(exponent: number): readonly number[] {
  const least = 2 ** exponent;
  return Array.from({ length: POINTS_EACH }, (_, index) => {
    const share = index / POINTS_EACH;
    const quarters = Math.ceil((least * (1 + share)) / (Math.PI / 2));
    const ways = [
      () => after(least, (index >> 2) - (exponent === 11 ? 0 : 32)),
      () => Math.fround(least * (1 + share)),
      () => after(2 * least, -1 - (index >> 2)),
      () => after(Math.fround((quarters * Math.PI) / 2), ((index >> 2) % 5) - 2),
    ] as const;
    const x = Math.min((ways[index % 4] as () => number)(), 2 ** 24 - 1);
    return (index >> 3) % 2 === 0 ? x : -x;
  });
}

/** sin and cos over all that is promised of them. */
export const largeAngleCases: readonly ConformanceCase[] = [
  {
    id: 'run/large-angles/sin and cos',
    op: 'run',
    params: {},
    needs: { op: 'run', dtype: 'f32', shape: { kernel: WAVES, shape: SHAPE }, call: (backend) => callWaves(backend) },
    run: async ({ backend }) => {
      const angles = Float32Array.from(EXPONENTS.flatMap(anglesFrom));
      const workspace = new Workspace(backend);
      const x = workspace.input(angles);
      const [sines, cosines] = [workspace.output(angles.length), workspace.output(angles.length)];
      await workspace.run(() => callWaves(backend, x.ptr, sines.ptr, cosines.ptr));
      const bound = (index: number): number => (4.5 + Math.abs(angles[index] as number) / 1024) * 2 ** -23;
      compareAll('sines', sines.values(), angles.map(Math.sin), { bound });
      compareAll('cosines', cosines.values(), angles.map(Math.cos), { bound });
    },
  },
];

/** A drawn case about which the oracle knows less is drawn again: it would only look like a check. */
const MAX_LOOSE = 0.02;

/** Returns whether the oracle knows enough of the outputs of a drawn case. */
export function isTight(params: RunParams): boolean {
  const { elements, loose } = looseness(expectedOf(drawnPlan(params), 'may-flush'));
  return loose <= MAX_LOOSE * elements;
}

function draw(random: Random): [string, RunParams] {
  for (;;) {
    const seed = random.uint32();
    if (seed % 20 === 0) return drawNibbles(new Random(`${seed}`));
    const params = perhapsScanned(perhapsScattered(drawRunParams(seed)));
    if (isTight(params)) return ['drawn', params];
  }
}

/** `run`. */
export const runSuite: Suite = defineSuite<RunParams>({
  op: 'run',
  defaults: RUN_DEFAULTS,
  checks: RUN_CHECKS,
  list: [...HAND_WRITTEN, ...NIBBLES, ...DRAWN_SEEDS.map((seed) => ['drawn', drawRunParams(seed)] as const)],
  draw,
  shrink: (params) => (params.dtype.endsWith('4') ? shrinkNibbles(params) : shrinkDrawn(params)),
});
