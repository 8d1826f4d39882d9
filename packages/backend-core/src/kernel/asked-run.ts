import type { CheckedRun, RunLayout } from './checked-run.ts';
import type { Kernel } from './graph.ts';
import type { GatherView, RunShape, RunView } from './run-call.ts';

/** A call without pointers and parameters. Its lists do not change: those of a caller are copied when they are read. */
export interface AskedRun extends Omit<RunShape, 'kernel' | 'inputs' | 'outputs'> {
  readonly inputs: Readonly<Record<string, RunView | GatherView>>;
  readonly outputs: Readonly<Record<string, RunView>>;
}

/** A checked geometry as a call that leaves out nothing asks for it: the same of all words for one geometry. */
export function inFull({ shape, folded, inputs, outputs }: CheckedRun): AskedRun {
  return { shape, folded, inputs: byName(inputs), outputs: byName(outputs) };
}

/** A number that is equal for what {@link isSame} calls the same. Of the sizes and strides only: dtypes are few. */
export function hashOf({ inputs, outputs }: Kernel, asked: AskedRun): number {
  let hash = hashOfList(1, asked.shape);
  for (const { name } of inputs) hash = hashOfView(hash, asked.inputs[name]);
  for (const { name } of outputs) hash = hashOfView(hash, asked.outputs[name]);
  return hash;
}

/** Returns whether the same is asked for in the same words. */
export function isSame({ inputs, outputs }: Kernel, a: AskedRun, b: AskedRun): boolean {
  if (a.folded !== b.folded || !isSameList(a.shape, b.shape)) return false;
  for (const { name } of inputs) if (!isSameView(a.inputs[name], b.inputs[name])) return false;
  for (const { name } of outputs) if (!isSameView(a.outputs[name], b.outputs[name])) return false;
  return true;
}

function byName(layouts: readonly RunLayout[]): Record<string, RunLayout> {
  return Object.fromEntries(layouts.map((layout) => [layout.name, layout]));
}

function hashOfView(hash: number, view: RunView | GatherView | undefined): number {
  if (view === undefined) return Math.imul(hash, 0x9e3779b1);
  return hashOfList(hashOfList(hash, view.strides), (view as GatherView).shape);
}

function hashOfList(start: number, list: readonly number[] | undefined): number {
  let hash = Math.imul(start, 0x9e3779b1);
  if (!Array.isArray(list)) return hash;
  for (let index = 0; index < list.length; index++) {
    const item: unknown = list[index];
    // What is no number is left for the rules to refuse.
    if (typeof item === 'number') hash = Math.imul(hash ^ item, 0x85ebca6b) ^ (hash >>> 15);
  }
  return hash;
}

function isSameView(a: RunView | GatherView | undefined, b: RunView | GatherView | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  return (
    a.dtype === b.dtype &&
    isSameList(a.strides, b.strides) &&
    isSameList((a as GatherView).shape, (b as GatherView).shape)
  );
}

function isSameList(a: readonly number[] | undefined, b: readonly number[] | undefined): boolean {
  if (a === b) return true;
  // What is no list is left for the rules to refuse.
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
