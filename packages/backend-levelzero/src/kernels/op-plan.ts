import { BackendError } from '@concord/backend-core';
import type { ResolvedCall } from '@concord/backend-core/implement';
import { checkSteps, type Place, PlanMemory, type VariantPick } from '@concord/variants';
import { checkGroups } from './check-groups.ts';
import { secondsOf } from './estimate.ts';
import type { Kernel } from './kernel.ts';
import { planCall } from './plans.ts';
import type { CallParameter, DeviceMemory, DeviceTraits, Launch, Recorder, Span } from './recorder.ts';

/** The launches of an op: for one call, and for every other whose operands lie as those of that one do. */
export interface OpPlan {
  readonly steps: readonly Step[];
  /** Bytes of each piece of scratch memory. */
  readonly scratch: readonly number[];
  /** The choices between variants. */
  readonly picks: readonly VariantPick[];
}

/** A launch or a copy whose memory is told by {@link Place}s. */
export type Step = PlannedLaunch | { readonly dst: Place; readonly src: Place };

/** A launch of a plan. */
export interface PlannedLaunch extends Pick<Launch, 'kernel' | 'groups' | 'variant'> {
  /** Where a pointer points, or the value, or which of the call's numbers: in the kernel's order. */
  readonly args: readonly (Place | number | CallParameter)[];
  /** The maximum of its time, by an estimate. */
  readonly seconds: number;
}

/**
 * Plans a call.
 *
 * @param operands - those of the call, in their order
 * @throws {BackendError} UNSUPPORTED when the device cannot run it, OUT_OF_MEMORY when its scratch memory is too large,
 *   DEVICE_ERROR when all variants of its kernels are left out on this device
 */
export function planOp(op: ResolvedCall<DeviceMemory>, operands: readonly Span[], traits: DeviceTraits): OpPlan {
  const recorder = new OpRecorder(traits, operands);
  planCall(op, recorder);
  const { steps, memory, picks } = recorder;
  return { steps, scratch: memory.scratchBytes, picks };
}

/** The kernels of a plan, each once. */
export function kernelsOf({ steps }: OpPlan): ReadonlySet<Kernel> {
  return new Set(steps.flatMap((step) => ('kernel' in step ? step.kernel : [])));
}

/** Notes what a plan launches and copies. */
class OpRecorder implements Recorder {
  readonly traits: DeviceTraits;
  readonly steps: Step[] = [];
  readonly picks: VariantPick[] = [];
  readonly memory: PlanMemory<DeviceMemory>;

  constructor(traits: DeviceTraits, operands: readonly Span[]) {
    this.traits = traits;
    this.memory = new PlanMemory(operands, fakeSpan);
  }

  notePick(pick: VariantPick): void {
    this.picks.push(pick);
  }

  launch(launch: Launch): void {
    const { kernel, args, groups, variant } = launch;
    checkGroups(kernel, groups, this.traits);
    const values = kernel.parameters.map(({ name }) => {
      const value = args[name];
      if (value === undefined) {
        throw new BackendError('DEVICE_ERROR', `kernel ${kernel.name}: argument ${name} is not given`);
      }
      return typeof value === 'object' && 'buffer' in value ? this.memory.placeOf(value) : value;
    });
    const seconds = secondsOf(launch, this.traits);
    const step = { kernel, args: values, groups, seconds, ...(variant === undefined ? {} : { variant }) };
    checkSteps(this.steps.push(step));
  }

  copy(dst: Span, src: Span): void {
    checkSteps(this.steps.push({ dst: this.memory.placeOf(dst), src: this.memory.placeOf(src) }));
  }

  scratch(bytes: number): Span {
    return this.memory.scratch(bytes, this.traits.maxAllocationBytes, 'allocation');
  }
}

/** A span that stands for a separate allocation. Plans pass memory on and never look where it is. */
export function fakeSpan(byteLength: number): Span {
  return { buffer: { id: 0, address: 0n, size: byteLength }, byteOffset: 0, byteLength };
}
