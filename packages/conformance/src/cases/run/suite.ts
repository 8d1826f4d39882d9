import type { Random } from '../../harness/random.ts';
import { defineSuite, type Suite } from '../../harness/suite.ts';
import { drawnPlan, drawRunParams, perhapsScanned, perhapsScattered, shrinkDrawn } from '../../run/drawn.ts';
import { expectedOf, looseness } from '../../run/judge.ts';
import { RUN_DEFAULTS, type RunParams } from '../../run/params.ts';
import { RUN_TEXTS } from '../../texts/run.ts';
import { RUN_CHECKS } from './checks.ts';
import { DRAWN_SEEDS } from './drawn-seeds.ts';
import { HAND_WRITTEN } from './lists.ts';

/** A drawn case about which the oracle knows less is drawn again: it would only look like a check. */
export const MAX_LOOSE = 0.02;

/** Returns whether the oracle knows enough of the outputs of a drawn case. */
export function isTight(params: RunParams): boolean {
  const { elements, loose } = looseness(expectedOf(drawnPlan(params), 'may-flush'));
  return loose <= MAX_LOOSE * elements;
}

function draw(random: Random): [string, RunParams] {
  for (;;) {
    const params = perhapsScanned(perhapsScattered(drawRunParams(random.uint32())));
    if (isTight(params)) return ['drawn', params];
  }
}

/** `run`. */
export const runSuite: Suite = defineSuite<RunParams>({
  op: 'run',
  defaults: RUN_DEFAULTS,
  checks: RUN_CHECKS,
  texts: RUN_TEXTS,
  list: [...HAND_WRITTEN, ...DRAWN_SEEDS.map((seed) => ['drawn', drawRunParams(seed)] as const)],
  draw,
  shrink: shrinkDrawn,
});
