import { gridOf } from '../grid.ts';
import type { Recorder, Span } from '../recorder.ts';
import { combineKernel, type CombineParams } from './combine.spv.ts';

/** States of parts of rows. */
export interface Parts {
  readonly folds: CombineParams['folds'];
  /** Words of a state. */
  readonly values: number;
  readonly rows: number;
  readonly parts: number;
  /** `[values][parts][rows]` */
  readonly states: Span;
}

/** Parts that a work-item joins. */
const FAN = 64;
/** Parts that are few. */
const MAX_LEFT = 16;
/** Work-items of a group of a GPU. */
const GROUP = 64;

/** States of rows, of which there are few parts left. */
export interface FewParts {
  readonly states: Span;
  readonly parts: number;
}

/** Joins the parts of rows until those are few that work on: they join the rest. */
export function combine({ folds, values, rows, parts, states }: Parts, recorder: Recorder): FewParts {
  const { traits } = recorder;
  const groupSize = traits.isCpuLike ? 1 : GROUP;
  const kernel = combineKernel({ folds, groupSize });
  let [input, count] = [states, parts];
  while (count > MAX_LEFT) {
    const left = Math.ceil(count / FAN);
    const output = recorder.scratch(4 * values * left * rows);
    const groups = gridOf(Math.ceil((left * rows) / groupSize), traits);
    recorder.launch({ kernel, args: { input, output, rows, parts: count, fan: FAN }, groups });
    [input, count] = [output, left];
  }
  return { states: input, parts: count };
}
