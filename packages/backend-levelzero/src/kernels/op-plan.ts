import { BackendError, type Explanation } from '@concord/backend-core';
import type { ResolvedCall } from '@concord/backend-core/implement';
import { explainPasses, type LaunchPlan, type Place, planCall, type Planning, StepRecorder } from '@concord/variants';
import { checkGroups, secondsOf } from './work.ts';
import { FAMILIES } from './families.ts';
import type { Kernel } from './kernel.ts';
import {
  type CallParameter,
  type DeviceMemory,
  type DeviceTraits,
  fakeSpan,
  type Launch,
  type Recorder,
  type Span,
} from './recorder.ts';
import { listInstructions } from '@concord/spirv-builder';

/** The launches of an op: for one call, and for every other whose operands lie as those of that one do. */
export type OpPlan = LaunchPlan<Kernel, PlannedLaunch>;

/** A launch of a plan. */
export interface PlannedLaunch extends Pick<Launch, 'kernel' | 'groups' | 'variant'> {
  /** The places of pointers, values, or numbers of the call, in the kernel's order. */
  readonly args: readonly (Place | number | CallParameter)[];
  /** The maximum of its time, by an estimate. */
  readonly seconds: number;
}

/**
 * Plans a call.
 *
 * @param operands - those of the call, in their order
 * @throws {BackendError} UNSUPPORTED when the device cannot run it, OUT_OF_MEMORY when its scratch memory is too large,
 *   DEVICE_ERROR when all variants of its kernels are excluded on this device
 */
export function planOp(op: ResolvedCall<DeviceMemory>, operands: readonly Span[], traits: DeviceTraits): OpPlan {
  const recorder = new OpRecorder(op, traits, operands);
  planCall(FAMILIES, op, recorder);
  const { steps, scratchBytes: scratch, picks } = recorder;
  return { steps, scratch, picks };
}

/** Notes what a plan launches and copies. */
class OpRecorder extends StepRecorder<DeviceMemory, PlannedLaunch> implements Recorder {
  readonly traits: DeviceTraits;

  constructor(op: ResolvedCall<DeviceMemory>, traits: DeviceTraits, operands: readonly Span[]) {
    super(op, operands, fakeSpan);
    this.traits = traits;
  }

  protected get maxBytes(): number {
    return this.traits.maxAllocationBytes;
  }

  launch(launch: Launch): void {
    const { kernel, args, groups, variant } = launch;
    checkGroups(kernel, groups, this.traits);
    const values = kernel.parameters.map(({ name }) => {
      const value = args[name];
      if (value === undefined) {
        throw new BackendError('DEVICE_ERROR', `kernel ${kernel.name}: argument ${name} is not given`);
      }
      if (typeof value === 'object' && 'buffer' in value) return this.placeOf(value);
      const parameter = this.scalarAt(name, value);
      return parameter === undefined ? value : { parameter };
    });
    const seconds = secondsOf(launch, this.traits);
    this.add({ kernel, args: values, groups, seconds, ...(variant === undefined ? {} : { variant }) });
  }
}

/** Plans of this backend. Some kernels want operands that begin at multiples of four bytes. */
export const PLANNING: Planning<DeviceMemory, OpPlan, Recorder, Kernel> = {
  families: FAMILIES,
  alignment: 4,
  plan: planOp,
  fakeOperand: fakeSpan,
};

/** A plan as people read it. */
export function explainPlan(plan: OpPlan): Explanation {
  return explainPasses<Kernel, PlannedLaunch>(plan, (launches) => {
    const { kernel, variant, groups } = launches[0] as PlannedLaunch;
    const times = launches.length === 1 ? '' : `, ${launches.length} launches`;
    return {
      variant: variant ?? kernel.name.slice(0, kernel.name.indexOf(' ')),
      summary: `${kernel.name}: ${groups.join(' x ')} groups of ${kernel.groupSize.join(' x ')}${times}`,
      language: 'spirv',
      code: listInstructions(kernel.words()),
    };
  });
}
