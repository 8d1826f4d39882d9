import type { Value } from '@concord/spirv-builder';
import type { Width } from '../arithmetic/spirv-arithmetic.ts';

/** Values that were computed, by node; a number made a vector by its node's number turned around. */
export type Known = Map<number, Value>;

/** A point of the axes that are not folded, or neighbours there where vectors lie along them. */
export interface RowScope {
  /** Components of what varies along the vectors. */
  readonly width: Width;
  /** Of the first neighbour, along each axis that is not folded. */
  readonly coordinates: readonly Value[];
  readonly known: Known;
  /** Where the row begins in each layout, in elements. */
  readonly offsets: Map<number, Value>;
}

/** An element of a row, or neighbours. */
export interface ElementScope {
  readonly row: RowScope;
  readonly width: Width;
  /** Of the first neighbour, along each folded axis. */
  readonly coordinates: readonly Value[];
  readonly known: Known;
}
