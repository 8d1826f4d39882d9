import type { ExplainedPass, Explanation } from '@concord/backend-core';
import type { LaunchPlan, PlannedDispatch } from '../launch-plan.ts';

/** A plan as people read it: launches that differ in their numbers only are one pass. */
export function explainPlan({ steps }: LaunchPlan): Explanation {
  const passes: ExplainedPass[] = [];
  let before: PlannedDispatch | undefined;
  let launches = 0;
  for (const step of steps) {
    if (!('kernel' in step)) continue;
    launches = step.kernel === before?.kernel ? launches + 1 : 1;
    if (launches > 1) passes.pop();
    passes.push(passOf(step, launches));
    before = step;
  }
  return { passes };
}

function passOf({ kernel, variant, grid }: PlannedDispatch, launches: number): ExplainedPass {
  const groups = `${grid.join(' x ')} workgroups`;
  return {
    variant: variant ?? kernel.name,
    summary: `${kernel.name}, ${launches === 1 ? groups : `${launches} launches, the last of ${groups}`}`,
    language: 'wgsl',
    code: kernel.code,
  };
}
