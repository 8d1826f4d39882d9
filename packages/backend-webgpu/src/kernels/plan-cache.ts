import {
  BYTES_OF,
  type CheckedRun,
  type KernelCall,
  operandsOf,
  type ResolvedCall,
} from '@concord/backend-core/implement';
import { PlanCache as CacheByCall } from '@concord/variants';
import { growing } from './attention/growing.ts';
import { fakeSpan, type LaunchPlan, planOp } from './launch-plan.ts';
import type { DeviceTraits, Span, StorageBuffer } from './recorder.ts';
import { paramWordsOf } from './run/params.ts';

/** Plans look at where an operand begins only to see how it is aligned, and no binding wants more than this. */
const MAX_ALIGNMENT = 256;

/** A plan, and the words of the parameters that a call gives it, if it has any. */
interface PlanWithParams {
  readonly plan: LaunchPlan;
  readonly params: Uint32Array | undefined;
}

/** The plans of one device, by call. */
export class PlanCache extends CacheByCall<StorageBuffer, LaunchPlan> {
  readonly #traits: DeviceTraits;

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
  withParams(op: ResolvedCall<StorageBuffer>, operands: readonly Span[]): PlanWithParams {
    const grown = op.kernel === 'attention' ? growing(op.call, this.#traits) : undefined;
    if (grown === undefined) return { plan: this.of(op, operands), params: paramWordsOf(op) };
    const { call, params } = grown;
    const apart = inputsApart(operands);
    if (apart === operands) return { plan: this.of({ kernel: 'attention', call }, operands), params };
    const own = Object.fromEntries(call.operands.map(({ name }, index) => [name, apart[index]]));
    return { plan: this.of({ kernel: 'attention', call: Object.assign(call, own) }, apart), params };
  }

  override ofShape(op: KernelCall): LaunchPlan {
    const grown = op.kernel === 'attention' ? growing(op.call, this.#traits) : undefined;
    return super.ofShape(grown === undefined ? op : { kernel: 'attention', call: grown.call });
  }

  /** The plans of a call without operands: for operands in their own allocations, and in place where that may be. */
  ofPlaces(op: KernelCall): readonly LaunchPlan[] {
    const apart = this.ofShape(op);
    const call = op.kernel === 'run' ? inPlace(op.call) : undefined;
    return call === undefined ? [apart] : [apart, this.of(call, operandsOf(call))];
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
function inPlace(geometry: CheckedRun): ResolvedCall<StorageBuffer> | undefined {
  const spanOf = ({ extent, dtype }: CheckedRun['inputs'][number]): Span | undefined =>
    extent === 0 ? undefined : fakeSpan(extent * BYTES_OF[dtype]);
  const inputs = geometry.inputs.map(spanOf);
  const mates = geometry.outputs.map(({ access, dtype, strides }) =>
    geometry.inputs.findIndex(
      (input) =>
        access === 'element' &&
        input.access === 'element' &&
        input.dtype === dtype &&
        input.strides.every((stride, axis) => stride === strides[axis]),
    ),
  );
  const firsts = mates.map((mate, output) => mate >= 0 && mates.indexOf(mate) === output);
  if (!firsts.includes(true)) return undefined;
  const outputs = geometry.outputs.map((layout, output) =>
    firsts[output] === true ? inputs[mates[output] as number] : spanOf(layout),
  );
  const params = geometry.kernel.params.map(() => 0);
  return { kernel: 'run', call: { geometry, inputs, outputs, params, inPlace: firsts } };
}
