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

/**
 * Short forms of {@link Arithmetic} for the bodies of functions. What has no type in its name is of float32.
 *
 * Special values are told and made by their bits, as integers: compilers of shaders may assume that there are no NaN and no
 * infinities, and then decide a float comparison, or a test of the bits of what they know to be computed, as they like.
 * Hence functions select among bits, and their operands are to be `opaque` where they were computed (`lowerNodes` sees to it).
 */
export class Terms<V> {
  readonly a: Arithmetic<V>;

  constructor(a: Arithmetic<V>) {
    this.a = a;
  }

  /** A float32 constant. */
  f(value: number): V {
    return this.a.constant('f32', bitsOfFloat(value));
  }
  /** A u32 constant. */
  u(value: number): V {
    return this.a.constant('u32', value >>> 0);
  }
  /** An i32 constant. */
  i(value: number): V {
    return this.a.constant('i32', value >>> 0);
  }

  add(x: V, y: V): V {
    return this.a.add('f32', x, y);
  }
  sub(x: V, y: V): V {
    return this.a.sub('f32', x, y);
  }
  mul(x: V, y: V): V {
    return this.a.mul('f32', x, y);
  }
  /** `x` times a constant. */
  times(x: V, factor: number): V {
    return this.mul(x, this.f(factor));
  }
  /** `x` plus a constant. */
  plus(x: V, summand: number): V {
    return this.add(x, this.f(summand));
  }
  neg(x: V): V {
    return this.a.neg('f32', x);
  }
  abs(x: V): V {
    return this.a.abs('f32', x);
  }
  /** The lesser of x, which is not NaN, and a limit. */
  atMost(x: V, limit: number): V {
    return this.a.min('f32', x, this.f(limit));
  }
  /** The greater of x, which is not NaN, and a limit. */
  atLeast(x: V, limit: number): V {
    return this.a.max('f32', x, this.f(limit));
  }
  /** `x < y`. */
  less(x: V, y: V): V {
    return this.a.less('f32', x, y);
  }
  select(condition: V, x: V, y: V): V {
    return this.a.select('f32', condition, x, y);
  }
  /** A polynomial by Horner's rule, the constant coefficient first. */
  polynomial(x: V, coefficients: readonly number[]): V {
    const [last, ...others] = [...coefficients].reverse();
    return others.reduce<V>((sum, coefficient) => this.plus(this.mul(sum, x), coefficient), this.f(last as number));
  }

  /** The bits of a float32, a u32. */
  bits(x: V): V {
    return this.a.bitcast('f32', 'u32', x);
  }
  /** The float32 of some bits, a u32. */
  float(bits: V): V {
    return this.a.bitcast('u32', 'f32', bits);
  }
  /** Bits that are set in both, u32. */
  and(bits: V, mask: number): V {
    return this.a.and('u32', bits, this.u(mask));
  }
  or(x: V, y: V): V {
    return this.a.or('u32', x, y);
  }
  /** One of two u32. */
  choose(condition: V, x: V, y: V): V {
    return this.a.select('u32', condition, x, y);
  }
  /** Bits without their sign: in the order of the numbers, the infinity above them, then the NaNs. */
  magnitude(bits: V): V {
    return this.and(bits, BITS.magnitude);
  }
  /** Returns whether bits are those of a NaN. */
  isNan(bits: V): V {
    return this.above(this.magnitude(bits), BITS.infinity);
  }
  /** Returns whether bits have a sign. */
  hasSign(bits: V): V {
    return this.atLeastBits(bits, BITS.sign);
  }
  /** Returns whether a u32 is less than a limit. */
  below(bits: V, limit: number): V {
    return this.a.less('u32', bits, this.u(limit));
  }
  /** Returns whether a u32 is greater than a limit. */
  above(bits: V, limit: number): V {
    return this.a.less('u32', this.u(limit), bits);
  }
  /** Returns whether a u32 is at least a limit. */
  atLeastBits(bits: V, limit: number): V {
    return this.a.lessOrEqual('u32', this.u(limit), bits);
  }
  /** Returns whether both. */
  both(x: V, y: V): V {
    return this.a.and('bool', x, y);
  }
  /** Returns whether either. */
  either(x: V, y: V): V {
    return this.a.or('bool', x, y);
  }
  not(x: V): V {
    return this.a.not('bool', x);
  }
  /** The 12 leading bits of the significand; the product of two such numbers is exact. */
  leading(x: V): V {
    return this.float(this.and(this.bits(x), 0xffff_f000));
  }
  /** The bits of a result, but those of a NaN where the operand's bits are. */
  nanFrom(operand: V, result: V): V {
    return this.float(this.choose(this.isNan(operand), this.u(BITS.nan), result));
  }
}
