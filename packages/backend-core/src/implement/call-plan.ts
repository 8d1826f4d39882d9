import type { OpName } from '../contract/capabilities.ts';
import { BYTES_OF } from '../contract/element-types.ts';
import type { BackendError } from '../errors/backend-error.ts';
import { invalid } from '../errors/invalid.ts';
import { areDistinct, isAlike } from '../kernel/check-run.ts';
import type { CheckedRun, RunLayout } from '../kernel/checked-run.ts';
import { type DefinedOp, OPS } from '../ops/index.ts';
import type { CheckedCall, OpDefinition } from '../ops/op-definition.ts';
import type { AllocationTable } from './allocation-table.ts';
import type { CheckedEpilogue } from '../ops/epilogue.ts';
import type { KernelCall, Launch } from './backend-kernels.ts';
import type { LoweredStep } from './lower-call.ts';
import type { Operand } from './operand.ts';
import type { Use } from './recording-slots.ts';

/**
 * All that calls have in common which differ in nothing but addresses and parameters, checked once: the rules of their
 * operands, and the kernels that they run.
 */
export interface CallPlan {
  readonly opName: OpName;
  readonly operands: readonly PlannedOperand[];
  readonly steps: readonly PlannedStep[];
  /** The scalars of the op as the plan was made with them: those of a call that does not give its own. */
  readonly scalars: readonly number[];
}

/** One operand of the calls of a plan. */
interface PlannedOperand {
  /** As messages call it. */
  readonly name: string;
  /** Which of the addresses of a call is its own. */
  readonly from: number;
  /** From the first byte to the last; 0: it is not looked at. */
  readonly bytes: number;
  readonly alignment: number;
  readonly isOutput: boolean;
  /** The operand that it must be in the place of; -1: none. */
  readonly inPlaceOf: number;
  /** Names of what it may be in the place of. */
  readonly mayAlias: readonly string[];
  /** Of an operand of `run`: views may lie between each other, and an output in the place of what it is computed from. */
  readonly layout?: RunLayout;
}

/** One kernel that the calls of a plan run. */
interface PlannedStep {
  readonly kernelCall: KernelCall;
  /** Which of the operands of the plan it gets, those without elements left out; undefined: all of them, which all have some. */
  readonly operands: readonly number[] | undefined;
  /** What it gets of the parameters of the call; undefined: all of them. */
  readonly params: StepParams | undefined;
}

interface StepParams {
  readonly ofEpilogue: boolean;
  /** Which of the scalars come after those; -1: a 0. */
  readonly scalars: readonly number[];
}

const NONE: readonly string[] = [];
const NO_NUMBERS: readonly number[] = [];

/**
 * The plan of a named op.
 *
 * @param checked - null where there is nothing to do
 * @param pointers - names of the addresses that calls give
 */
export function planOp(
  opName: DefinedOp,
  checked: CheckedCall | null,
  steps: readonly LoweredStep[],
  pointers: readonly string[],
): CallPlan {
  if (checked === null) return { opName, operands: [], steps: [], scalars: NO_NUMBERS };
  const operands = checked.operands.map(
    ({ name, elements, dtype, output = false, mayAlias = NONE }): PlannedOperand => {
      const alignment = BYTES_OF[dtype];
      return {
        name,
        from: pointers.indexOf(name),
        bytes: elements * alignment,
        alignment,
        isOutput: output,
        inPlaceOf: -1,
        mayAlias,
      };
    },
  );
  const indexOf = (name: string): number => operands.findIndex((operand) => operand.name === name);
  const names = Object.keys((OPS[opName] as OpDefinition<object, CheckedCall>).scalars ?? {});
  const scalars = names.map((name) => (checked as unknown as Readonly<Record<string, number>>)[name] as number);
  return { opName, operands, steps: steps.map((step) => plannedStep(step, operands, indexOf, names)), scalars };
}

