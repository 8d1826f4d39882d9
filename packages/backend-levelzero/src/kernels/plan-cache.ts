import { PlanCache as CacheByCall } from '@concord/variants';
import { fakeSpan, type OpPlan, planOp } from './op-plan.ts';
import type { DeviceMemory, DeviceTraits } from './recorder.ts';

/** The plans of one device, by call. No kernel asks where its operands begin. */
export class PlanCache extends CacheByCall<DeviceMemory, OpPlan> {
  constructor(traits: DeviceTraits) {
    super({ traits, alignment: 1, plan: (op, operands) => planOp(op, operands, traits), fakeOperand: fakeSpan });
  }
}
