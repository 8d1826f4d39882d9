import type { ComputeBackend, DevicePtr } from '@concord/backend-core';
import { type DefinedOp, OPS } from '@concord/backend-core/implement';
import type { NodeOp } from '@concord/backend-core/kernel';
import { compareStored, type OutputIntervals, runReference } from '@concord/backend-cpu/reference';
import { type AttentionParams, attentionSuite } from '../cases/attention/suite.ts';
import { batchedGemmSuite } from '../cases/batched-gemm.ts';
import { BINARY, binarySuite } from '../cases/binary.ts';
import { conv2dSuite } from '../cases/conv2d.ts';
import { gemmF16Suite } from '../cases/gemm-f16.ts';
import { gemmSuite } from '../cases/gemm.ts';
import { type ReduceParams, reduceSuite } from '../cases/reduce.ts';
import { KERNEL_OF, planned } from '../cases/run/suite.ts';
import { type TopKParams, topKSuite } from '../cases/top-k.ts';
import { UNARY, unarySuite } from '../cases/unary.ts';
import type { Conv2dParams } from '../checks/conv2d.ts';
import type { ElementwiseParams } from '../checks/elementwise.ts';
import type { ProductParams } from '../checks/product-data.ts';
import type { PlannedEpilogue } from '../checks/epilogue.ts';
import { type CaseContext, CaseFailure, type Params, type Suite } from '../harness/case.ts';
import type { Random } from '../harness/random.ts';
import { plainer, replaced, smallerSizes } from '../harness/shrink.ts';
import { Slot } from '../harness/workspace.ts';
import { drawnPlan, drawRunParams, perhapsScanned, perhapsScattered, shrinkDrawn } from '../run/drawn.ts';
import { HAND_KERNELS, handKernel } from '../run/hand-kernels.ts';
import { geometryOf } from '../run/judge.ts';
import {
  bytesOf,
  eachElement,
  encodeElement,
  extentOf,
  PLACE_KINDS,
  sizeOf,
  storedElements,
  VIEW_KINDS,
} from '../run/placement.ts';
import { callOf, type PlannedOperand, RUN_DEFAULTS, type RunParams, type RunPlan, shapeOf } from '../run/plan.ts';
import { inOrder, isFloat, plainValues } from './expected.ts';
import {
  planAttentionCall,
  planConv2dCall,
  planElementwiseCall,
  planProductCall,
  planReduceCall,
  planTopKCall,
} from './op-calls.ts';
import type { CallKind, CallStep, Expected, ProgramCall, ProgramCallKind, ProgramOperand, WriteData } from './step.ts';

/** A kind whose parameters are those of a suite's cases. */
const ofSuite = <P extends Params>(suite: Suite, plan: (params: P) => ProgramCall): ProgramCallKind => ({
  draw: (random) => suite.draw(random).testCase.params,
  plan: (params) => plan(params as P),
  smaller: (params) => suite.smaller(params),
});

/** The calls that programs make. */
export const PROGRAM_CALLS: Readonly<Record<CallKind, ProgramCallKind>> = {
  gemm: ofSuite<ProductParams>(gemmSuite, (params) => planProductCall('gemm', params)),
  gemmF16: ofSuite<ProductParams>(gemmF16Suite, (params) => planProductCall('gemmF16', params)),
  batchedGemm: ofSuite<ProductParams>(batchedGemmSuite, (params) => planProductCall('batchedGemm', params)),
  conv2dForward: ofSuite<Conv2dParams>(conv2dSuite, planConv2dCall),
  attention: ofSuite<AttentionParams>(attentionSuite, planAttentionCall),
  topK: ofSuite<TopKParams>(topKSuite, planTopKCall),
  reduce: ofSuite<ReduceParams>(reduceSuite, planReduceCall),
  unary: ofSuite<ElementwiseParams>(unarySuite, planElementwiseCall(UNARY)),
  binary: ofSuite<ElementwiseParams>(binarySuite, planElementwiseCall(BINARY)),
  kernel: {
    draw: drawKernelParams,
    plan: (params) => planKernelCall(params as RunParams),
    smaller: (params) => smallerKernelParams(params as RunParams),
  },
  drawn: {
    draw: (random) => perhapsScanned(perhapsScattered(drawRunParams(random.uint32()))),
    plan: (params) => planDrawnCall(params as RunParams),
    smaller: (params) => shrinkDrawn(params as RunParams).map((change) => ({ ...params, ...change })),
  },
};

