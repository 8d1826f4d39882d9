import type { DType } from '@concord/backend-core';
import {
  type FoldOp,
  type Kernel,
  type NodeOp,
  type NumberType,
  STORAGE_DTYPES,
  type ValueType,
} from '@concord/backend-core/kernel';
import type { CaseContext } from '../../harness/case.ts';
import type { Check } from '../../harness/suite.ts';
import { checkPlan, runPlan } from '../../run/check-plan.ts';
import { type DataKind, specialsOf } from '../../run/data.ts';
import { drawnPlan } from '../../run/drawn.ts';
import { GATHER_KERNELS, gatherSizes, LAST_INDEX_KERNELS } from '../../run/gather-kernels.ts';
import { SCAN_KERNELS } from '../../run/scan-kernels.ts';
import { SCATTER_KERNELS } from '../../run/scatter-kernels.ts';
import { handKernel, remembered } from '../../run/hand-kernels.ts';
import { expectedOf, judge, note } from '../../run/judge.ts';
import { makePlan, type PlanRequest } from '../../run/make-plan.ts';
import { maximalMap, maximalRows } from '../../run/maximal-kernels.ts';
import { constantKernel, type ConstantPlace, foldKernel, nodeKernel } from '../../run/node-kernels.ts';
import type { RunParams } from '../../run/params.ts';
import type { PlaceKind } from '../../run/placement.ts';
import type { RunPlan } from '../../run/plan.ts';
import { compareBytes } from '../../checks/compare.ts';
import type { ViewKind } from '../../run/view.ts';

/** A plan of a case's parameters, its values drawn from `seed`. */
export type PlanOf = (params: RunParams, seed: string) => RunPlan;

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

function named(all: Readonly<Record<string, () => Kernel>>, kernel: string): Kernel {
  const define = Object.hasOwn(all, kernel) ? all[kernel] : undefined;
  if (define === undefined) throw new RangeError(`no kernel is called "${kernel}"`);
  return remembered(kernel, define);
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
  gather: ({ kernel }) => {
    return named({ ...GATHER_KERNELS, ...LAST_INDEX_KERNELS }, kernel);
  },
  scatter: ({ kernel }) => named(SCATTER_KERNELS, kernel),
  scan: ({ kernel }) => named(SCAN_KERNELS, kernel),
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

/** More elements than one dimension of workgroups holds; the oracle works out one period of them. */
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
export const RUN_CHECKS: Readonly<Record<string, Check<RunParams>>> = {
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
};
