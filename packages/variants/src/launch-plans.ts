import {
  BYTES_OF,
  type CheckedRun,
  type KernelCall,
  type Launch,
  ListCache,
  type ListKey,
  type Operand,
  type ResolvedCall,
  resolvedCall,
  type RunLayout,
} from '@concord/backend-core/implement';
import type { AnyFamily, Canonical, Families } from './family.ts';
import type { LaunchPlan } from './launch-plan.ts';
import type { VariantChooser, VariantPreferences } from './variant-choice.ts';

/** The planning of a backend, for any of its devices. */
export interface Planning<Buffer, Plan extends LaunchPlan, Recorder extends VariantChooser, Kernel> {
  readonly families: Families<Buffer, Recorder, Kernel>;
  /**
   * Plans look at where an operand begins only to see how it is aligned, and none asks for more than this: bytes. 1 where they
   * do not look at all.
   */
  readonly alignment: number;
  /** Plans a call with these operands for a device. */
  readonly plan: (call: ResolvedCall<Buffer>, operands: readonly Operand<Buffer>[], traits: Recorder['traits']) => Plan;
  /** A span that stands for a separate allocation. */
  readonly fakeOperand: (byteLength: number) => Operand<Buffer>;
}

/** Plans of one call: operands that lie in ever new ways are planned anew. */
const MAX_PLANS = 128;
/** Larger plans are made anew: planning is little of their time. */
const MAX_STEPS = 256;
/** Canonical calls in each of two generations. */
const MAX_CANONICAL = 256;

/** A plan, and how the operands lie that it is for. */
interface KnownPlan<Plan> {
  /** The start of each operand, modulo the alignment: in the first that shares its memory, or from that one on. */
  readonly places: readonly number[];
  /** The first operand in the memory of each. */
  readonly firsts: readonly number[];
  readonly plan: Plan;
}

/** The plans of a call; see {@link LaunchPlans.ofCall}. */
export interface CallPlans<Plan> {
  /** The call that is planned. */
  readonly call: KernelCall['call'];
  /** The values that go before the parameters of a launch, if another call is planned in its place. */
  readonly params: readonly number[] | undefined;
  /** Shared by all calls that are planned alike. */
  readonly known: KnownPlan<Plan>[];
}

/**
 * The plans of one device, by call: programs make the same calls again and again, and planning takes longer than
 * recording. A plan depends on the shape and on how the operands lie, not on where: on their alignment, and on the
 * distance between those in one buffer.
 */
export class LaunchPlans<Buffer, Plan extends LaunchPlan, Recorder extends VariantChooser, Kernel> {
  readonly #planning: Planning<Buffer, Plan, Recorder, Kernel>;
  /** The device's; its preferences are looked at before each use. */
  readonly #traits: Recorder['traits'];
  /** Calls that are alike share an object, and live as long as somebody makes them. */
  #calls = new WeakMap<object, CallPlans<Plan>>();
  #canonical = new ListCache<KnownPlan<Plan>[]>(MAX_CANONICAL);
  #preferences: VariantPreferences | undefined;
  /** Every variant that could have run. */
  readonly candidates: Set<string> = new Set();

  constructor(planning: Planning<Buffer, Plan, Recorder, Kernel>, traits: Recorder['traits']) {
    this.#planning = planning;
    this.#traits = traits;
  }

  /** The plans of a launch's call, for {@link LaunchPlans.find}: two steps, so that a launch makes no object. */
  ofCall(launch: KernelCall): CallPlans<Plan> {
    this.#forgetOtherPreferences();
    return this.#calls.get(launch.call) ?? this.#addCall(launch);
  }

  /** The plan of those of its call that is for its operands. Errors as those of planning. */
  find(plans: CallPlans<Plan>, launch: Launch<Buffer>): Plan {
    const { known } = plans;
    const { operands } = launch;
    const { alignment } = this.#planning;
    const isSpread = plans.params !== undefined && isLastAlone(operands);
    for (let index = 0; index < known.length; index++) {
      const each = known[index] as KnownPlan<Plan>;
      if (liesAlike(each, operands, alignment, isSpread)) return each.plan;
    }
    return this.#add(plans, launch, isSpread);
  }

