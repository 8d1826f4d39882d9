import type { OpName } from '@concord/backend-core';
import { compareBytes } from '../checks/compare.ts';
import type { CaseContext } from './case.ts';
import type { Params } from './case-id.ts';
import { Random } from './random.ts';
import type { Slots } from './slot.ts';
import type { Check } from './suite.ts';
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

/** Makes one planned call. */
export async function makePlanned<P extends PlacedParams>(
  context: CaseContext,
  params: P,
  plan: PlanCall<P>,
): Promise<{ readonly planned: PlannedCall; readonly slots: Slots }> {
  const { offset: offsetBytes, together } = params;
  const slots = new Workspace(context.backend, { offsetBytes, together });
  const planned = plan(slots, context, params);
  await slots.run(() => planned.call());
  return { planned, slots };
}

/** Makes one planned call and judges it. */
export function checkPlanned<P extends PlacedParams>(plan: PlanCall<P>): Check<P> {
  return async (context, params) => (await makePlanned(context, params, plan)).planned.judge();
}

/** The same call twice gives the same bits. */
export function checkRepeat<P extends PlacedParams>(plan: PlanCall<P>): Check<P> {
  return async (context, params) => {
    const seed = String(context.random.uint32());
    const outputs = async (): Promise<readonly Uint8Array[]> => {
      const { slots } = await makePlanned({ ...context, random: new Random(seed) }, params, plan);
      return slots.all.flatMap(({ isOutput, after }) => (isOutput ? [after] : []));
    };
    const first = await outputs();
    for (const [index, after] of (await outputs()).entries()) {
      compareBytes('second of two equal calls', after, first[index] as Uint8Array);
    }
  };
}
