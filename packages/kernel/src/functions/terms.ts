import type { Arithmetic } from '../arithmetic/arithmetic.ts';

/** The bits of float32 values that functions test or make. Without its sign a number's bits are in the order of its value. */
export const BITS = {
  sign: 0x8000_0000,
  magnitude: 0x7fff_ffff,
  fraction: 0x007f_ffff,
  leastNormal: 0x0080_0000,
  one: 0x3f80_0000,
  infinity: 0x7f80_0000,
  nan: 0x7fc0_0000,
} as const;

/** The bits of a number rounded to float32. */
export function bitsOfFloat(value: number): number {
  return new Uint32Array(Float32Array.of(value).buffer)[0] as number;
}

type Constant<V> = (value: number) => V;
type Unary<V> = (x: V) => V;
type Binary<V> = (x: V, y: V) => V;
type WithConstant<V> = (x: V, constant: number) => V;
type Choice<V> = (condition: V, x: V, y: V) => V;

/**
 * Short forms of {@link Arithmetic} for the bodies of functions. What has no type in its name is of float32.
 *
 * Special values are told and made by their bits, as integers: compilers of shaders may assume that there are no NaN and no
 * infinities, and then decide a float comparison, or a test of the bits of what they know to be computed, as they like.
 * Hence functions select among bits, and their operands are to be `opaque` where they were computed (`lowerNodes` sees to it).
 */
export class Terms<V> {
  readonly a: Arithmetic<V>;

  /** Constants. */
  readonly f: Constant<V> = (value) => this.a.constant('f32', bitsOfFloat(value));
  readonly u: Constant<V> = (value) => this.a.constant('u32', value >>> 0);
  readonly i: Constant<V> = (value) => this.a.constant('i32', value >>> 0);

  readonly add: Binary<V> = (x, y) => this.a.add('f32', x, y);
  readonly sub: Binary<V> = (x, y) => this.a.sub('f32', x, y);
  readonly mul: Binary<V> = (x, y) => this.a.mul('f32', x, y);
  readonly times: WithConstant<V> = (x, factor) => this.mul(x, this.f(factor));
  readonly plus: WithConstant<V> = (x, summand) => this.add(x, this.f(summand));
  readonly neg: Unary<V> = (x) => this.a.neg('f32', x);
  readonly abs: Unary<V> = (x) => this.a.abs('f32', x);
  /** The lesser, or the greater one, of x, which is not NaN, and a limit. */
  readonly atMost: WithConstant<V> = (x, limit) => this.a.min('f32', x, this.f(limit));
  readonly atLeast: WithConstant<V> = (x, limit) => this.a.max('f32', x, this.f(limit));
  readonly less: Binary<V> = (x, y) => this.a.less('f32', x, y);
  readonly select: Choice<V> = (condition, x, y) => this.a.select('f32', condition, x, y);

  /** The bits of a float32, a u32; and the float32 of bits. */
  readonly bits: Unary<V> = (x) => this.a.bitcast('f32', 'u32', x);
  readonly float: Unary<V> = (bits) => this.a.bitcast('u32', 'f32', bits);
  readonly and: WithConstant<V> = (bits, mask) => this.a.and('u32', bits, this.u(mask));
  readonly or: Binary<V> = (x, y) => this.a.or('u32', x, y);
  /** One of two u32. */
  readonly choose: Choice<V> = (condition, x, y) => this.a.select('u32', condition, x, y);
  /** Bits without their sign: in the order of the numbers, the infinity above them, then the NaNs. */
  readonly magnitude: Unary<V> = (bits) => this.and(bits, BITS.magnitude);
  /** True if bits are those of a NaN, or have a sign. */
  readonly isNan: Unary<V> = (bits) => this.above(this.magnitude(bits), BITS.infinity);
  readonly hasSign: Unary<V> = (bits) => this.atLeastBits(bits, BITS.sign);
  /** True if a u32 is less than a limit, greater, or at least as great. */
  readonly below: WithConstant<V> = (bits, limit) => this.a.less('u32', bits, this.u(limit));
  readonly above: WithConstant<V> = (bits, limit) => this.a.less('u32', this.u(limit), bits);
  readonly atLeastBits: WithConstant<V> = (bits, limit) => this.a.lessOrEqual('u32', this.u(limit), bits);
  /** Logic of bools. */
  readonly both: Binary<V> = (x, y) => this.a.and('bool', x, y);
  readonly either: Binary<V> = (x, y) => this.a.or('bool', x, y);
  readonly not: Unary<V> = (x) => this.a.not('bool', x);
  /** The 12 leading bits of the significand; the product of two such numbers is exact. */
  readonly leading: Unary<V> = (x) => this.float(this.and(this.bits(x), 0xffff_f000));

  constructor(a: Arithmetic<V>) {
    this.a = a;
  }

  /** A polynomial by Horner's rule, the constant coefficient first. */
  polynomial(x: V, coefficients: readonly number[]): V {
    const [last, ...others] = [...coefficients].reverse();
    return others.reduce<V>((sum, coefficient) => this.plus(this.mul(sum, x), coefficient), this.f(last as number));
  }
  /** The bits of a result, but those of a NaN where the operand's bits are. */
  nanFrom(operand: V, result: V): V {
    return this.float(this.choose(this.isNan(operand), this.u(BITS.nan), result));
  }
}
