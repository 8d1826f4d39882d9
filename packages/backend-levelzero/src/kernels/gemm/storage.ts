import type { FloatDType } from '@concord/backend-core';
import type { FunctionBuilder, PointerType, Value, VectorCount } from '@concord/spirv-builder';

/** Reads one element, or `count` neighbouring ones, as float32. */
export function loadElement(k: FunctionBuilder, dtype: FloatDType, pointer: Value, count: 1 | VectorCount = 1): Value {
  if (dtype === 'f16') return k.loadHalf(pointer, count);
  return count === 1 ? k.load(pointer) : k.loadVector(pointer, count);
}

/** Writes one float32, or a vector of them, to elements. */
export function storeElement(k: FunctionBuilder, dtype: FloatDType, pointer: Value, value: Value): void {
  if (dtype === 'f16') k.storeHalf(pointer, value);
  else if (value.type.kind === 'vector') k.storeVector(pointer, value);
  else k.store(pointer, value);
}

/** A sum, and the scalars of its product. */
export interface Scaled {
  /** A float32, or a vector of them for neighbouring entries. */
  readonly sum: Value;
  readonly alpha: Value;
  readonly beta: Value;
}

/** `alpha * sum + beta * C`. C is not read where beta is 0: not even a NaN of it is seen. */
export function resultOf(k: FunctionBuilder, dtype: FloatDType, entry: Value, { sum, alpha, beta }: Scaled): Value {
  const { type } = sum;
  const isVector = type.kind === 'vector';
  const like = (x: Value): Value => (isVector ? k.splat(type, x) : x);
  const product = k.mul(sum, like(alpha));
  const [result] = k.ifElse(
    k.ne(beta, 0),
    () => [k.fma(like(beta), loadElement(k, dtype, entry, isVector ? type.count : 1), product)],
    () => [product],
  );
  return result as Value;
}

/** Writes {@link resultOf} to entries of C. */
export function storeResult(k: FunctionBuilder, dtype: FloatDType, entry: Value, scaled: Scaled): void {
  storeElement(k, dtype, entry, resultOf(k, dtype, entry, scaled));
}

/** Memory as bytes: places in it are then sums of 32-bit numbers, with nothing to multiply. */
export function bytesOf(k: FunctionBuilder, pointer: Value): Value {
  return k.bitcast(pointer, k.types.pointer((pointer.type as PointerType).storage, k.types.int(8)));
}

/** A pointer as `like`, to byte `at`: below 2^31, where it has 32 bits, as the index of a pointer has a sign. */
export function pointerAt(k: FunctionBuilder, bytes: Value, at: Value, like: Value): Value {
  return k.bitcast(k.at(bytes, at), like.type);
}