const plans = new WeakMap<CallStep, ProgramCall | null>();

/** The call of a step; undefined where its parameters make none. */
export function planOf(step: CallStep): ProgramCall | undefined {
  let plan = plans.get(step);
  if (plan === undefined) {
    try {
      plan = PROGRAM_CALLS[step.kind].plan(step.params);
    } catch {
      plan = null;
    }
    plans.set(step, plan);
  }
  return plan ?? undefined;
}

/** The parts of a named op's call that its definition does not say. */
interface NamedCall {
  readonly op: DefinedOp;
  /** The call without its pointers. */
  readonly shape: Readonly<Record<string, unknown>>;
  /** The operand in whose place the output is. */
  readonly inPlaceOf?: string | undefined;
  /** An output that is read too. */
  readonly updates?: string;
  readonly epilogue?: PlannedEpilogue | undefined;
  /** Distances of the elements that are written, of the op's own output, where it has gaps. */
  readonly writes?: ArrayLike<number>;
  /** The result may tell a zero from a negative one: not judged where the sign of one is open. */
  readonly seesSign?: boolean;
  /** Contents that suit operands of floating-point numbers. Default: small. */
  readonly data?: WriteData;
  /** The pointers as the call has them. Default: by their names. */
  readonly place?: (pointers: Readonly<Record<string, DevicePtr>>) => object;
  /** Returns whether the oracle has an answer for the values, also for an epilogue. Default: it has. */
  readonly answers?: (values: Values) => boolean;
  /** Returns the wanted results; undefined if the oracle has no answer for the values. */
  evaluate(backend: ComputeBackend, values: Values): Readonly<Record<string, Expected>> | undefined;
  /** The result before the epilogue, and its bound. */
  readonly accumulate?: (values: Values) => {
    readonly value: ArrayLike<number>;
    readonly bound: (index: number) => number;
  };
}

/** The values of the operands that are read, by name. */
export type Values = Readonly<Record<string, Float64Array>>;

/** The call of a named op, whose operands the op's own definition lays out. */
export function namedCall(named: NamedCall): ProgramCall {
  const { op, shape: plain, epilogue, inPlaceOf, data = 'small', place = (own) => own } = named;
  const shape = epilogue === undefined ? plain : { ...plain, epilogue: epilogue.shape };
  const checked = OPS[op].check(shape as never, false);
  if (checked === null) throw new RangeError(`this ${op} does nothing`);
  const regions: number[] = [];
  const operands = checked.operands.map(({ name, dtype, elements, output = false }): ProgramOperand => {
    const shared = output && inPlaceOf !== undefined ? checked.operands.findIndex((x) => x.name === inPlaceOf) : -1;
    const region = shared < 0 ? regions.push(elements * bytesOf(dtype)) - 1 : shared;
    const reads = !output || named.updates === name;
    const own = name === OPS[op].output ? named.writes : undefined;
    const writes = output ? (own ?? inOrder(elements)) : undefined;
    return { name, dtype, elements, region, at: 0, reads, writes, data: isFloat(dtype) ? data : 'bits' };
  });
  const read = operands.filter(({ reads }) => reads);
  return {
    op,
    shape,
    regions,
    operands,
    argumentsOf: (ptrOf) => {
      const pointers = new Map(operands.map(({ name }, index) => [name, ptrOf(index)]));
      const own = [...pointers].filter(([name]) => !name.startsWith('epilogue.'));
      const ofEpilogue = (name: string): DevicePtr => pointers.get(`epilogue.${name}`) as DevicePtr;
      return [
        {
          ...plain,
          ...place(Object.fromEntries(own) as Record<string, DevicePtr>),
          ...(epilogue === undefined ? {} : { epilogue: epilogue.call(ofEpilogue) }),
        },
      ];
    },
    evaluate: (backend, bytes, hasLooseZeros) => {
      if (hasLooseZeros && named.seesSign === true) return undefined;
      const entries = read.map(
        ({ name, dtype }, index) => [name, plainValues(dtype, bytes[index] as Uint8Array)] as const,
      );
      if (entries.some(([, found]) => found === undefined)) return undefined;
      const values = Object.fromEntries(entries) as Record<string, Float64Array>;
      if (named.answers?.(values) === false) return undefined;
      if (epilogue !== undefined) return [judgedEpilogue(named, epilogue, { backend, operands, bytes, values })];
      const expected = named.evaluate(backend, values);
      if (expected === undefined) return undefined;
      return operands.flatMap(({ name, writes }) => (writes === undefined ? [] : [expected[name] as Expected]));
    },
  };
}

