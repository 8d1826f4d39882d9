import { PlanCache as CacheByCall } from '@concord/variants';
import { fakeSpan, type OpPlan, planOp } from './op-plan.ts';
import type { DeviceMemory, DeviceTraits } from './recorder.ts';

/** The plans of one device, by call. Some kernels want operands that begin at multiples of four bytes. */
export class PlanCache extends CacheByCall<DeviceMemory, OpPlan> {
  constructor(traits: DeviceTraits) {
    super({ traits, alignment: 4, plan: (op, operands) => planOp(op, operands, traits), fakeOperand: fakeSpan });
  }
}
