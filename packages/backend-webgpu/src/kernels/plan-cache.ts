import type { CheckedOp } from '@concord/backend-core/implement';
import { ListMap } from '../list-map.ts';
import { type OpPlan, operandsOf, planOp, withFakeOperands } from './op-plan.ts';
import type { DeviceTraits, Span } from './recorder.ts';
import type { VariantPreferences } from './variant-choice.ts';

/** Of each of two generations: a program that makes ever new calls does not drive out what others make again. */
const MAX_PLANS = 512;
/** Larger plans are made anew: planning is little of their time. */
const MAX_STEPS = 64;
/** Plans look at where an operand begins only to see how it is aligned, and no binding wants more than this. */
const MOST_ALIGNMENT = 256;

type Key = (number | string | boolean)[];

/**
 * The plans of one device, by call: programs make the same calls again and again, and planning takes longer than
 * recording. A plan depends on the shape and on how the operands lie, not on where: on their alignment, and on the
 * distance between those in one buffer.
 */
export class PlanCache {
  readonly #traits: DeviceTraits;
  #plans = new ListMap<OpPlan>();
  #older = new ListMap<OpPlan>();
  #preferences: VariantPreferences | undefined;
  /** Every variant that could have run. */
  readonly candidates: Set<string> = new Set();

  constructor(traits: DeviceTraits) {
    this.#traits = traits;
  }

  /** The plan of a call with these operands. Errors as `planOp`. */
  of(op: CheckedOp, operands: readonly Span[]): OpPlan {
    const key = keyOf(op);
    for (const operand of operands) {
      const mate = firstInBuffer(operand, operands);
      if (mate === operand) key.push(operand.byteOffset % MOST_ALIGNMENT);
      else key.push('with', operands.indexOf(mate), operand.byteOffset - mate.byteOffset);
    }
    return this.#find(key) ?? this.#add(key, planOp(op, operands, this.#traits));
  }

  /** The plan of a call without operands, as for operands in allocations of their own. Errors as `planOp`. */
  ofShape(op: CheckedOp): OpPlan {
    const key = keyOf(op);
    for (const { elements } of op.call.operands) if (elements > 0) key.push(0);
    const known = this.#find(key);
    if (known !== undefined) return known;
    const call = withFakeOperands(op);
    return this.#add(key, planOp(call, operandsOf(call.call), this.#traits));
  }

  #find(key: Key): OpPlan | undefined {
    this.#forgetOtherPreferences();
    const plan = this.#plans.get(key);
    if (plan !== undefined) return plan;
    const older = this.#older.get(key);
    if (older !== undefined) this.#keep(key, older);
    return older;
  }

  #keep(key: Key, plan: OpPlan): void {
    if (this.#plans.size >= MAX_PLANS) {
      this.#older = this.#plans;
      this.#plans = new ListMap();
    }
    this.#plans.add(key, plan);
  }

  #add(key: Key, plan: OpPlan): OpPlan {
    for (const { candidates } of plan.picks) for (const id of candidates) this.candidates.add(id);
    if (plan.steps.length <= MAX_STEPS) this.#keep(key, plan);
    return plan;
  }

  #forgetOtherPreferences(): void {
    const { preferences } = this.#traits;
    if (preferences?.forced === this.#preferences?.forced && preferences?.tuned === this.#preferences?.tuned) return;
    this.#plans.clear();
    this.#older.clear();
    this.#preferences = preferences && { ...preferences };
  }
}

/** What the plan of a call depends on besides how its operands lie. */
function keyOf({ hook, call }: CheckedOp): Key {
  const key: Key = [hook];
  for (const name in call) {
    const value: unknown = call[name as keyof typeof call];
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

/** The first operand in the buffer of one of them: often itself. */
function firstInBuffer(operand: Span, operands: readonly Span[]): Span {
  for (const other of operands) if (other.buffer === operand.buffer) return other;
  return operand;
}
