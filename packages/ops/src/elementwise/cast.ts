import type { DType } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import type { KernelBuilder, NumberType, Value } from '@concord/backend-core/kernel';
import { elementwise, type ElementFunction } from '../compute/elementwise.ts';
import type { OutOption } from '../compute/produce.ts';
import { viewOf } from '../tensor/allocate.ts';
import { OUT, checkOptions, checkTensor } from '../tensor/arguments.ts';
import { checkDType } from '../tensor/create.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

/**
 * The same numbers as another element type; of its own type a view.
 *
 * - To f32, f16 and bf16: to nearest, ties to even; integers by way of float32.
 * - From those to integers: truncated, saturated to the limits of the type, NaN to 0.
 * - Between i32 and u32, and from i8 to u32: by bits, so -1 is 2^32 - 1.
 * - From integers to i8 and u8: saturated. Truths, which are u8 of 1 and 0, become the numbers 1 and 0.
 *
 * @param dtype - also that of `out`
 * @throws {BackendError} INVALID_ARGUMENT for what is no element type, and an `out` of another one
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [-1.5, 2.5, 300]);
 * await cast(x, 'i32').toArray(); // [-1, 2, 300]
 * await cast(x, 'u8').toArray(); // [0, 2, 255]
 * await cast(greater(x, 0), 'f32').toArray(); // [0, 1, 1]
 * ```
 */
export function cast(x: Tensor, dtype: DType, options: OutOption = {}): Tensor {
  checkTensor('cast', 'x', x);
  checkDType('cast', dtype);
  checkOptions('cast', options, OUT);
  const { out } = options;
  if (out !== undefined && out.dtype !== dtype) {
    throw refuse('cast', `out is ${out.dtype}${shapeText(out.shape)}, the result ${dtype}${shapeText(x.shape)}`);
  }
  if (x.dtype === dtype && out === undefined) return viewOf(x, {});
  return elementwise(castTo(ELEMENT_TYPES[x.dtype].value, dtype), [x], options, dtype);
}

const functions = new Map<string, ElementFunction>();

function castTo(from: NumberType, dtype: DType): ElementFunction {
  const key = `${from} ${dtype}`;
  let op = functions.get(key);
  if (op === undefined) {
    op = { name: 'cast', types: [from], compute: (k, x) => converted(k, from, x, dtype) };
    functions.set(key, op);
  }
  return op;
}

function converted(k: KernelBuilder, from: NumberType, x: Value<NumberType>, dtype: DType): Value<NumberType> {
  const to = ELEMENT_TYPES[dtype].value;
  if (to === from) return x;
  if (to === 'f32') return k.toF32(x as Value<'i32'>);
  // Storing saturates what the bits mean in the new type, so what they cannot mean there goes first.
  if (dtype === 'u8' && from === 'i32') return k.toU32(k.max(x as Value<'i32'>, 0));
  if (dtype === 'i8' && from === 'u32') return k.toI32(k.min(x as Value<'u32'>, 127));
  return to === 'i32' ? k.toI32(x as Value<'f32'>) : k.toU32(x as Value<'f32'>);
}
