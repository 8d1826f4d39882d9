import { ListCache } from '../implement/list-map.ts';
import { checkRun } from './check-run.ts';
import type { CheckedRun, RunLayout } from './checked-run.ts';
import type { Kernel } from './graph.ts';
import type { GatherView, RunShape, RunView } from './run-call.ts';

/** A call without pointers and parameters. Its lists do not change: those of a caller are copied when they are read. */
export interface AskedRun extends Omit<RunShape, 'kernel' | 'inputs' | 'outputs'> {
  readonly inputs: Readonly<Record<string, RunView | GatherView>>;
  readonly outputs: Readonly<Record<string, RunView | GatherView>>;
}

/** Entries of each of two generations. A geometry has one for the call as it was written, and one in full. */
const MAX_KEPT = 1024;

/** Precedes the items of a list in a key, so that they are not taken for what comes next to it. */
const LIST = Symbol('list');

const runsOf = new WeakMap<Kernel, ListCache<CheckedRun>>();

/**
 * The checked geometry of a call; the same object for the same geometry, unless some hundred others were asked for since.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkedRun(kernel: Kernel, asked: AskedRun): CheckedRun {
  let runs = runsOf.get(kernel);
  if (runs === undefined) {
    runs = new ListCache(MAX_KEPT);
    runsOf.set(kernel, runs);
  }
  const key = keyOf(kernel, asked);
  const known = runs.get(key);
  if (known !== undefined) return known;
  const checked = checkRun(kernel, asked);
  // Its kernel holds what the layouts of nibbles were.
  if (checked.kernel !== kernel) {
    runs.add(key, checked);
    return checked;
  }
  // Also in full: other words for it are to find the same object.
  const full = keyOf(kernel, { ...checked, inputs: byName(checked.inputs), outputs: byName(checked.outputs) });
  const same = runs.get(full);
  if (same === undefined) runs.add(full, checked);
  if (runs.get(key) === undefined) runs.add(key, same ?? checked);
  return same ?? checked;
}

/** Adds the items of a list to a key, or what stands for it where it is none: that is left for the rules to refuse. */
export function addList(key: unknown[], list: unknown): void {
  if (!Array.isArray(list)) {
    key.push(list);
    return;
  }
  key.push(LIST, list.length);
  for (let index = 0; index < list.length; index++) key.push(list[index]);
}

/** Adds the layout of an operand to a key. */
export function addView(key: unknown[], view: RunView | GatherView | undefined): void {
  if (view === undefined) {
    key.push(undefined);
    return;
  }
  key.push(LIST, view.dtype);
  addList(key, view.strides);
  addList(key, (view as Partial<GatherView>).shape);
}

function keyOf({ inputs, outputs }: Kernel, asked: AskedRun): unknown[] {
  const key: unknown[] = [asked.folded];
  addList(key, asked.shape);
  for (const { name } of inputs) addView(key, asked.inputs[name]);
  for (const { name } of outputs) addView(key, asked.outputs[name]);
  return key;
}

function byName(layouts: readonly RunLayout[]): Record<string, RunLayout> {
  return Object.fromEntries(layouts.map((layout) => [layout.name, layout]));
}
