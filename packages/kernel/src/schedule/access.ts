/**
 * The access to `width` neighbours along an axis: `vector`, as one aligned vector; `dense`, one next to the other;
 * `constant`, all the same element; `strided`, some elements apart.
 */
export type Access = 'vector' | 'dense' | 'constant' | 'strided';

/** The facts that decide on an {@link Access}. */
export interface AccessQuestion {
  /** Strides of the view in elements, along all axes of the domain. */
  readonly strides: readonly number[];
  /** The axis that the neighbours lie along. */
  readonly axis: number;
  /** Elements of a vector. */
  readonly width: number;
  /** Elements from where the binding begins to the view's first one. */
  readonly offset: number;
}

/** The access to a view. A vector begins at a multiple of its width wherever on the other axes it stands. */
export function accessOf({ strides, axis, width, offset }: AccessQuestion): Access {
  const stride = strides[axis] ?? 0;
  if (stride === 0) return 'constant';
  if (stride !== 1) return 'strided';
  if (width === 1) return 'dense';
  const isAligned = offset % width === 0 && strides.every((other, at) => at === axis || other % width === 0);
  return isAligned ? 'vector' : 'dense';
}
