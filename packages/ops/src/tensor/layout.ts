import type { DType } from '@concord/backend-core';
import { ListCache } from '@concord/backend-core/implement';
import { denseStrides, isDense, sizeOf } from './shape.ts';

/** The places of a tensor's elements in its storage. */
export interface Layout {
  readonly shape: readonly number[];
  /** Elements from one index of an axis to the next; 0 repeats. */
  readonly strides: readonly number[];
  readonly dtype: DType;
  /** Elements before the first one. */
  readonly offset: number;
}

/**
 * A layout wherever it begins. Tensors that agree in it share the object, so that what a function works out for layouts is found
 * again by their numbers.
 */
export interface SharedLayout extends Omit<Layout, 'offset'> {
  /** Unique to this layout, and not 0. */
  readonly id: number;
  readonly size: number;
  readonly isDense: boolean;
}

/** Entries of each of two generations. A layout that was evicted gets another number. */
const MAX_KEPT = 4096;

const layouts = new ListCache<SharedLayout>(MAX_KEPT);
let lastId = 0;

/** The layout of these lists, which are copied. */
export function sharedLayout(shape: readonly number[], strides: readonly number[], dtype: DType): SharedLayout {
  const key: unknown[] = [dtype];
  for (let axis = 0; axis < shape.length; axis++) key.push(shape[axis], strides[axis]);
  const known = layouts.get(key);
  if (known !== undefined) return known;
  const layout: SharedLayout = Object.freeze({
    id: ++lastId,
    shape: Object.freeze([...shape]),
    strides: Object.freeze([...strides]),
    dtype,
    size: sizeOf(shape),
    isDense: isDense(shape, strides),
  });
  layouts.add(key, layout);
  return layout;
}

/** The layout of dense, row-major elements. */
export function denseLayout(shape: readonly number[], dtype: DType): SharedLayout {
  return sharedLayout(shape, denseStrides(shape), dtype);
}
