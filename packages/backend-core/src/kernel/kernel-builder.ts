import type { FoldOp, ScanOp } from './node-ops.ts';
import type { GatherInput, Operand, Scattered, Value } from './value.ts';
import type { NumberType, ValueType } from './value-types.ts';

/** `f(x)` of a float32. */
type Float = (x: Value<'f32'>) => Value<'f32'>;

/** A function of two numbers of one type; one of them may be a plain number. */
interface Binary<Types extends ValueType> {
  <T extends Types>(a: Value<T>, b: Operand<NoInfer<T>>): Value<T>;
  <T extends Types>(a: Operand<NoInfer<T>>, b: Value<T>): Value<T>;
}

/** A comparison of two values of one type; one of them may be a plain number. False with NaN, but for `ne`. */
interface Comparison<Types extends ValueType> {
  <T extends Types>(a: Value<T>, b: Operand<NoInfer<T>>): Value<'bool'>;
  <T extends Types>(a: Operand<NoInfer<T>>, b: Value<T>): Value<'bool'>;
}

/** The folds that give a value of their operand's type. */
interface Fold {
  /** `sum` (empty: 0), `product` (1), `max` (-Infinity or the smallest integer), `min` (Infinity or the largest). */
  <T extends NumberType>(op: 'sum' | 'product' | 'max' | 'min', x: Value<T>): Value<T>;
  /** Mean; finite where the elements are. Empty: NaN. */
  (op: 'mean', x: Value<'f32'>): Value<'f32'>;
  /** Returns whether any (empty: false) or all (empty: true) are true. */
  (op: 'any' | 'all', x: Value<'bool'>): Value<'bool'>;
  /** The number of those that are true. */
  (op: 'count', x: Value<'bool'>): Value<'u32'>;
  /** Row-major place in the folded axes of the first NaN, else of the first of the largest (smallest). Empty: 0. */
  (op: 'argmax' | 'argmin', x: Value<NumberType>): Value<'u32'>;
  (op: FoldOp, x: Value): Value;
}

/** The direction of a scan, and whether an element counts for itself. */
export interface ScanOptions {
  /** True: of the elements before, without the element itself; the first gets the fold of none. Default: false. */
  readonly exclusive?: boolean;
  /** True: from the end of the row to the element. Default: false. */
  readonly reverse?: boolean;
}

/**
 * The vocabulary of `defineKernel`. Each method adds a node and gives its value; a value is as fine as the finest of its
 * operands. float32 functions are as accurate as docs/numerics.md says; min, max, sign and folds give NaN where an
 * operand is NaN. Integers wrap at 2^32.
 *
 * Each method throws {BackendError} INVALID_ARGUMENT for an operand of a wrong type or of another kernel.
 */
export interface KernelBuilder {
  /** A float32 constant: `value` rounded to nearest; NaN and the infinities too. */
  f32(value: number): Value<'f32'>;
  /** An integer constant from -2^31 to 2^31 - 1. */
  i32(value: number): Value<'i32'>;
  /** An integer constant from 0 to 2^32 - 1. */
  u32(value: number): Value<'u32'>;
  /** A truth constant. */
  bool(value: boolean): Value<'bool'>;

  /** The point's index along an axis of the domain; negative axes count from the end. */
  index(axis: number): Value<'u32'>;
  /** The row's index along an axis of those that are not folded; negative axes count from the end. */
  rowIndex(axis: number): Value<'u32'>;
  /** The size of an axis of the domain; negative axes count from the end. */
  extent(axis: number): Value<'u32'>;
  /** The element of a gather input at one index per axis, or `otherwise` where an index is outside. */
  gather<T extends NumberType>(
    input: GatherInput<T>,
    indices: readonly (Value<'u32'> | Value<'i32'>)[],
    otherwise: Operand<NoInfer<T>>,
  ): Value<T>;

  /**
   * A value and its place in an output that is declared with `access: 'scatter'`, one index per axis; stored nowhere where an index is
   * outside. It is stored once an element, or once a row where neither value nor indices are finer.
   */
  scatter<T extends NumberType>(value: Value<T>, indices: readonly (Value<'u32'> | Value<'i32'>)[]): Scattered<T>;

  /** `a + b`. */
  readonly add: Binary<NumberType>;
  /** `a - b`. */
  readonly sub: Binary<NumberType>;
  /** `a b`. */
  readonly mul: Binary<NumberType>;
  /** `a / b`. Integers truncate; by 0 they give 0; -2^31 / -1 is -2^31. */
  readonly div: Binary<NumberType>;
  /** Remainder of the integer division, with the sign of `a`; by 0 it is 0. */
  readonly rem: Binary<'i32' | 'u32'>;
  /** The lesser one; NaN where either is. */
  readonly min: Binary<NumberType>;
  /** The greater one; NaN where either is. */
  readonly max: Binary<NumberType>;
  /** `a^b`, as C99 Annex F. */
  readonly pow: Binary<'f32'>;
  /** The angle of the point (b, a) in radians, from -pi to pi: `atan2(y, x)`. */
  readonly atan2: Binary<'f32'>;
  /** Bitwise, or of truths. */
  readonly and: Binary<'i32' | 'u32' | 'bool'>;
  /** Bitwise, or of truths. */
  readonly or: Binary<'i32' | 'u32' | 'bool'>;
  /** Bitwise, or of truths. */
  readonly xor: Binary<'i32' | 'u32' | 'bool'>;
  /** `a` shifted left by `b & 31` bits. */
  readonly shl: Binary<'i32' | 'u32'>;
  /** `a` shifted right by `b & 31` bits; an i32 keeps its sign. */
  readonly shr: Binary<'i32' | 'u32'>;

