import type { KernelNode, Level, RunLayout } from '@concord/backend-core/kernel';
import type { Elements } from './memory.ts';
import { emptySlot } from './slot.ts';
import type { Memory, Place } from './steps.ts';

type Sized = { readonly rows: number; readonly count: number };
/** The number of values of a level in a tile. */
export const COUNTS: Readonly<Record<Level, (tile: Sized) => number>> = {
  call: () => 1,
  row: ({ rows }) => rows,
  element: ({ count }) => count,
};

/** Of what no tile has a place in, such as a gather input. */
export const NOWHERE: Place = { start: 0, rowStride: 0, elementStride: 0 };
const NO_ELEMENTS: Elements = new Int32Array();

/** An operand without memory yet. */
export function memoryOf({ dtype }: RunLayout, place: Place, isRecast: boolean): Memory {
  return { dtype, place, slot: emptySlot(), isRecast, usesBits: false, elements: NO_ELEMENTS };
}

/** Returns whether an operand has elements of 32 bits. */
export function isWord({ dtype }: Memory): boolean {
  return dtype === 'f32' || dtype === 'i32' || dtype === 'u32';
}

/** Returns whether a node's values are computed into their own place. */
export function isStep(node: KernelNode): boolean {
  return node.kind === 'arithmetic' || node.kind === 'gather' || node.kind === 'fold';
}

/** Names the values of a node at a level. */
export function keyOf(index: number, level: Level): string {
  return `${index} ${level}`;
}
