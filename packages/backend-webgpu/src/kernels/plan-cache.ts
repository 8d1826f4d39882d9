import {
  type CheckedAttention,
  type CheckedRun,
  type KernelCall,
  type Launch,
  ListCache,
  type ListKey,
} from '@concord/backend-core/implement';
import { PlanCache as CacheByCall, withFakeOperands } from '@concord/variants';
import { type Growing, growing } from './attention/growing.ts';
import { fakeSpan, type LaunchPlan, planOp } from './launch-plan.ts';
import type { DeviceTraits, Span, StorageBuffer } from './recorder.ts';
import { paramWordsOf } from './run/params.ts';

/** Plans look at where an operand begins only to see how it is aligned, and no binding wants more than this. */
const MAX_ALIGNMENT = 256;

/** Calls over caches that grow, of each of two generations. */
const MAX_GROWN = 256;

/** A plan, and the words of the parameters that a call gives it, if it has any. */
interface PlanWithParams {
  readonly plan: LaunchPlan;
  readonly params: Uint32Array | undefined;
}

/** The plans of one device, by call. */
export class PlanCache extends CacheByCall<StorageBuffer, LaunchPlan> {
  readonly #traits: DeviceTraits;
  readonly #grownCalls = new ListCache<CheckedAttention>(MAX_GROWN);

  constructor(traits: DeviceTraits) {
    super({
      traits,
      alignment: MAX_ALIGNMENT,
      plan: (op, operands) => planOp(op, operands, traits),
      fakeOperand: fakeSpan,
    });
    this.#traits = traits;
  }

  /** Calls over a cache that grows share their plan, which `params` belong to. */
  withParams(launch: Launch<StorageBuffer>): PlanWithParams {
    const grown = this.#grown(launch);
    if (grown === undefined) return { plan: this.of(launch), params: paramWordsOf(launch) };
    const { call, params } = grown;
    return { plan: this.of({ ...launch, kernel: 'attention', call, operands: inputsApart(launch.operands) }), params };
  }

  override ofShape(op: KernelCall): LaunchPlan {
    const grown = this.#grown(op);
    return super.ofShape(grown === undefined ? op : { kernel: 'attention', call: grown.call });
  }

  /** The call that stands for one over a cache that grows: the same object for all that have its plan. */
  #grown(op: KernelCall): Growing<CheckedAttention> | undefined {
    if (op.kernel !== 'attention') return undefined;
    const grown = growing(op.call, this.#traits);
    if (grown === undefined) return undefined;
    const key = keyOf(grown.call);
    const call = this.#grownCalls.get(key) ?? grown.call;
    if (call === grown.call) this.#grownCalls.add(key, call);
    return { call, params: grown.params };
  }

  /** The plans of a call without operands: for operands in their own allocations, and in place where that may be. */
  ofPlaces(op: KernelCall): readonly LaunchPlan[] {
    const apart = this.ofShape(op);
    const call = op.kernel === 'run' ? inPlace(op.call) : undefined;
    return call === undefined ? [apart] : [apart, this.of(call)];
  }
}

/** Memory that stands for that of inputs. */
const STAND_INS: readonly StorageBuffer[] = [0, 1, 2, 3].map(() => fakeSpan(4).buffer);

/**
 * Operands, the output last, as for a plan that does not ask where inputs lie to each other: those that share memory with each
 * other, and not with the output, are read only. So queries may move along a cache that they lie in.
 */
function inputsApart(operands: readonly Span[]): readonly Span[] {
  const buffers = operands.map(({ buffer }) => buffer);
  const shares = new Set(buffers).size < buffers.length;
  const last = operands.length - 1;
  if (!shares || buffers.indexOf(buffers[last] as StorageBuffer) < last) return operands;
  return operands.map((operand, index) => {
    const buffer = STAND_INS[index];
    if (index === last || buffer === undefined) return operand;
    return { ...operand, buffer, byteOffset: operand.byteOffset % MAX_ALIGNMENT };
  });
}

/** A call whose outputs are in the places of inputs that lie as they do; undefined where none does. */
function inPlace(geometry: CheckedRun): Launch<StorageBuffer> | undefined {
  const mates = geometry.outputs.map(({ access, dtype, strides }) =>
    geometry.inputs.findIndex(
      (input) =>
        access === 'element' &&
        input.access === 'element' &&
        input.dtype === dtype &&
        input.strides.every((stride, axis) => stride === strides[axis]),
    ),
  );
  const firsts = mates.map((mate, output) => (mate >= 0 && mates.indexOf(mate) === output ? mate : -1));
  if (firsts.every((mate) => mate < 0)) return undefined;
  return withFakeOperands({ kernel: 'run', call: geometry, inPlaceOf: firsts }, fakeSpan);
}

/** The facts that the plan of a call depends on, besides the layout of its operands. */
function keyOf(call: CheckedAttention): ListKey {
  const key: unknown[] = [];
  for (const [name, value] of Object.entries(call)) {
    if (name === 'operands') continue;
    if (Array.isArray(value)) key.push(value.length, ...(value as number[]));
    else key.push(value);
  }
  return key;
}
