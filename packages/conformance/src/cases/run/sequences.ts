import { defineKernel, type Kernel, kernelFromJson, type NodeOp, type NumberType } from '@concord/backend-core/kernel';
import { type CaseContext, caseOf, type ConformanceCase } from '../../harness/case.ts';
import {
  callRun,
  checkPlan,
  type PlanRequest,
  RUN_DEFAULTS,
  type RunParams,
  type RunPlan,
  shapeOf,
} from '../../run/plan.ts';
import { specialsOf } from '../../run/data.ts';
import { handKernel } from '../../run/hand-kernels.ts';
import { remembered } from '../../run/kernel-table.ts';
import { expectedOf, judge, note, RunMemory } from '../../run/judge.ts';
import { parameterKernel } from '../../run/node-kernels.ts';
import { KERNEL_OF, planned } from './suite.ts';

const sequenceCase = (what: string, run: ConformanceCase['run']): ConformanceCase =>
  caseOf(`run/sequence/${what}`, 'run', run);

/** Makes all calls one after the other, each in its own memory, before the first result is read. */
async function checkQueued(context: CaseContext, plans: readonly RunPlan[]): Promise<void> {
  const { backend } = context;
  const memories: RunMemory[] = [];
  try {
    for (const plan of plans) {
      const memory = new RunMemory(backend, plan);
      memories.push(memory);
      memory.upload();
    }
    for (const [index, plan] of plans.entries()) callRun(backend, plan, memories[index] as RunMemory);
    for (const [index, plan] of plans.entries()) {
      const expected = expectedOf(plan, backend.capabilities.numerics.f32Subnormals);
      note(context, expected);
      judge(plan, expected, await (memories[index] as RunMemory).download(), `, call ${index + 1} of ${plans.length}`);
    }
  } finally {
    for (const memory of memories) memory.free();
  }
}

const PARAMETER_OPS: readonly (readonly [NumberType, readonly NodeOp[]])[] = [
  ['f32', ['add', 'mul', 'div', 'min', 'max', 'lt', 'eq', 'pow']],
  ['i32', ['add', 'mul', 'div', 'rem', 'shr', 'lt', 'max']],
  ['u32', ['sub', 'mul', 'div', 'rem', 'shl', 'ge', 'min']],
];

/** The same call with one value of a parameter after the other: special ones, and none of them kept from before. */
const changedParameters: readonly ConformanceCase[] = PARAMETER_OPS.flatMap(([type, ops]) =>
  ops.map((op) =>
    sequenceCase(`parameters of ${op}, ${type}`, async (context) => {
      const kernel = remembered(`parameter ${op} ${type}`, () => parameterKernel(op, type));
      const all = specialsOf(type);
      const values = [...all.slice(0, 8), ...all.slice(-6), 1];
      const params: RunParams = { ...RUN_DEFAULTS, shape: [all.length], data: 'specials' };
      await checkQueued(
        context,
        values.map((p) => planned(kernel, params, 'parameters', { params: { p } })),
      );
    }),
  ),
);

type Change = Partial<RunParams>;
type More = Partial<PlanRequest>;

const only =
  <T>(name: string, kind: T, other: T) =>
  (operand: { readonly name: string }): T =>
    operand.name === name ? kind : other;

const MAP = { kernel: 'sum and difference', shape: [33, 20] };
const ROWS = { kernel: 'softmax', shape: [20, 33], folded: 1, data: 'moderate' };
const GATHER = { kernel: 'gather 2 by i32', shape: [40, 9], data: 'indices' };

/** Pairs of calls that differ in one thing alone: what a cache of plans must tell apart. */
const PAIRS: readonly (readonly [what: string, base: Change, change: Change, more?: More])[] = [
  ['a size', MAP, { shape: [33, 21] }],
  ['the order of sizes', MAP, { shape: [20, 33] }],
  ['the rank', MAP, { shape: [33, 4, 5] }],
  ['a size of 1', MAP, { shape: [33, 1] }],
  ['a size of 0', MAP, { shape: [33, 0] }],
  ['all strides', MAP, { views: 'transposed' }],
  ['the strides of the first input', MAP, {}, { viewOf: only('a', 'transposed', 'dense') }],
  ['the strides of the second input', MAP, {}, { viewOf: only('b', 'scalar', 'dense') }],
  ['the strides of the first output', MAP, {}, { viewOf: only('sum', 'padded', 'dense') }],
  ['the strides of the second output', MAP, {}, { viewOf: only('difference', 'transposed', 'dense') }],
  ['the dtype of the first input', MAP, {}, { dtypeOf: only('a', 'f16', 'f32') }],
  ['the dtype of the second input', MAP, { dtype: 'f16' }, { dtypeOf: only('b', 'bf16', 'f16') }],
  ['the dtype of an output', MAP, {}, { dtypeOf: only('sum', 'bf16', 'f32') }],
  ['the alignment', MAP, { offset: 1 }],
  ['the alignment of narrow elements', { ...MAP, dtype: 'f16' }, { dtype: 'f16', offset: 1 }],
  ['the alignment of bytes', { ...MAP, kernel: 'sub i32', dtype: 'i8' }, { offset: 3 }],
  ['the place of the output', MAP, { place: 'in-place' }],
  ['whether inputs are one', MAP, { place: 'same-input' }],
  ['whether operands share an allocation', MAP, { place: 'packed' }],
  ['whether outputs interleave', MAP, { place: 'interleaved' }],
  ['whether operands interleave', MAP, { place: 'woven' }],
  ['the values', MAP, { data: 'any' }],
  ['the kernel', MAP, { kernel: 'add' }],
  ['the folded axes', { ...ROWS, shape: [4, 5, 33] }, { folded: 2 }],
  ['the length of rows', ROWS, { shape: [20, 34] }],
  ['the number of rows', ROWS, { shape: [21, 33] }],
  ['rows and columns', ROWS, { shape: [33, 20] }],
  ['rows long and short', ROWS, { shape: [3, 5000] }],
  ['the strides of rows', ROWS, { views: 'transposed' }],
  ['the dtype of rows', ROWS, { dtype: 'f16' }],
  ['the place of rows', ROWS, { place: 'in-place' }],
  ['the fold', { ...ROWS, kernel: 'sum and max of rows', data: 'small' }, { kernel: 'first of each' }],
  ['the shape of a tensor', GATHER, {}, { gatherShapeOf: () => [5, 9] }],
  ['the sizes of a tensor', GATHER, {}, { gatherShapeOf: () => [9, 4] }],
  ['the strides of a tensor', GATHER, {}, { viewOf: only('t', 'transposed', 'dense') }],
  ['the dtype of a tensor', { ...GATHER, kernel: 'gather 3 by u32' }, {}, { dtypeOf: only('i', 'u8', 'u32') }],
];

