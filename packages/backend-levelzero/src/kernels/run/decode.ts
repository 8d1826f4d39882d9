import type { FunctionBuilder, Value } from '@concord/spirv-builder';

/** The coordinates of the point with this number, row-major; the first axis takes what is left. */
export function coordinatesOf(k: FunctionBuilder, number: Value, sizes: readonly Value[]): readonly Value[] {
  const coordinates: Value[] = [];
  let left = number;
  for (let axis = sizes.length - 1; axis > 0; axis--) {
    const size = sizes[axis] as Value;
    const quotient = k.udiv(left, size);
    coordinates.unshift(k.sub(left, k.mul(quotient, size)));
    left = quotient;
  }
  return sizes.length === 0 ? [] : [left, ...coordinates];
}