/** The plan of a `run`, whose addresses are those of the inputs, then of the outputs. */
export function planRun(geometry: CheckedRun): CallPlan {
  const { inputs, outputs } = geometry;
  const operands = [...inputs, ...outputs].map((layout, from): PlannedOperand => {
    const { dtype, extent, name } = layout;
    const isOutput = from >= inputs.length;
    const alignment = BYTES_OF[dtype];
    const bytes = extent * alignment;
    return {
      name: `${isOutput ? 'outputs' : 'inputs'}.${name}`,
      from,
      bytes,
      alignment,
      isOutput,
      inPlaceOf: isOutput ? inputs.findIndex((input) => input.name === name) : -1,
      mayAlias: NONE,
      layout,
    };
  });
  // What is written by index has elements even where there is no point.
  const pointsOf = (index: number): number =>
    geometry.kernel.outputs[index]?.level === 'row' ? geometry.rowCount : geometry.rowCount * geometry.rowLength;
  const storesAnything = outputs.some(({ extent }, index) => extent > 0 && pointsOf(index) > 0);
  const given = operands.flatMap(({ bytes }, index) => (bytes > 0 ? [index] : []));
  const step = {
    kernelCall: { kernel: 'run' as const, call: geometry },
    operands: given.length === operands.length ? undefined : given,
    params: undefined,
  };
  const none = { opName: 'run', operands: [], steps: [], scalars: NO_NUMBERS } as const;
  return storesAnything ? { ...none, operands, steps: [step] } : none;
}

function plannedStep(
  step: LoweredStep,
  operands: readonly PlannedOperand[],
  indexOf: (name: string) => number,
  scalars: readonly string[],
): PlannedStep {
  const names = step.kernel === 'run' ? [...step.inputs, ...step.outputs] : step.call.operands.map(({ name }) => name);
  const own = names.map(indexOf).filter((index) => (operands[index]?.bytes ?? 0) > 0);
  const isAll = own.length === operands.length && own.every((index, at) => index === at);
  const { kernel, call } = step;
  return {
    kernelCall: kernel === 'run' ? { kernel, call, inPlaceOf: step.inPlaceOf } : ({ kernel, call } as KernelCall),
    operands: isAll ? undefined : own,
    params: paramsOf(step, scalars),
  };
}

function paramsOf(step: LoweredStep, names: readonly string[]): StepParams | undefined {
  if (names.length === 0) return undefined;
  const ofEpilogue = step.kernel === 'run' || (step.call as { epilogue?: CheckedEpilogue }).epilogue !== undefined;
  const scalars = (step.scalars ?? names).map((each) => (typeof each === 'number' ? -1 : names.indexOf(each)));
  const areAll = scalars.length === names.length && scalars.every((each, index) => each === index);
  // What goes before them, it does not look at.
  return areAll ? undefined : { ofEpilogue, scalars };
}