  /** The plan of a call with its operands. Errors as those of planning. */
  of(launch: Launch<Buffer>): Plan {
    return this.find(this.ofCall(launch), launch);
  }

  /** The plan of a call without operands, as for operands in their own allocations. Errors as those of planning. */
  ofShape(op: KernelCall): Plan {
    return this.of(withFakeOperands(op, this.#planning.fakeOperand));
  }

  /** The plans of a call without operands: for operands in their own allocations, and in place where that may be. */
  ofPlaces(op: KernelCall): readonly Plan[] {
    const apart = this.ofShape(op);
    const inPlaceOf = op.kernel === 'run' ? inPlaceInputs(op.call) : undefined;
    return inPlaceOf === undefined ? [apart] : [apart, this.ofShape({ ...op, inPlaceOf } as KernelCall)];
  }

  #addCall(launch: KernelCall): CallPlans<Plan> {
    const { kernel, call } = launch;
    const family = this.#planning.families[kernel] as AnyFamily<Recorder, Kernel> | undefined;
    const canonical = family?.canonical?.(call, this.#traits);
    const plans = canonical === undefined ? { call, params: undefined, known: [] } : this.#sharing(canonical);
    this.#calls.set(call, plans);
    return plans;
  }

  #sharing({ call, params }: Canonical<KernelCall['call']>): CallPlans<Plan> {
    const key = keyOf(call);
    let known = this.#canonical.get(key);
    if (known === undefined) {
      known = [];
      this.#canonical.add(key, known);
    }
    return { call, params, known };
  }

  #add({ call, known }: CallPlans<Plan>, launch: Launch<Buffer>, isSpread: boolean): Plan {
    const { alignment, fakeOperand } = this.#planning;
    const { operands } = launch;
    const planned = isSpread ? spread(operands, alignment, fakeOperand) : operands;
    const resolved = resolvedCall({ ...launch, call, operands: planned } as Launch<Buffer>);
    const plan = this.#planning.plan(resolved, planned, this.#traits);
    for (const { candidates } of plan.picks) for (const id of candidates) this.candidates.add(id);
    if (plan.steps.length > MAX_STEPS) return plan;
    const firsts = operands.map((_, index) => firstInBuffer(operands, index, isSpread));
    const places = operands.map((_, index) => placeOf(operands, index, firsts[index] as number, alignment));
    if (known.length >= MAX_PLANS) known.shift();
    known.push({ places, firsts, plan });
    return plan;
  }

  #forgetOtherPreferences(): void {
    const { preferences } = this.#traits;
    const known = this.#preferences;
    if (
      preferences?.forced === known?.forced &&
      preferences?.tuned === known?.tuned &&
      preferences?.excluded === known?.excluded
    ) {
      return;
    }
    this.#calls = new WeakMap();
    this.#canonical = new ListCache(MAX_CANONICAL);
    for (const id of preferences?.excluded?.keys() ?? []) this.candidates.delete(id);
    this.#preferences = preferences && { ...preferences };
  }
}

function liesAlike<Buffer>(
  { places, firsts }: KnownPlan<unknown>,
  operands: readonly Operand<Buffer>[],
  alignment: number,
  isSpread: boolean,
): boolean {
  // By index: one object may be two operands.
  for (let index = 0; index < operands.length; index++) {
    const first = firstInBuffer(operands, index, isSpread);
    if (first !== firsts[index] || placeOf(operands, index, first, alignment) !== places[index]) return false;
  }
  return true;
}

/** Index of the first operand in the buffer of one of them. */
function firstInBuffer<Buffer>(operands: readonly Operand<Buffer>[], index: number, isSpread: boolean): number {
  if (isSpread) return index;
  const { buffer } = operands[index] as Operand<Buffer>;
  let first = 0;
  while ((operands[first] as Operand<Buffer>).buffer !== buffer) first++;
  return first;
}

