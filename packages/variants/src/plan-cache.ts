import {
  type KernelCall,
  type Launch,
  type Operand,
  type ResolvedCall,
  resolvedCall,
} from '@concord/backend-core/implement';
import { withFakeOperands } from './operands.ts';
import type { VariantPick, VariantPreferences } from './variant-choice.ts';

/** The facts about plans that a {@link PlanCache} needs. */
export interface CacheablePlan {
  readonly steps: readonly unknown[];
  /** The choices between variants that it was made with. */
  readonly picks: readonly VariantPick[];
}

/** The planning of a backend. */
export interface PlanCacheOptions<Buffer, Plan extends CacheablePlan> {
  /** The device's; its preferences are looked at before each use. */
  readonly traits: { readonly preferences?: VariantPreferences | undefined };
  /**
   * Plans look at where an operand begins only to see how it is aligned, and none asks for more than this: bytes. 1 where they
   * do not look at all.
   */
  readonly alignment: number;
  /** Plans a call with these operands. */
  readonly plan: (call: ResolvedCall<Buffer>, operands: readonly Operand<Buffer>[]) => Plan;
  /** A span that stands for a separate allocation. */
  readonly fakeOperand: (byteLength: number) => Operand<Buffer>;
}

/** Of one call: operands that lie in ever new ways are planned anew. */
const MAX_PLANS = 128;
/** Larger plans are made anew: planning is little of their time. */
const MAX_STEPS = 64;

/** A plan, and how the operands lie that it is for. */
interface KnownPlan<Plan> {
  /** Of each operand, where it begins, modulo the alignment: in the first that shares its memory, or from that one on. */
  readonly places: readonly number[];
  /** Which operand is the first in the same memory. */
  readonly firsts: readonly number[];
  readonly plan: Plan;
}

/**
 * The plans of one device, by call: programs make the same calls again and again, and planning takes longer than
 * recording. A plan depends on the shape and on how the operands lie, not on where: on their alignment, and on the
 * distance between those in one buffer.
 */
export class PlanCache<Buffer, Plan extends CacheablePlan> {
  readonly #options: PlanCacheOptions<Buffer, Plan>;
  /** Calls that are alike share an object, and live as long as somebody makes them. */
  #plans = new WeakMap<object, KnownPlan<Plan>[]>();
  #preferences: VariantPreferences | undefined;
  /** Every variant that could have run. */
  readonly candidates: Set<string> = new Set();

  constructor(options: PlanCacheOptions<Buffer, Plan>) {
    this.#options = options;
  }

  /** The plan of a call with its operands. Errors as those of planning. */
  of(launch: Launch<Buffer>): Plan {
    return this.#find(launch) ?? this.#add(launch);
  }

  /** The plan of a call without operands, as for operands in their own allocations. Errors as those of planning. */
  ofShape(op: KernelCall): Plan {
    return this.of(withFakeOperands(op, this.#options.fakeOperand));
  }

  #find({ call, operands }: Launch<Buffer>): Plan | undefined {
    this.#forgetOtherPreferences();
    const known = this.#plans.get(call);
    if (known === undefined) return undefined;
    const { alignment } = this.#options;
    for (let index = 0; index < known.length; index++) {
      const each = known[index] as KnownPlan<Plan>;
      if (liesAlike(each, operands, alignment)) return each.plan;
    }
    return undefined;
  }

  #add(launch: Launch<Buffer>): Plan {
    const { operands } = launch;
    const { alignment, plan: make } = this.#options;
    const plan = make(resolvedCall(launch), operands);
    for (const { candidates } of plan.picks) for (const id of candidates) this.candidates.add(id);
    if (plan.steps.length > MAX_STEPS) return plan;
    const firsts = operands.map((_, index) => firstInBuffer(operands, index));
    const places = operands.map((_, index) => placeOf(operands, index, firsts[index] as number, alignment));
    const known = this.#plans.get(launch.call);
    if (known === undefined) this.#plans.set(launch.call, [{ places, firsts, plan }]);
    else {
      if (known.length >= MAX_PLANS) known.shift();
      known.push({ places, firsts, plan });
    }
    return plan;
  }

  #forgetOtherPreferences(): void {
    const { preferences } = this.#options.traits;
    const known = this.#preferences;
    if (
      preferences?.forced === known?.forced &&
      preferences?.tuned === known?.tuned &&
      preferences?.leftOut === known?.leftOut
    ) {
      return;
    }
    this.#plans = new WeakMap();
    for (const id of preferences?.leftOut?.keys() ?? []) this.candidates.delete(id);
    this.#preferences = preferences && { ...preferences };
  }
}

function liesAlike<Buffer>(
  { places, firsts }: KnownPlan<unknown>,
  operands: readonly Operand<Buffer>[],
  alignment: number,
): boolean {
  // By index: one object may be two operands.
  for (let index = 0; index < operands.length; index++) {
    const first = firstInBuffer(operands, index);
    if (first !== firsts[index] || placeOf(operands, index, first, alignment) !== places[index]) return false;
  }
  return true;
}

/** Index of the first operand in the buffer of one of them. */
function firstInBuffer<Buffer>(operands: readonly Operand<Buffer>[], index: number): number {
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