/**
 * The last checks of a call, in this order: alignment, pointers and extents, overlap.
 *
 * @param pointers - the addresses that the call gives
 * @returns the native operands; undefined for those without elements
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function resolveOperands<Buffer>(
  table: AllocationTable<Buffer>,
  { operands }: CallPlan,
  pointers: readonly (number | undefined)[],
): readonly (Operand<Buffer> | undefined)[] {
  const count = operands.length;
  for (let index = 0; index < count; index++) {
    const { from, bytes, alignment } = operands[index] as PlannedOperand;
    const address = pointers[from] as number;
    if (bytes > 0 && address % alignment !== 0) throw misaligned(table, operands[index] as PlannedOperand, address);
  }
  const resolved: (Operand<Buffer> | undefined)[] = [];
  for (let index = 0; index < count; index++) {
    const { name, from, bytes } = operands[index] as PlannedOperand;
    resolved.push(bytes === 0 ? undefined : table.resolve(name, pointers[from] as number, bytes));
  }
  for (let index = 0; index < count; index++) {
    const output = operands[index] as PlannedOperand;
    if (!output.isOutput || output.bytes === 0) continue;
    const start = pointers[output.from] as number;
    for (let at = 0; at < count; at++) {
      const other = operands[at] as PlannedOperand;
      // Of two outputs of a kernel it is the second that is in the way.
      if (at === index || other.bytes === 0 || (at > index && other.layout !== undefined)) continue;
      const distance = (pointers[other.from] as number) - start;
      if (output.inPlaceOf === at && distance !== 0) {
        throw invalid(`${output.name} must be where ${other.name} is, whose name it has`);
      }
      if (distance >= output.bytes || -distance >= other.bytes) continue;
      if (mayTouch(output, other, distance)) continue;
      throw invalid(`${output.name} overlaps ${other.name}${table.placeOf(start)}`);
    }
  }
  return resolved;
}

function misaligned(
  table: AllocationTable<unknown>,
  { name, alignment }: PlannedOperand,
  address: number,
): BackendError {
  return invalid(`${name} must be aligned to ${alignment} bytes, got address ${address}${table.placeOf(address)}`);
}

/** The memory that a call uses. */
export function usesOf<Buffer>(
  { operands }: CallPlan,
  resolved: readonly (Operand<Buffer> | undefined)[],
): readonly Use<Buffer>[] {
  return operands.flatMap(({ alignment, isOutput }, index) => {
    const operand = resolved[index];
    return operand === undefined ? [] : [{ ...operand, alignment, isWritten: isOutput }];
  });
}

/** The launch of a step with the operands and parameters of a call. */
export function launchOf<Buffer>(
  { opName, scalars }: CallPlan,
  { kernelCall, operands, params: wanted }: PlannedStep,
  resolved: readonly (Operand<Buffer> | undefined)[],
  params: readonly number[],
): Launch<Buffer> {
  return {
    kernel: kernelCall.kernel,
    call: kernelCall.call,
    opName,
    operands: operands === undefined ? resolved : operands.map((index) => resolved[index]),
    params: wanted === undefined ? params : someParams(params, params.length - scalars.length, wanted),
  } as Launch<Buffer>;
}

function someParams(params: readonly number[], first: number, { ofEpilogue, scalars }: StepParams): readonly number[] {
  const own = ofEpilogue ? params.slice(0, first) : [];
  for (const index of scalars) own.push(index < 0 ? 0 : (params[first + index] as number));
  return own;
}

/**
 * All parameters of a call.
 *
 * @param params - of its epilogue or kernel
 * @param given - its own scalars; undefined for those of the plan
 */
export function withScalars(
  { scalars }: CallPlan,
  params: readonly number[],
  given: readonly (number | undefined)[],
): readonly number[] {
  if (scalars.length === 0) return params;
  let all: number[] | undefined = params.length === 0 ? undefined : [...params, ...scalars];
  for (let index = 0; index < given.length; index++) {
    const scalar = given[index];
    if (scalar === undefined) continue;
    all ??= [...scalars];
    all[params.length + index] = scalar;
  }
  return all ?? scalars;
}

/** Returns whether two operands whose bytes overlap, the second `distance` bytes after the first, may do so. */
function mayTouch(output: PlannedOperand, other: PlannedOperand, distance: number): boolean {
  const [a, b] = [output.layout, other.layout];
  if (a === undefined || b === undefined) return distance === 0 && output.mayAlias.includes(other.name);
  if (a.access === 'scatter' || b.access === 'scatter' || !isAlike(a, b)) return false;
  // All of an element is read before it is stored, so that an output may take the place of what it is computed from.
  if (distance === 0) return !other.isOutput && a.access === 'element' && b.access === 'element';
  // Interleaved views: one more axis of two indices, as far apart as they are.
  return areDistinct([...a.shape, 2], [...a.strides, Math.abs(distance) / BYTES_OF[a.dtype]]);
}
