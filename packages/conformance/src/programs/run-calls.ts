import type { DevicePtr } from '@concord/backend-core';
import type { NodeOp } from '@concord/backend-core/kernel';
import { compareStored, type OutputIntervals, runReference } from '@concord/backend-cpu/reference';
import { KERNEL_OF, planned } from '../cases/run/checks.ts';
import { CaseFailure } from '../harness/case.ts';
import type { Random } from '../harness/random.ts';
import { callOf, shapeOf } from '../run/call.ts';
import { drawnPlan } from '../run/drawn.ts';
import { HAND_KERNELS, handKernel } from '../run/hand-kernels.ts';
import { geometryOf } from '../run/judge.ts';
import { RUN_DEFAULTS, type RunParams } from '../run/params.ts';
import { PLACE_KINDS } from '../run/placement.ts';
import type { PlannedOperand, RunPlan } from '../run/plan.ts';
import { bytesOf, encodeElement, storedElements } from '../run/storage.ts';
import { eachElement, extentOf, sizeOf, VIEW_KINDS } from '../run/view.ts';
import { isFloat } from './expected.ts';
import type { Expected, ProgramCall, ProgramOperand } from './program-call.ts';
import type { WriteData } from './write-data.ts';

/** The call of `run` with a kernel that is written out. */
export const planKernelCall = (params: RunParams): ProgramCall =>
  planRunCall(
    planned(KERNEL_OF['kernel']?.(params) as RunPlan['kernel'], params, `program ${params.seed}`),
    params.data as WriteData,
  );

/** The call of `run` with a drawn kernel. */
export const planDrawnCall = (params: RunParams): ProgramCall => planRunCall(drawnPlan(params), 'moderate');

/** Random parameters for {@link planKernelCall}. */
export function drawKernelParams(random: Random): RunParams {
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
export function smallerKernelParams(params: RunParams): RunParams[] {
  const { shape } = params;
  const sizes = shape.flatMap((size, axis) =>
    size > 1 ? [Math.ceil(size / 2), size - 1].map((less) => shape.map((own, at) => (at === axis ? less : own))) : [],
  );
  const plainer = (['place', 'views', 'dtype', 'offset'] as const).filter(
    (name) => params[name] !== RUN_DEFAULTS[name],
  );
  return [
    ...sizes.map((less) => ({ ...params, shape: less })),
    ...plainer.map((name) => ({ ...params, [name]: RUN_DEFAULTS[name] })),
  ];
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
