import type { Arithmetic } from '../../src/arithmetic/arithmetic.ts';

/** The deviations from IEEE 754 that a device may have. */
export interface Device {
  /** Operands and results below 2^-126 count as 0. */
  readonly flushes?: boolean;
  /** Sums, products, quotients and roots are cut off instead of rounded. */
  readonly truncates?: boolean;
  /**
   * By how much of its grant, 3 + 2|x|, the exponential is off: from -1 to 1. The unit is 2^-24 of the result, what an ulp is
   * just below a power of two: no function could keep 8 + 2|x| ulp there of an exponential that is off by that many of the
   * ulps, twice as large, that it has just above one.
   */
  readonly expError?: number;
  /** The error of quotients and roots, in multiples of 2^-24. */
  readonly divideError?: number;
}

const MIN_NORMAL = 2 ** -126;
const word = new DataView(new ArrayBuffer(4));

/** The bits of a float32. */
export function bitsOf(x: number): number {
  word.setFloat32(0, x);
  return word.getUint32(0);
}

/** The float32 of some bits. */
export function floatOf(bits: number): number {
  word.setUint32(0, bits);
  return word.getFloat32(0);
}

function truncated(x: number): number {
  const near = Math.fround(x);
  return Number.isFinite(near) && Math.abs(near) > Math.abs(x) ? floatOf(bitsOf(near) - 1) : near;
}

/** The distance of float32 numbers at x. */
export function ulpAt(x: number): number {
  return 2 ** (Math.floor(Math.log2(Math.max(Math.abs(x), MIN_NORMAL))) - 23);
}

function zeroLike(x: number): number {
  return x < 0 || Object.is(x, -0) ? -0 : 0;
}

/** {@link Arithmetic} on JavaScript's numbers, each result rounded to its type: bools are 0 and 1. */
export function floatArithmetic(device: Device = {}): Arithmetic<number> {
  const flush = (x: number): number => (device.flushes === true && Math.abs(x) < MIN_NORMAL ? zeroLike(x) : x);
  const rounded = (x: number): number => flush(device.truncates === true ? truncated(x) : Math.fround(x));
  const off = (x: number, units: number): number => {
    const wrong = x * (1 + units * 2 ** -24);
    const near = rounded(Number.isFinite(x) ? wrong : x);
    // No further than it may: rounding could take it beyond.
    const isFurther = Math.abs(near) > Math.abs(wrong) === units > 0 && near !== wrong && units !== 0;
    return isFurther && Number.isFinite(near) && near !== 0 ? floatOf(bitsOf(near) - Math.sign(units)) : near;
  };
  const wrap = (type: string, x: number): number => (type === 'u32' ? x >>> 0 : x | 0);
  const number = (type: string, f32: number, integer: () => number): number =>
    type === 'f32' ? rounded(f32) : wrap(type, integer());
  const truth = (x: boolean): number => (x ? 1 : 0);
  const toBits = (type: string, x: number): number => (type === 'f32' ? bitsOf(x) : x >>> 0);
  const ofBits = (type: string, bits: number): number => (type === 'f32' ? floatOf(bits) : wrap(type, bits));
  const inputs = (type: string, ...values: number[]): number[] => (type === 'f32' ? values.map(flush) : values);
  const logical = (type: string, x: number): number => (type === 'bool' ? x & 1 : wrap(type, x));
  return {
    constant: (type, bits) => (type === 'bool' ? bits : ofBits(type, bits)),
    add(type, a, b) {
      const [x, y] = inputs(type, a, b) as [number, number];
      return number(type, x + y, () => x + y);
    },
    sub(type, a, b) {
      const [x, y] = inputs(type, a, b) as [number, number];
      return number(type, x - y, () => x - y);
    },
    mul(type, a, b) {
      const [x, y] = inputs(type, a, b) as [number, number];
      return number(type, x * y, () => Math.imul(x, y));
    },
    mulHigh: (a, b) => Number((BigInt(a) * BigInt(b)) >> 32n),
    divide: (a, b) => off(flush(a) / flush(b), device.divideError ?? 0),
    quotient: (_, a, b) => Math.trunc(a / b),
    remainder: (_, a, b) => (a % b) + 0,
    neg: (type, a) => (type === 'f32' ? -a : -a | 0),
    abs: (type, a) => (type === 'f32' ? Math.abs(a) : Math.abs(a) | 0),
    // Devices drop NaN.
    min: (type, a, b) => (inputs(type, a)[0]! < inputs(type, b)[0]! ? a : b),
    max: (type, a, b) => (inputs(type, a)[0]! > inputs(type, b)[0]! ? a : b),
    floor: (a) => Math.floor(flush(a)),
    ceil: (a) => Math.ceil(flush(a)),
    trunc: (a) => Math.trunc(a),
    roundEven(a) {
      const low = Math.floor(a);
      const rest = a - low;
      return rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low;
    },
    sqrt: (a) => off(Math.sqrt(flush(a)), device.divideError ?? 0),
    exp: (a) => off(Math.exp(a), (device.expError ?? 0) * (3 + 2 * Math.abs(a))),
    and: (type, a, b) => logical(type, a & b),
    or: (type, a, b) => logical(type, a | b),
    xor: (type, a, b) => logical(type, a ^ b),
    not: (type, a) => logical(type, ~a),
    shiftLeft: (type, a, bits) => wrap(type, a << bits),
    shiftRight: (type, a, bits) => (type === 'u32' ? a >>> bits : a >> bits),
    equal: (type, a, b) => truth(inputs(type, a)[0] === inputs(type, b)[0]),
    less: (type, a, b) => truth(inputs(type, a)[0]! < inputs(type, b)[0]!),
    lessOrEqual: (type, a, b) => truth(inputs(type, a)[0]! <= inputs(type, b)[0]!),
    select: (_, condition, a, b) => (condition === 1 ? a : b),
    rarely: (_, condition, value, special) => (condition === 1 ? special() : value),
    toFloat: (_, a) => Math.fround(a),
    toInteger: (to, a) => wrap(to, Math.trunc(a)),
    bitcast: (from, to, a) => ofBits(to, toBits(from, a)),
    opaque: (a) => a,
  };
}
