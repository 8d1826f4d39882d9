import { type ComputeBackend, type DevicePtr, type DType, isBackendError, NULL_PTR } from '@concord/backend-core';
import type {
  FoldOp,
  Kernel,
  KernelInput,
  KernelOutput,
  Level,
  NodeOp,
  RunCall,
  RunLayout,
  RunOperand,
  RunShape,
  RunView,
  ValueType,
} from '@concord/backend-core/kernel';
import { type CaseContext, CaseFailure, UnsupportedCall } from '../harness/case.ts';
import { Random } from '../harness/random.ts';
import { type DataKind, drawBits, type Range } from './data.ts';
import { expectedOf, judge, note, RunMemory, type RunResult } from './judge.ts';
import {
  drawStrides,
  eachElement,
  extentOf,
  type PlaceKind,
  placeOperands,
  sizeOf,
  type ViewKind,
} from './placement.ts';

/** The place of an operand: one of the case's allocations, and bytes from its start. */
export interface Place {
  readonly buffer: number;
  readonly byteOffset: number;
}

/** One operand of a planned `run`, without its place. */
export interface PlannedOperand {
  readonly name: string;
  readonly dtype: DType;
  /** Sizes of its own axes. */
  readonly shape: readonly number[];
  /** Elements from one index to the next, one per axis. */
  readonly strides: readonly number[];
  /** True if the call says the strides, or leaves them out as the default. */
  readonly saysStrides: boolean;
  readonly isOutput: boolean;
  /** True if it is read or written by index, so that the call says its shape. */
  readonly isGather: boolean;
  /** The element at each distance from the first, as bits; those in gaps mean nothing. Undefined for an output that is written whole. */
  readonly bits?: Uint32Array;
}

/** A call of `run` as data: what runs, on what, and where everything lies. */
export interface RunPlan {
  readonly kernel: Kernel;
  readonly shape: readonly number[];
  readonly folded: number;
  /** The operands in the order of the kernel's inputs, then of its outputs. */
  readonly operands: readonly PlannedOperand[];
  /** The places of the operands, in their order. */
  readonly places: readonly Place[];
  readonly params: Readonly<Record<string, number>>;
}

/** Parameters of run, with the value that each has where an id leaves it out. */
export const RUN_DEFAULTS = {
  /** The name of a kernel that is written out, or an operation; empty for a drawn graph. */
  kernel: '',
  /** Type of the operands where the kernel is made for one. */
  type: 'f32',
  shape: [] as readonly number[],
  /** The number of last axes that are folded. */
  folded: 0,
  /** The contents of the inputs. */
  data: 'small',
  /** The layout of the operands in memory: a kind of view, or `mixed`. */
  views: 'dense',
  /** Element type in memory: `own`, a dtype for all operands that can have it, or `mixed`. */
  dtype: 'own',
  /** The position of the operands relative to each other. */
  place: 'separate',
  /** Elements by which operands are moved off the alignment of their allocation. */
  offset: 0,
  /** The style of a drawn graph: `float` or `exact`. */
  style: 'float',
  /** The mode in which the first output of a drawn graph is written by index; empty: it is not. */
  scatter: '',
  /**
   * The scan of the first output of a drawn graph, such as `sum`, `exclusive sum` or `reverse max`; empty: it is not
   * scanned.
   */
  scan: '',
  /** The steps of a drawn graph that are stored. */
  roots: [] as readonly number[],
  seed: 0,
};

/** Parameters of run. */
export type RunParams = Readonly<typeof RUN_DEFAULTS>;

/** `float`: functions with roundings; `exact`: integers, bits, truths and whole float32 numbers, judged to the bit. */
export type GraphStyle = 'float' | 'exact';

/** One value of a drawn graph; operands are numbers of earlier steps. */
export interface Step {
  readonly kind:
    | 'constant'
    | 'parameter'
    | 'input'
    | 'index'
    | 'rowIndex'
    | 'extent'
    | 'arithmetic'
    | 'fold'
    | 'gather';
  readonly type: ValueType;
  readonly level: Level;
  readonly operands: readonly number[];
  readonly op?: NodeOp | FoldOp;
  readonly name?: string;
  /** A constant, or an axis, which is taken modulo the number of axes. */
  readonly value?: number;
  /** The range of a float32. */
  readonly range: Range;
  /** True if its value has no rounding error. */
  readonly isExact: boolean;
}

/** The call of a plan; with `ptrOf` null, with null pointers. */
export function callOf(plan: RunPlan, ptrOf: (operand: number) => DevicePtr): RunCall {
  const { shape, folded, operands, params } = plan;
  const entries = operands.map((operand, index) => [operand.name, operandOf(plan, operand, ptrOf(index))] as const);
  const inputs = entries.filter((_, index) => operands[index]?.isOutput === false);
  const outputs = entries.filter((_, index) => operands[index]?.isOutput === true);
  return {
    shape,
    ...(folded === 0 ? {} : { folded }),
    ...(inputs.length === 0 ? {} : { inputs: Object.fromEntries(inputs) }),
    outputs: Object.fromEntries(outputs),
    ...(Object.keys(params).length === 0 ? {} : { params }),
  } as RunCall;
}