function placeOf<Buffer>(
  operands: readonly Operand<Buffer>[],
  index: number,
  first: number,
  alignment: number,
): number {
  const { byteOffset } = operands[index] as Operand<Buffer>;
  return first === index ? byteOffset % alignment : byteOffset - (operands[first] as Operand<Buffer>).byteOffset;
}

/** Returns whether the last operand, the output, shares its memory with no other. */
function isLastAlone<Buffer>(operands: readonly Operand<Buffer>[]): boolean {
  const last = operands.length - 1;
  return firstInBuffer(operands, last, false) === last;
}

/**
 * Operands as for a plan that does not ask where inputs lie to each other: those that share memory with each other, and not
 * with the output, are only read. So queries may move along a cache that they lie in.
 */
function spread<Buffer>(
  operands: readonly Operand<Buffer>[],
  alignment: number,
  fakeOperand: (byteLength: number) => Operand<Buffer>,
): readonly Operand<Buffer>[] {
  return operands.map((operand, index) =>
    index === operands.length - 1
      ? operand
      : { ...operand, buffer: fakeOperand(4).buffer, byteOffset: operand.byteOffset % alignment },
  );
}

/** The facts that the plan of a canonical call depends on, besides how its operands lie. */
function keyOf(call: object): ListKey {
  return Object.entries(call).flatMap(([name, value]) => {
    if (name === 'operands') return [];
    return Array.isArray(value) ? [value.length, ...(value as number[])] : [value];
  });
}

/** The index of the input that an output is computed in place of, as both have one name, or -1. */
function namesakeOf({ inputs }: CheckedRun, output: RunLayout): number {
  return inputs.findIndex(({ name }) => name === output.name);
}

/** The input that each output can be computed in place of, as both lie alike, or -1; undefined if no output has one. */
function inPlaceInputs(geometry: CheckedRun): readonly number[] | undefined {
  const own = geometry.outputs.map((output) => namesakeOf(geometry, output));
  const candidates = geometry.outputs.map(({ access, dtype, strides }, index) => {
    const namesake = own[index] as number;
    if (namesake >= 0) return namesake;
    return geometry.inputs.findIndex(
      (input, at) =>
        !own.includes(at) &&
        access === 'element' &&
        input.access === 'element' &&
        input.dtype === dtype &&
        input.strides.every((stride, axis) => stride === strides[axis]),
    );
  });
  const firsts = candidates.map((input, output) => (candidates.indexOf(input) === output ? input : -1));
  return firsts.every((input) => input < 0) ? undefined : firsts;
}

/** A call with operands that are not there: for planning, not for running. */
function withFakeOperands<Buffer>(
  op: KernelCall,
  fakeOperand: (byteLength: number) => Operand<Buffer>,
): Launch<Buffer> {
  const fake = (elements: number, dtype: RunLayout['dtype']): Operand<Buffer> | undefined =>
    elements === 0 ? undefined : fakeOperand(elements * BYTES_OF[dtype]);
  const given = (operand: Operand<Buffer> | undefined): operand is Operand<Buffer> => operand !== undefined;
  if (op.kernel !== 'run') {
    const operands = op.call.operands.map(({ elements, dtype }) => fake(elements, dtype)).filter(given);
    return { ...op, opName: op.kernel, operands, params: [] };
  }
  const { call, inPlaceOf } = op;
  const inputs = call.inputs.map(({ extent, dtype }) => fake(extent, dtype));
  const outputs = call.outputs.map((output, index) => {
    return inputs[inPlaceOf?.[index] ?? namesakeOf(call, output)] ?? fake(output.extent, output.dtype);
  });
  const operands = [...inputs, ...outputs].filter(given);
  return { ...op, opName: 'run', operands, params: call.kernel.params.map(() => 0) };
}
