import type { NumberType, ValueType } from '@concord/backend-core/kernel';

/** An integer type. */
export type IntegerType = 'i32' | 'u32';

/**
 * The operations of a code generator: the functions of `functions/` and the nodes of a kernel are written on it once, and
 * each backend implements it in its language. A method gives the handle of a new value and may emit code for it; a value
 * may be used any number of times. A generator is free to make a value a vector: every operation works by component.
 *
 * The operations are raw, as the hardware has them: what they do with NaN, infinity and subnormals is the device's
 * business where nothing is said. The functions built on them give the contract's guarantees.
 *
 * @typeParam V - the handle of a value: a name in source text, an id, a number
 */
export interface Arithmetic<V> {
  /** The 32 bits as a value of a type; a bool is 0 or 1. NaN, the infinities and -0 are kept. */
  constant(type: ValueType, bits: number): V;

  /** Sum; integers wrap. */
  add(type: NumberType, a: V, b: V): V;
  /** Difference; integers wrap. */
  sub(type: NumberType, a: V, b: V): V;
  /** Product; integers wrap. */
  mul(type: NumberType, a: V, b: V): V;
  /** Upper 32 bits of the 64-bit product of two u32. */
  mulHigh(a: V, b: V): V;
  /** float32 quotient, within 3 ulp where the operands and the quotient are normal; NaN and infinity unspecified. */
  divide(a: V, b: V): V;
  /** Truncated integer quotient; the divisor is not 0 and the quotient is in range. */
  quotient(type: IntegerType, a: V, b: V): V;
  /** Remainder of {@link quotient}, under the same conditions. */
  remainder(type: IntegerType, a: V, b: V): V;
  /** Negation; a float32's sign bit flips. */
  neg(type: 'f32' | 'i32', a: V): V;
  /** Absolute value; a float32's sign bit is cleared. */
  abs(type: 'f32' | 'i32', a: V): V;
  /** The lesser one; float32 operands are not NaN. */
  min(type: NumberType, a: V, b: V): V;
  /** The greater one; float32 operands are not NaN. */
  max(type: NumberType, a: V, b: V): V;
  /** Towards negative infinity; the operand is finite. */
  floor(a: V): V;
  /** Towards positive infinity; the operand is finite. */
  ceil(a: V): V;
  /** Towards zero; the operand is finite. */
  trunc(a: V): V;
  /** Rounds to nearest, ties to even; the operand is finite. */
  roundEven(a: V): V;
  /** Square root of an operand in [1, 4), within 5 ulp. */
  sqrt(a: V): V;
  /**
   * `e^x` as the device has it, of a finite operand: within docs/numerics.md's grant where the result is normal; below that
   * the result may be flushed to 0.
   */
  exp(a: V): V;

  /** Bitwise, or of bools. */
  and(type: IntegerType | 'bool', a: V, b: V): V;
  /** Bitwise, or of bools. */
  or(type: IntegerType | 'bool', a: V, b: V): V;
  /** Bitwise, or of bools. */
  xor(type: IntegerType | 'bool', a: V, b: V): V;
  /** Bitwise, or of a bool. */
  not(type: IntegerType | 'bool', a: V): V;
  /** Shift to the left by 0 to 31 bits, a u32. */
  shiftLeft(type: IntegerType, a: V, bits: V): V;
  /** Shift to the right by 0 to 31 bits, a u32; an i32 keeps its sign. */
  shiftRight(type: IntegerType, a: V, bits: V): V;

  /** Equality; float32 operands are not NaN. */
  equal(type: NumberType, a: V, b: V): V;
  /** `a < b`; float32 operands are not NaN. */
  less(type: NumberType, a: V, b: V): V;
  /** `a <= b`; float32 operands are not NaN. */
  lessOrEqual(type: NumberType, a: V, b: V): V;
  /** `condition ? a : b`, bit for bit. */
  select(type: ValueType, condition: V, a: V, b: V): V;

  /**
   * `value`, or where `condition` holds, which is rare, what `special` gives. Devices that branch do what it takes only where
   * the condition holds for any component.
   */
  rarely(type: ValueType, condition: V, value: V, special: () => V): V;

  /** An integer to the nearest float32, ties to even. */
  toFloat(from: IntegerType, a: V): V;
  /** A float32 truncated to an integer; the operand is in range. */
  toInteger(to: IntegerType, a: V): V;
  /** The same 32 bits as another type. */
  bitcast(from: NumberType, to: NumberType, a: V): V;
  /**
   * The same float32, hidden from a compiler that would regroup sums and products or drop what is only different for NaN
   * and infinity. Generators whose compiler does neither give the operand back.
   */
  opaque(a: V): V;
}
