import type { ReduceShape } from '@concord/backend-core';
import type { Reference, Values } from './result.ts';

/**
 * A reduction along one axis in float64, in order of the axis. NaN anywhere gives NaN.
 *
 * @returns the shape without the axis, packed; `magnitude` is sum |x| (divided by the length for mean)
 */
export function reduceReference(call: ReduceShape, input: Values): Reference {
  const { op, shape, axis } = call;
  const product = (sizes: readonly number[]): number => sizes.reduce((x, y) => x * y, 1);
  const outer = product(shape.slice(0, axis));
  const length = shape[axis] as number;
  const inner = product(shape.slice(axis + 1));
  const value = new Float64Array(outer * inner);
  const magnitude = new Float64Array(outer * inner);
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++) {
      let sum = 0;
      let absolute = 0;
      let largest = -Infinity;
      let smallest = Infinity;
      for (let a = 0; a < length; a++) {
        const x = input[(o * length + a) * inner + i] as number;
        sum += x;
        absolute += Math.abs(x);
        largest = Math.max(largest, x);
        smallest = Math.min(smallest, x);
      }
      const at = o * inner + i;
      if (op === 'sum') value[at] = sum;
      else if (op === 'mean') value[at] = sum / length;
      else value[at] = op === 'max' ? largest : smallest;
      magnitude[at] = op === 'mean' ? absolute / length : absolute;
    }
  }
  return { value, magnitude };
}
