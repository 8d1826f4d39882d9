import type { CheckedRun } from '@concord/backend-core/kernel';
import { outputsOf, type RunAxes } from '@concord/kernel';
import { LANES } from './cursor.ts';
import { names, ONE_LINE, type RunForm, unitsOf } from './form.ts';
import { callForm, type FormAxes, geometryArguments, mapAxes, reordered } from './operand-forms.ts';

/** A command before its code is emitted. */
export interface FormedCommand {
  readonly form: RunForm;
  /** Arguments of the code by name, except those of tiles and of a call. */
  readonly args: Map<string, number>;
  /** `items`: shared out among the threads. `points`: those computed in all, as far as they are counted. */
  readonly items: number;
  readonly points: number;
  /** Bytes that each thread needs for itself. */
  readonly scratchBytes: number;
}

/** Points of a segment of a line. */
const SEGMENT = 8192;
/** The same where an input lies the other way: this many of its cache lines are read again for the neighbouring lines. */
const TURNED_SEGMENT = 16;
/** The same where lines were too short for vectors, which lie across them: their inputs stay in the first level of cache. */
const SHORT_LINE_SEGMENT = 512;
/** Points of a line from which on several vectors are worked on side by side. */
export const WIDE = 64;

/** The command that stores the outputs of a level; undefined if there are none. */
export function formMap(geometry: CheckedRun, axes: RunAxes, level: 'row' | 'element'): FormedCommand | undefined {
  const { kernel } = geometry;
  const stores = outputsOf(kernel, level);
  const given = mapAxes(axes, level);
  const points = given.sizes.reduce((product, size) => product * size, 1);
  if (stores.length === 0 || points === 0) return undefined;
  const { order, segment } = orderOf(geometry, given) ?? { order: undefined, segment: SEGMENT };
  const own = order === undefined ? given : reordered(given, order);
  const size = own.sizes.at(-1) as number;
  const isSegmented = size > segment;
  const segments = isSegmented ? Math.ceil(size / segment) : 1;
  const form: RunForm = {
    ...callForm(geometry, own),
    ...ONE_LINE,
    stores,
    units: size >= WIDE ? unitsOf(kernel) : 1,
    hasWhole: size >= LANES,
    hasRest: size % LANES !== 0,
    isSegmented,
    isTransposed: order !== undefined && isSegmented,
  };
  const args = geometryArguments(geometry, own);
  args.set(names.segment, segment);
  args.set(names.segments, segments);
  return { form, args, items: (points / size) * segments, points, scratchBytes: 0 };
}

/**
 * The order of a map's axes, and how long segments are, where neighbours of another axis than the last lie side by side too: the
 * longest one goes last where the last is no vector, which then comes before it; and an axis that an input is dense along
 * comes before a last one that it is not dense along. Undefined where the axes are good as they are.
 */
function orderOf(
  { inputs }: CheckedRun,
  { sizes, strides }: FormAxes,
): { readonly order: readonly number[]; readonly segment: number } | undefined {
  const last = sizes.length - 1;
  const without = (...axes: readonly number[]): number[] => [...sizes.keys()].filter((axis) => !axes.includes(axis));
  if ((sizes[last] as number) < LANES) {
    const longest = sizes.indexOf(Math.max(...sizes));
    if ((sizes[longest] as number) < 4 * LANES) return undefined;
    return { order: [...without(last, longest), last, longest], segment: SHORT_LINE_SEGMENT };
  }
  for (const [input, { access }] of inputs.entries()) {
    const own = strides[input] as readonly number[];
    if (access === 'gather' || (own[last] as number) < 2) continue;
    const axis = own.findIndex((stride, at) => at < last && stride === 1 && (sizes[at] as number) >= LANES);
    if (axis >= 0) return { order: [...without(axis, last), axis, last], segment: TURNED_SEGMENT };
  }
  return undefined;
}
