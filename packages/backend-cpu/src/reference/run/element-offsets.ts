import type { RunLayout } from '@concord/backend-core/kernel';

/** Where each element of an operand lies, in elements from its pointer: one entry an element, row-major in its shape. */
export function elementOffsets({ shape, strides }: Pick<RunLayout, 'shape' | 'strides'>): Float64Array {
  let offsets = new Float64Array(1);
  for (const [axis, size] of shape.entries()) {
    const stride = strides[axis] as number;
    const finer = new Float64Array(offsets.length * size);
    for (const [at, offset] of offsets.entries()) {
      for (let index = 0; index < size; index++) finer[at * size + index] = offset + index * stride;
    }
    offsets = finer;
  }
  return offsets;
}
