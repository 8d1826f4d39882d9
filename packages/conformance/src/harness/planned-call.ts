import type { OpName } from '@concord/backend-core';
import type { CaseContext } from './case.ts';
import type { Check } from './suite.ts';
import type { Params } from './case-id.ts';
import type { Slots } from './slot.ts';
import { Workspace } from './workspace.ts';

/** A call whose operands have been made: it can be made once they are placed, and judged when they were read back. */
export interface PlannedCall {
  readonly op: OpName;
  /** The call without its pointers: what `supports` is asked. */
  readonly shape: Readonly<Record<string, unknown>>;
  call(): void;
  /** @throws {CaseFailure} where a result is wrong */
  judge(): void;
}

/** Makes the operands of a call. */
export type PlanCall<P extends Params> = (slots: Slots, context: CaseContext, params: P) => PlannedCall;

/** Parameters that say how the operands of a call lie. */
export type PlacedParams = Params & { readonly offset: number; readonly together: boolean };

/** Makes one planned call and judges it. */
export function checkPlanned<P extends PlacedParams>(plan: PlanCall<P>): Check<P> {
  return async (context, params) => {
    const { offset: offsetBytes, together } = params;
    const workspace = new Workspace(context.backend, { offsetBytes, together });
    const planned = plan(workspace, context, params);
    await workspace.run(() => planned.call());
    planned.judge();
  };
}