/** The call of a plan as `supports` and `prepare` take it: the kernel beside it, no pointers, no parameters. */
export function shapeOf(plan: RunPlan): RunShape {
  const { shape, folded, inputs, outputs } = callOf(plan, () => NULL_PTR);
  return {
    kernel: plan.kernel,
    shape,
    ...(folded === undefined ? {} : { folded }),
    ...(inputs === undefined ? {} : { inputs: viewsOf(inputs) }),
    outputs: viewsOf(outputs),
  };
}

function viewsOf(operands: Readonly<Record<string, number | RunOperand>>): Record<string, RunView> {
  const views = Object.entries(operands).flatMap(([name, value]) => {
    if (typeof value === 'number') return [];
    const { ptr: _, ...view } = value;
    return [[name, view]];
  });
  return Object.fromEntries(views) as Record<string, RunView>;
}

/** A pointer where the operand is dense in its own type, else a view. */
function operandOf(plan: RunPlan, operand: PlannedOperand, ptr: DevicePtr): unknown {
  const { dtype, shape, strides, saysStrides, isGather } = operand;
  const isOwn = dtype === typeOf(plan, operand.name);
  if (isOwn && !saysStrides && !isGather) return ptr;
  return {
    ptr,
    ...(isGather ? { shape } : {}),
    ...(saysStrides ? { strides } : {}),
    ...(isOwn ? {} : { dtype }),
  };
}

function typeOf({ kernel }: RunPlan, name: string): DType | undefined {
  return [...kernel.inputs, ...kernel.outputs].find((operand) => operand.name === name)?.type;
}

/** The parts of a plan. */
export interface PlanRequest {
  /** The random numbers of each aspect and operand start from it: one aspect can change and the others stay. */
  readonly seed: string;
  readonly kernel: Kernel;
  readonly shape: readonly number[];
  /** Ignored where the kernel has no rows. */
  readonly folded: number;
  readonly place: PlaceKind;
  /** Elements by which every operand is moved away from the alignment of its allocation. */
  readonly offset: number;
  readonly params: Readonly<Record<string, number>>;
  dataOf(operand: Pick<KernelInput, 'name' | 'type'> & { readonly access: RunLayout['access'] }): DataKind;
  dtypeOf(operand: KernelInput | KernelOutput): DType;
  viewOf(operand: KernelInput | KernelOutput): ViewKind;
  /** Sizes of the axes of what is read or written by index. */
  gatherShapeOf(operand: { readonly name: string; readonly rank: number }): readonly number[];
}

/** Lays a call of a kernel out and fills its inputs. */
export function makePlan(request: PlanRequest): RunPlan {
  const { kernel, shape, place, offset, params } = request;
  const folded = kernel.hasRows ? request.folded : 0;
  const domain = { shape, rowShape: shape.slice(0, shape.length - folded) };
  const inputs = kernel.inputs.map((input) => laidOutInput(request, domain, input));
  const outputs = kernel.outputs.map((output) => laidOutOutput(request, domain, output));
  const { operands, places } = placeOperands([...inputs, ...outputs], levelsOf(kernel), place, offset);
  const rowLength = folded === 0 ? sizeOf(shape) : sizeOf(shape.slice(domain.rowShape.length));
  const filled = operands.map((operand, index) => {
    const output = kernel.outputs[index - inputs.length];
    if (output !== undefined && output.scatter === undefined) return operand;
    const own = kernel.inputs[index] ?? { ...(output as KernelOutput), access: 'scatter' as const };
    return { ...operand, bits: drawContents(request, own, index, operand, rowLength) };
  });
  return { kernel, shape, folded, operands: shareBits(filled, places), places, params };
}

interface Domain {
  readonly shape: readonly number[];
  readonly rowShape: readonly number[];
}

function laidOutInput(request: PlanRequest, domain: Domain, input: KernelInput): PlannedOperand {
  const isGather = input.access === 'gather';
  const shape = isGather ? request.gatherShapeOf(input) : input.access === 'row' ? domain.rowShape : domain.shape;
  // What an output takes the place of has each element once.
  const isStored = request.kernel.outputs.some(({ name }) => name === input.name);
  return { ...laidOut(request, input, shape, isStored), isOutput: false, isGather };
}

