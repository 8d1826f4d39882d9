import type { ExplainedPass, Explanation } from '@concord/backend-core';
import { listInstructions } from '@concord/spirv-builder';
import type { OpPlan, PlannedLaunch } from '../op-plan.ts';

/** The launches of a plan for people; neighbours of one kernel are one pass. */
export function explainPlan({ steps }: OpPlan): Explanation {
  const launches = steps.filter((step): step is PlannedLaunch => 'kernel' in step);
  const passes: ExplainedPass[] = [];
  for (let at = 0; at < launches.length;) {
    const { kernel, variant, groups } = launches[at] as PlannedLaunch;
    const end = launches.findIndex((launch, index) => index > at && launch.kernel !== kernel);
    const count = (end < 0 ? launches.length : end) - at;
    const times = count === 1 ? '' : `, ${count} launches`;
    passes.push({
      variant: variant ?? kernel.name.slice(0, kernel.name.indexOf(' ')),
      summary: `${kernel.name}: ${groups.join(' x ')} groups of ${kernel.groupSize.join(' x ')}${times}`,
      language: 'spirv',
      code: listInstructions(kernel.words()),
    });
    at += count;
  }
  return { passes };
}