  readonly eq: Comparison<ValueType>;
  readonly ne: Comparison<ValueType>;
  readonly lt: Comparison<NumberType>;
  readonly le: Comparison<NumberType>;
  readonly gt: Comparison<NumberType>;
  readonly ge: Comparison<NumberType>;

  /** `-x`. */
  neg<T extends NumberType>(x: Value<T>): Value<T>;
  /** `|x|`; of -2^31 it is -2^31, of a u32 itself. */
  abs<T extends NumberType>(x: Value<T>): Value<T>;
  /** Bitwise, or of a truth. */
  not<T extends 'i32' | 'u32' | 'bool'>(x: Value<T>): Value<T>;
  readonly sqrt: Float;
  /** `1 / sqrt(x)`. */
  readonly rsqrt: Float;
  readonly exp: Float;
  /** `2^x`. */
  readonly exp2: Float;
  /** `e^x - 1`, accurate near 0. */
  readonly expm1: Float;
  readonly log: Float;
  /** Logarithm to base 2. */
  readonly log2: Float;
  /** `log(1 + x)`, accurate near 0. */
  readonly log1p: Float;
  /** Sine of radians. */
  readonly sin: Float;
  /** Cosine of radians. */
  readonly cos: Float;
  readonly tanh: Float;
  /** `1 / (1 + e^-x)`. */
  readonly sigmoid: Float;
  /** `x sigmoid(x)`. */
  readonly silu: Float;
  /** `x (1 + erf(x / sqrt 2)) / 2`. */
  readonly gelu: Float;
  /** `x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2`. */
  readonly geluTanh: Float;
  readonly erf: Float;
  readonly floor: Float;
  readonly ceil: Float;
  /** Rounds to the nearest integer, ties to even. */
  readonly round: Float;
  /** Towards zero. */
  readonly trunc: Float;
  /** -1, 0 or 1. */
  readonly sign: Float;
  isNan(x: Value<'f32'>): Value<'bool'>;
  /** True unless x is NaN or an infinity. */
  isFinite(x: Value<'f32'>): Value<'bool'>;

  /** `condition ? a : b`, bit for bit. */
  select<T extends ValueType>(condition: Value<'bool'>, a: Value<T>, b: Operand<NoInfer<T>>): Value<T>;
  select<T extends ValueType>(condition: Value<'bool'>, a: Operand<NoInfer<T>>, b: Value<T>): Value<T>;
  /** `min(max(x, low), high)`. */
  clamp<T extends NumberType>(x: Value<T>, low: Operand<NoInfer<T>>, high: Operand<NoInfer<T>>): Value<T>;

  /** Converts to the nearest float32, ties to even; true is 1. */
  toF32(x: Value<'i32'> | Value<'u32'> | Value<'bool'>): Value<'f32'>;
  /** An f32 truncated and saturated, NaN to 0; a u32 by its bits. */
  toI32(x: Value<'f32'> | Value<'u32'>): Value<'i32'>;
  /** An f32 truncated and saturated, NaN to 0; an i32 by its bits. */
  toU32(x: Value<'f32'> | Value<'i32'>): Value<'u32'>;
  /** The same 32 bits as another type. What a computed NaN or subnormal gives is unspecified. */
  bitcast<T extends NumberType>(type: T, x: Value<NumberType>): Value<T>;

  /** One value for each row from all of its elements. */
  readonly fold: Fold;
  /**
   * The fold of the row up to each element, row-major over the folded axes: a running sum, product, maximum or minimum.
   * From the first NaN on all is NaN. Nothing that depends on a scan is folded or scanned, and all scans of a kernel
   * have one direction.
   *
   * @throws {BackendError} INVALID_ARGUMENT for an operand of no number type, or what depends on a scan; unknown options
   */
  scan<T extends NumberType>(op: ScanOp, x: Value<T>, options?: ScanOptions): Value<T>;
  /** A value of the call or of a row, repeated at each element. */
  spread<T extends ValueType>(x: Value<T>): Value<T>;
  /**
   * Random bits: word `index & 3` of Philox 4x32-10 with key (seed, 0) and counter (index >> 2, stream, 0, 0).
   *
   * Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011.
   */
  random(seed: Operand<'u32'>, index: Operand<'u32'>, stream: Operand<'u32'>): Value<'u32'>;
  /** Names a value for error messages and `explain`. */
  name<T extends ValueType>(label: string, x: Value<T>): Value<T>;
}