function laidOutOutput(request: PlanRequest, { shape, rowShape }: Domain, output: KernelOutput): PlannedOperand {
  const { name, level, scatter } = output;
  if (scatter !== undefined) {
    const own = request.gatherShapeOf({ name, rank: scatter.indices.length });
    return { ...laidOut(request, output, own, true), isOutput: true, isGather: true };
  }
  return { ...laidOut(request, output, level === 'row' ? rowShape : shape, true), isOutput: true, isGather: false };
}

function laidOut(
  request: PlanRequest,
  operand: KernelInput | KernelOutput,
  shape: readonly number[],
  isOutput: boolean,
): Omit<PlannedOperand, 'isOutput' | 'isGather'> {
  const kind = request.viewOf(operand);
  const strides = drawStrides(new Random(`${request.seed} view ${operand.name}`), kind, shape, isOutput);
  return { name: operand.name, dtype: request.dtypeOf(operand), shape, strides, saysStrides: kind !== 'dense' };
}

function levelsOf({ inputs, outputs }: Kernel): readonly string[] {
  return [
    ...inputs.map(({ access, type }) => `${access} ${type}`),
    ...outputs.map(({ level, type, scatter }) => `${scatter === undefined ? level : 'scatter'} ${type}`),
  ];
}

/** The bits of an operand by distance: an element that is repeated is drawn once. */
function drawContents(
  request: PlanRequest,
  input: Parameters<PlanRequest['dataOf']>[0],
  index: number,
  { dtype, shape, strides }: PlannedOperand,
  rowLength: number,
): Uint32Array {
  const kind = request.dataOf(input);
  const random = new Random(`${request.seed} data ${input.name}`);
  const draw = drawBits(random, { kind, type: input.type, dtype, operand: index, rowLength });
  const bits = new Uint32Array(extentOf(shape, strides));
  const isDrawn = new Uint8Array(bits.length);
  eachElement(shape, strides, (element, distance) => {
    if (isDrawn[distance] === 1) return;
    isDrawn[distance] = 1;
    bits[distance] = draw(element);
  });
  return bits;
}

/** Inputs at one address hold the same. */
function shareBits(operands: readonly PlannedOperand[], places: RunPlan['places']): PlannedOperand[] {
  return operands.map((operand, index) => {
    const { buffer, byteOffset } = places[index] as RunPlan['places'][number];
    // Operands of no elements may begin where another does.
    const first = places.findIndex(
      (other, at) =>
        other.buffer === buffer &&
        other.byteOffset === byteOffset &&
        operands[at]?.bits?.length === operand.bits?.length,
    );
    const bits = operands[first]?.bits;
    return operand.isOutput || bits === undefined ? operand : { ...operand, bits };
  });
}

/**
 * Runs a plan and compares its outputs with the oracle.
 *
 * @throws {CaseFailure} where they leave what they may hold, or anything else was written
 * @throws {UnsupportedCall} where the backend declares that it cannot run it, and stands by it
 */
export async function checkPlan(context: CaseContext, plan: RunPlan, when = ''): Promise<RunResult> {
  const { backend } = context;
  const result = await runPlan(backend, plan);
  const expected = expectedOf(plan, backend.capabilities.numerics.f32Subnormals);
  note(context, expected);
  judge(plan, expected, result, when);
  return result;
}

/** Runs a plan in its own memory. */
export async function runPlan(backend: ComputeBackend, plan: RunPlan): Promise<RunResult> {
  const memory = new RunMemory(backend, plan);
  try {
    memory.upload();
    callRun(backend, plan, memory);
    return await memory.download();
  } finally {
    memory.free();
  }
}

/**
 * Makes the call of a plan, after asking whether it is supported.
 *
 * @throws {UnsupportedCall} where it is not and the call says so too
 * @throws {CaseFailure} where the answer and the call disagree
 */
export function callRun(backend: ComputeBackend, plan: RunPlan, memory: RunMemory): void {
  const support = backend.supports('run', shapeOf(plan));
  const call = (): void =>
    backend.run(
      plan.kernel,
      callOf(plan, (operand) => memory.ptrOf(operand)),
    );
  if (support.ok) {
    call();
    return;
  }
  expectUnsupported(`run of kernel ${plan.kernel.name}`, support.reason, call);
}

/**
 * Sees that a call which `supports` refuses is refused.
 *
 * @throws {UnsupportedCall} where it is
 * @throws {CaseFailure} where it is accepted, throws another error, or no reason was given
 */
export function expectUnsupported(what: string, reason: string, call: () => void): never {
  if (reason === '') throw new CaseFailure(`${what} is unsupported without a reason`);
  try {
    call();
  } catch (error) {
    if (isBackendError(error, 'UNSUPPORTED')) throw new UnsupportedCall(reason);
    throw new CaseFailure(`declared unsupported ("${reason}"), but the call threw ${String(error)}`);
  }
  throw new CaseFailure(`declared unsupported ("${reason}"), but the call was accepted`);
}