interface Evaluated {
  readonly backend: ComputeBackend;
  readonly operands: readonly ProgramOperand[];
  readonly bytes: readonly Uint8Array[];
  readonly values: Values;
}

/** An epilogue whose result is judged, not known. */
function judgedEpilogue(
  { accumulate }: NamedCall,
  epilogue: PlannedEpilogue,
  { backend, operands, bytes, values }: Evaluated,
): Expected {
  const output = operands.at(-1) as ProgramOperand;
  const read = operands.filter(({ reads }) => reads);
  const inputs = read.flatMap(({ name, dtype }, index) =>
    name.startsWith('epilogue.')
      ? [[name.slice('epilogue.'.length), new Slot((bytes[index] as Uint8Array).slice(), dtype, true, false)] as const]
      : [],
  );
  const context = { backend, tally: { elements: 0, loose: 0 } } as CaseContext;
  return {
    bitsOf: () => undefined,
    judge: (after) => {
      const slot = new Slot(new Uint8Array(after.length), output.dtype, false, true);
      slot.after = after;
      const { value, bound } = (accumulate as NonNullable<typeof accumulate>)(values);
      epilogue.check(context, slot, Object.fromEntries(inputs), value, bound);
    },
  };
}

/** The call of `run` with a kernel that is written out. */
const planKernelCall = (params: RunParams): ProgramCall =>
  planRunCall(
    planned(KERNEL_OF['kernel']?.(params) as RunPlan['kernel'], params, `program ${params.seed}`),
    params.data as WriteData,
  );

/** The call of `run` with a drawn kernel. */
const planDrawnCall = (params: RunParams): ProgramCall => planRunCall(drawnPlan(params), 'moderate');

/** Random parameters for {@link planKernelCall}. */
function drawKernelParams(random: Random): RunParams {
  const kernel = random.pick(Object.keys(HAND_KERNELS));
  const { hasRows, inputs, outputs } = handKernel(kernel);
  const edge = (): number => random.pick([1, 2, 3, random.integer(4, 40), 31, 33, 64, 65, 127, 257]);
  const shape = [random.pick([edge(), 1023, 1025, 4100]), edge(), random.integer(1, 3)].slice(
    0,
    random.pick([1, 2, 2, 3]),
  );
  while (sizeOf(shape) > 20_000) shape[0] = Math.ceil((shape[0] as number) / 2);
  return {
    ...RUN_DEFAULTS,
    ...{ kernel, shape: random.permutation(shape.length).map((axis) => shape[axis] as number) },
    folded: hasRows ? random.integer(1, Math.max(1, shape.length - 1)) : 0,
    data: random.pick(['small', 'small', 'bits', 'unit']),
    views: random.pick(VIEW_KINDS),
    dtype: random.pick(['own', 'own', 'f16', 'bf16', 'i8', 'u8']),
    place: random.pick(PLACE_KINDS),
    // Two outputs in the places of inputs are not to be in one.
    ...(outputs.some(({ name }) => inputs.some((input) => input.name === name)) && { place: 'named' as const }),
    offset: random.pick([0, 0, 1, 3]),
    seed: random.uint32(),
  };
}

/** Smaller parameters of a kernel that is written out. */
function smallerKernelParams(params: RunParams): RunParams[] {
  const { shape } = params;
  const changes: Partial<RunParams>[] = [
    ...shape.flatMap((size, axis) => smallerSizes(size).map((less) => ({ shape: replaced(shape, axis, less) }))),
    ...plainer(params, RUN_DEFAULTS, ['place', 'views', 'dtype', 'offset']),
  ];
  return changes.map((change) => ({ ...params, ...change }));
}

