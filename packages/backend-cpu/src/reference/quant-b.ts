import type { BatchedGemmShape, BlockStrides } from '@concord/backend-core';
import type { Reference, Values } from './result.ts';

/** The numbers of the blocks of B, as they lie in memory. */
export interface QuantValues {
  readonly scales: Values;
  readonly zeros?: Values | undefined;
  readonly offsets?: Values | undefined;
}

/**
 * The numbers that integers of B stand for, in float64: `(q - zero) scale`, or `q scale + offset`.
 *
 * @param integers - B as it lies in memory
 * @returns the same places, 0 where no element of B is; `magnitude` is the number's own, but `|q scale| + |offset|`
 */
export function quantReference(shape: BatchedGemmShape, integers: Values, numbers: QuantValues): Reference {
  const { n, k, batchCount, strideB, dtypeB, quantB } = shape;
  if (quantB === undefined) throw new TypeError('quantB is not given');
  const isNibble = (dtype: string | undefined): boolean => dtype === 'i4' || dtype === 'u4';
  const even = (count: number): number => 2 * Math.ceil(count / 2);
  const ldb = shape.ldb ?? (isNibble(dtypeB) ? even(k) : k);
  const blocks = Math.ceil(k / quantB.block);
  const middle = { u8: 128, u4: 8 }[dtypeB as string] ?? 0;
  const value = new Float64Array(integers.length);
  const magnitude = new Float64Array(integers.length);
  for (let batch = 0; batch < batchCount; batch++) {
    for (let row = 0; row < n; row++) {
      for (let p = 0; p < k; p++) {
        const of = (values: Values, given: BlockStrides | undefined, line = blocks): number => {
          const [ofBatch, ofRow, ofBlock] = given ?? [strideB === 0 ? 0 : n * line, line, 1];
          return values[batch * ofBatch + row * ofRow + Math.floor(p / quantB.block) * ofBlock] as number;
        };
        const place = batch * strideB + row * ldb + p;
        const q = integers[place] as number;
        const scale = of(numbers.scales, quantB.scales.strides);
        if (numbers.offsets === undefined) {
          const line = isNibble(quantB.zeros?.dtype ?? dtypeB) ? even(blocks) : blocks;
          const zero = numbers.zeros === undefined ? middle : of(numbers.zeros, quantB.zeros?.strides, line);
          value[place] = (q - zero) * scale;
          magnitude[place] = Math.abs(value[place]);
        } else {
          const offset = of(numbers.offsets, quantB.offsets?.strides);
          value[place] = q * scale + offset;
          magnitude[place] = Math.abs(q * scale) + Math.abs(offset);
        }
      }
    }
  }
  return { value, magnitude };
}