const pairs: readonly ConformanceCase[] = PAIRS.map(([what, base, change, more = {}]) =>
  sequenceCase(`two calls that differ in ${what}`, async (context) => {
    const seed = String(context.random.uint32());
    const first: RunParams = { ...RUN_DEFAULTS, ...base };
    const second: RunParams = { ...first, ...change };
    const kernelOf = ({ kernel, ...rest }: RunParams): Kernel =>
      KERNEL_OF[kernel.startsWith('gather') ? 'gather' : 'kernel']?.({ kernel, ...rest }) as Kernel;
    const one = planned(kernelOf(first), first, seed);
    const two = planned(kernelOf(second), second, seed, more);
    await checkQueued(context, [one, two, one, two]);
  }),
);

const scaled = (name: string, constant: number): Kernel =>
  defineKernel(name, { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.mul(x, constant), z: k.add(x, constant) }));

const vector: RunParams = { ...RUN_DEFAULTS, shape: [77], data: 'specials' };

const others: readonly ConformanceCase[] = [
  sequenceCase('kernels that differ in a constant', (context) => {
    const constants = [2, 3, Number.NaN, Infinity, -Infinity, 0, -0, 2 ** -149, 1e30];
    const kernels = constants.map((constant) => remembered(`scaled ${constant}`, () => scaled('scaled', constant)));
    return checkQueued(
      context,
      [...kernels, ...kernels].map((kernel) => planned(kernel, vector, 'constants')),
    );
  }),
  sequenceCase('one computation under two names, and from JSON', (context) => {
    const kernels = [Number.NaN, -Infinity, -0.5].flatMap((constant) => {
      const kernel = scaled('one', constant);
      return [kernel, scaled('another', constant), kernelFromJson(JSON.parse(JSON.stringify(kernel)))];
    });
    return checkQueued(
      context,
      kernels.map((kernel) => planned(kernel, vector, 'names')),
    );
  }),
  sequenceCase('a kernel that is plain data', async (context) => {
    const kernel = scaled('plain', 1.5);
    const plan = planned(kernel, vector, 'plain');
    await checkPlan(context, { ...plan, kernel: JSON.parse(JSON.stringify(kernel)) as Kernel });
  }),
  sequenceCase('prepare, then run', async (context) => {
    const { backend } = context;
    const plans = ['layerNorm', 'softmax'].map((kernel) =>
      planned(handKernel(kernel), { ...RUN_DEFAULTS, shape: [9, 130], folded: 1, data: 'moderate' }, kernel),
    );
    const supported = plans.filter((plan) => backend.supports('run', shapeOf(plan)).ok);
    await backend.prepare(supported.map((plan) => ({ op: 'run', call: shapeOf(plan) })));
    await checkQueued(context, plans);
  }),
  sequenceCase('other values in the same memory', async (context) => {
    const { backend } = context;
    const params: RunParams = { ...RUN_DEFAULTS, shape: [31, 40], folded: 1, data: 'moderate' };
    const plans = ['a', 'b', 'c'].map((seed) => planned(handKernel('variance'), params, seed));
    for (const plan of plans) {
      const memory = new RunMemory(backend, plan);
      try {
        for (const filled of [plan, ...plans]) await checkRefilled(context, memory, plan, filled);
      } finally {
        memory.free();
      }
    }
  }),
];

/** Puts the inputs of another plan of the same layout into a memory, runs and judges. */
async function checkRefilled(context: CaseContext, memory: RunMemory, plan: RunPlan, filled: RunPlan): Promise<void> {
  const { backend } = context;
  memory.upload(filled);
  callRun(backend, plan, memory);
  const expected = expectedOf(filled, backend.capabilities.numerics.f32Subnormals);
  note(context, expected);
  judge(filled, expected, await memory.download());
}

/** Calls that only go wrong one after another. */
export const runSequenceCases: readonly ConformanceCase[] = [...changedParameters, ...pairs, ...others];