function planRunCall(plan: RunPlan, data: WriteData): ProgramCall {
  const { kernel, places, params } = plan;
  const operands = plan.operands.map((operand, index): ProgramOperand => {
    const { buffer, byteOffset } = places[index] as RunPlan['places'][number];
    const { name, dtype, shape, strides, isOutput, isGather } = operand;
    return {
      ...{ name, dtype, elements: extentOf(shape, strides), region: buffer, at: byteOffset },
      ...{ reads: !isOutput || isGather, writes: isOutput ? distancesOf(operand) : undefined },
      data: isFloat(dtype) ? (data === 'bits' ? 'moderate' : data) : dataOf(kernel, name),
    };
  });
  const regions: number[] = [];
  for (const { region, at, elements, dtype } of operands) {
    regions[region] = Math.max(regions[region] ?? 4, at + elements * bytesOf(dtype));
  }
  // Buffers that no operand lies in any more, as it has moved to another's.
  for (let index = 0; index < regions.length; index++) regions[index] ??= 4;
  return {
    op: 'run',
    shape: { ...shapeOf(plan) },
    regions,
    operands,
    argumentsOf: (ptrOf) => [kernel, callOf(plan, (operand) => ptrOf(operand) as DevicePtr)],
    evaluate: (backend, bytes, hasLooseZeros) => {
      if (hasLooseZeros && kernel.nodes.some((node) => node.kind === 'arithmetic' && SEES_SIGN.has(node.op))) {
        return undefined;
      }
      const read = operands.filter(({ reads }) => reads);
      const held = Object.fromEntries(
        read.map(({ name, dtype }, index) => [name, storedElements(dtype, (bytes[index] as Uint8Array).slice())]),
      );
      const subnormals = backend.capabilities.numerics.f32Subnormals;
      const outputs = runReference(geometryOf(plan), { inputs: held, outputs: held, params }, { subnormals });
      return outputs.map((intervals) =>
        expectedIntervals(kernel.name, hasLooseZeros ? withoutCopies(intervals) : intervals),
      );
    },
  };
}

/** Operations whose result may tell a zero from a negative one. */
const SEES_SIGN: ReadonlySet<NodeOp> = new Set<NodeOp>([
  'bitcastI32',
  'bitcastU32',
  'div',
  'rsqrt',
  'pow',
  'atan2',
  'log',
  'log2',
]);

const dataOf = (kernel: RunPlan['kernel'], name: string): WriteData =>
  kernel.inputs.some(({ access }) => access === 'gather') && name !== 't' ? 'indices' : 'bits';

function distancesOf({ shape, strides }: PlannedOperand): Uint32Array {
  const distances = new Uint32Array(sizeOf(shape));
  eachElement(shape, strides, (index, distance) => {
    distances[index] = distance;
  });
  return distances;
}

function withoutCopies({ or, ...intervals }: OutputIntervals): OutputIntervals {
  const own = { ...intervals, copies: new Map<number, number>() };
  return or === undefined ? own : { ...own, or: withoutCopies(or) };
}

function expectedIntervals(kernel: string, intervals: OutputIntervals): Expected {
  const { layout, lo, hi, nan, anything, copies, choices, or } = intervals;
  const { name, dtype } = layout;
  return {
    bitsOf: (index) => {
      // One of several values.
      if (or !== undefined && (or.nan[index] !== 0 || (or.lo[index] as number) <= (or.hi[index] as number)))
        return undefined;
      const copied = copies.get(index);
      if (copied !== undefined) return copied;
      if (anything[index] === 1 || nan[index] !== 0 || choices.has(index)) return undefined;
      const value = lo[index] as number;
      return value === hi[index] && Number.isFinite(value) ? encodeElement(dtype, value) : undefined;
    },
    judge: (after) => {
      const mismatch = compareStored(intervals, storedElements(dtype, after.slice()));
      if (mismatch === undefined) return;
      const { wrong, total, index, got, want } = mismatch;
      throw new CaseFailure(
        `output ${name} (${dtype}) of kernel ${kernel}: ${wrong} of ${total} wrong; first at [${index}]: got ${got}, want ${want}`,
      );
    },
  };
}
