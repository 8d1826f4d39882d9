import { PlanCache as CacheByCall } from '@concord/variants';
import { fakeSpan, type LaunchPlan, planOp } from './launch-plan.ts';
import type { DeviceTraits, StorageBuffer } from './recorder.ts';

/** Plans look at where an operand begins only to see how it is aligned, and no binding wants more than this. */
const MAX_ALIGNMENT = 256;

/** The plans of one device, by call. */
export class PlanCache extends CacheByCall<StorageBuffer, LaunchPlan> {
  constructor(traits: DeviceTraits) {
    super({
      traits,
      alignment: MAX_ALIGNMENT,
      plan: (op, operands) => planOp(op, operands, traits),
      fakeOperand: fakeSpan,
    });
  }
}
