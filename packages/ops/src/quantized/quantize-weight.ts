import type { FloatDType } from '@concord/backend-core';
import { defineKernel, type Value } from '@concord/backend-core/kernel';
import { run } from '../compute/run.ts';
import { checkOptions, checkTensor, shown } from '../tensor/arguments.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { reshape } from '../views/reshape.ts';
import { slice } from '../views/slice.ts';
import { QuantizedTensor } from './quantized-tensor.ts';

/** Options of {@link quantizeWeight}. */
export interface QuantizeWeightOptions {
  /** Default `'i8'`. */
  readonly dtype?: 'i8' | 'u4';
  /** Consecutive elements of a row that share a scale; even, and divides k. Default 32. */
  readonly block?: number;
  /** Element type of the scales. Default `'f32'`. */
  readonly dtypeScales?: FloatDType;
}

const toBytes = defineKernel('quantize 8', { inputs: { w: 'f32' } }, ({ w }, k) => {
  const largest = k.fold('max', k.abs(w));
  const inverse = k.select(k.lt(largest, 1e-30), 0, k.div(127, largest));
  return { scales: k.div(largest, 127), data: k.toI32(k.round(k.mul(w, inverse))) };
});

const toNibbles = defineKernel('quantize 4', { inputs: { even: 'f32', odd: 'f32' } }, ({ even, odd }, k) => {
  const largest = k.fold('max', k.max(k.abs(even), k.abs(odd)));
  const inverse = k.select(k.lt(largest, 1e-30), 0, k.div(7, largest));
  const code = (w: Value<'f32'>): Value<'u32'> => k.toU32(k.add(k.round(k.mul(w, inverse)), 8));
  return { scales: k.div(largest, 7), data: k.or(code(even), k.shl(code(odd), 4)) };
});

/**
 * A matrix `[n, k]` of floats with 8 or 4 bits an element, for {@link linear}; one launch, nothing is read back. The scale of
 * a block brings its largest magnitude to 127, with 4 bits to 7, and elements are rounded to the nearest.
 *
 * @throws {BackendError} INVALID_ARGUMENT for what is no matrix, integers, a block that is odd or does not divide k
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const weight = quantizeWeight(tensor(backend, [[127, -64], [2, 4]]), { block: 2 });
 * await linear(tensor(backend, [[1, 10]]), weight).toArray(); // [-513, 42.0157]
 * ```
 */
export function quantizeWeight(weight: Tensor, options: QuantizeWeightOptions = {}): QuantizedTensor {
  const op = 'quantizeWeight';
  checkTensor(op, 'weight', weight);
  checkOptions(op, options, { dtype: 'any', block: 'number', dtypeScales: 'any' });
  const { dtype = 'i8', block = 32, dtypeScales: scales = 'f32' } = options;
  if (dtype !== 'i8' && dtype !== 'u4') throw refuse(op, `dtype must be i8 or u4, got ${shown(dtype)}`);
  if (scales !== 'f32' && scales !== 'f16') throw refuse(op, `dtypeScales must be f32 or f16, got ${shown(scales)}`);
  const [n = 0, k = 0] = weight.shape;
  if (weight.rank !== 2) throw refuse(op, `takes a matrix [n, k], got ${shapeText(weight.shape)}`);
  if (!Number.isSafeInteger(block) || block < 2 || block % 2 !== 0 || k % block !== 0) {
    throw refuse(op, `block must be even and divide k of ${shapeText(weight.shape)}, got ${shown(block)}`);
  }
  return tidy(() => {
    if (dtype === 'i8') {
      const made = run(toBytes, { w: reshape(weight, [n, k / block, block]) }, { dtypes: { data: 'i8', scales } });
      return new QuantizedTensor({ shape: [n, k], dtype, block }, { ...made, data: reshape(made.data, [n, k]) });
    }
    const pairs = reshape(weight, [n, k / block, block / 2, 2]);
    const [even, odd] = [slice(pairs, [null, null, null, 0]), slice(pairs, [null, null, null, 1])];
    const made = run(toNibbles, { even, odd }, { dtypes: { data: 'u8', scales } });
    return new QuantizedTensor({ shape: [n, k], dtype, block }, { ...made, data: reshape(made.data, [n, k / 2]) });
  });
}
