import { type KernelCall, type Operand, operandsOf, type ResolvedCall } from '@concord/backend-core/implement';
import { ListMap } from './list-map.ts';
import { extentsOf, withFakeOperands } from './operands.ts';
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

/** Of each of two generations: a program that makes ever new calls does not drive out what others make again. */
const MAX_PLANS = 512;
/** Larger plans are made anew: planning is little of their time. */
const MAX_STEPS = 64;

type Key = (number | string | boolean)[];

/**
 * The plans of one device, by call: programs make the same calls again and again, and planning takes longer than
 * recording. A plan depends on the shape and on how the operands lie, not on where: on their alignment, and on the
 * distance between those in one buffer.
 */
export class PlanCache<Buffer, Plan extends CacheablePlan> {
  readonly #options: PlanCacheOptions<Buffer, Plan>;
  #plans = new ListMap<Plan>();
  #older = new ListMap<Plan>();
  #preferences: VariantPreferences | undefined;
  /** Every variant that could have run. */
  readonly candidates: Set<string> = new Set();

  constructor(options: PlanCacheOptions<Buffer, Plan>) {
    this.#options = options;
  }

  /** The plan of a call with these operands. Errors as those of planning. */
  of(op: ResolvedCall<Buffer>, operands: readonly Operand<Buffer>[]): Plan {
    const { alignment, plan } = this.#options;
    const key = keyOf(op);
    // By index: one object may be two operands.
    for (let index = 0; index < operands.length; index++) {
      const { buffer, byteOffset } = operands[index] as Operand<Buffer>;
      const first = firstInBuffer(buffer, operands);
      if (first === index) key.push(byteOffset % alignment);
      else key.push('with', first, byteOffset - (operands[first] as Operand<Buffer>).byteOffset);
    }
    return this.#find(key) ?? this.#add(key, plan(op, operands));
  }

  /** The plan of a call without operands, as for operands in their own allocations. Errors as those of planning. */
  ofShape(op: KernelCall): Plan {
    if (op.kernel === 'run' && op.inPlaceOf?.some((index) => index >= 0) === true) {
      const inPlace = withFakeOperands(op, this.#options.fakeOperand);
      return this.of(inPlace, operandsOf(inPlace));
    }
    const key = keyOf(op);
    for (const extent of extentsOf(op)) if (extent > 0) key.push(0);
    const known = this.#find(key);
    if (known !== undefined) return known;
    const call = withFakeOperands(op, this.#options.fakeOperand);
    return this.#add(key, this.#options.plan(call, operandsOf(call)));
  }

  #find(key: Key): Plan | undefined {
    this.#forgetOtherPreferences();
    const plan = this.#plans.get(key);
    if (plan !== undefined) return plan;
    const older = this.#older.get(key);
    if (older !== undefined) this.#keep(key, older);
    return older;
  }

  #keep(key: Key, plan: Plan): void {
    if (this.#plans.size >= MAX_PLANS) {
      this.#older = this.#plans;
      this.#plans = new ListMap();
    }
    this.#plans.add(key, plan);
  }

  #add(key: Key, plan: Plan): Plan {
    for (const { candidates } of plan.picks) for (const id of candidates) this.candidates.add(id);
    if (plan.steps.length <= MAX_STEPS) this.#keep(key, plan);
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
    this.#plans.clear();
    this.#older.clear();
    for (const id of preferences?.leftOut?.keys() ?? []) this.candidates.delete(id);
    this.#preferences = preferences && { ...preferences };
  }
}

/** The facts that the plan of a call depends on, besides the layout of its operands. */
function keyOf<Buffer>({ kernel, call }: KernelCall | ResolvedCall<Buffer>): Key {
  const key: Key = [kernel];
  if ('geometry' in call) return [kernel, call.geometry.id];
  if ('kernel' in call) return [kernel, call.id];
  if ('epilogue' in call && call.epilogue !== undefined) key.push(call.epilogue.geometry.id);
  for (const name in call) {
    const value = (call as unknown as Readonly<Record<string, unknown>>)[name];
    if (Array.isArray(value)) {
      if (name === 'operands') continue;
      key.push(value.length);
      for (const item of value as number[]) key.push(item);
    } else if (typeof value !== 'object' && name !== 'opName') {
      key.push(value as number | string | boolean);
    }
  }
  return key;
}

/** Index of the first operand in a buffer. */
function firstInBuffer<Buffer>(buffer: Buffer, operands: readonly Operand<Buffer>[]): number {
  let index = 0;
  while (operands[index]?.buffer !== buffer) index++;
  return index;
}
