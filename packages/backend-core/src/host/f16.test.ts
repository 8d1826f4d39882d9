import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { f16BitsToF32, f32ToF16Bits, fromF16Array, toF16Array } from './f16.ts';

const ALL = Uint16Array.from({ length: 65_536 }, (_, bits) => bits);
const isNaN16 = (bits: number) => (bits & 0x7c00) === 0x7c00 && (bits & 0x3ff) !== 0;

/** The value by the definition in IEEE 754, written another way than the source: from the binary digits. */
function valueOf(bits: number): number {
  const digits = bits.toString(2).padStart(16, '0');
  const sign = digits[0] === '1' ? -1 : 1;
  const exponent = Number.parseInt(digits.slice(1, 6), 2);
  const fraction = Number.parseInt(digits.slice(6), 2) / 1024;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -14 : (1 + fraction) * 2 ** (exponent - 15));
}

/** Finite non-negative values in order: the bits of the n-th are n. 2^16 takes the place of infinity. */
const LADDER = [...ALL.subarray(0, 0x7c00)].map(valueOf).concat(2 ** 16);

/** The nearest by looking at both neighbours, ties to the one with even bits. */
function nearest(x: number): number {
  if (Number.isNaN(x)) return 0x7e00;
  const sign = Object.is(Math.sign(x), -0) || x < 0 ? 0x8000 : 0;
  const magnitude = Math.min(Math.abs(x), 2 ** 16);
  let low = 0;
  let high = LADDER.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((LADDER[middle] as number) <= magnitude) low = middle;
    else high = middle;
  }
  const below = magnitude - (LADDER[low] as number);
  const above = (LADDER[high] as number) - magnitude;
  return sign | (below < above || (below === above && low % 2 === 0) ? low : high);
}

describe('all 65,536 values', () => {
  it('decode by definition', () => {
    for (const bits of ALL) expect(f16BitsToF32(bits)).toBe(valueOf(bits));
  });

  it('come back with the same bits; every NaN as 0x7e00', () => {
    for (const bits of ALL) expect(f32ToF16Bits(f16BitsToF32(bits))).toBe(isNaN16(bits) ? 0x7e00 : bits);
    expect(toF16Array(fromF16Array(ALL))).toEqual(ALL.map((bits) => (isNaN16(bits) ? 0x7e00 : bits)));
  });

  it('ties go to even, and a hair beside them to the nearer', () => {
    for (let bits = 0; bits < 0x7c00; bits++) {
      const [low, high] = [LADDER[bits] as number, LADDER[bits + 1] as number];
      const tie = (low + high) / 2;
      const hair = (high - low) * 2 ** -30;
      for (const [sign, top] of [
        [1, 0],
        [-1, 0x8000],
      ] as const) {
        expect(f32ToF16Bits(sign * tie)).toBe(top | (bits + (bits % 2)));
        expect(f32ToF16Bits(sign * (tie - hair))).toBe(top | bits);
        expect(f32ToF16Bits(sign * (tie + hair))).toBe(top | (bits + 1));
      }
    }
  });
});

describe('f32ToF16Bits', () => {
  // By hand from the layout.
  it.each([
    [0, 0x0000],
    [-0, 0x8000],
    [1, 0x3c00],
    [-2, 0xc000],
    [65504, 0x7bff],
    [65519.99, 0x7bff],
    [65520, 0x7c00],
    [-65520, 0xfc00],
    [1e300, 0x7c00],
    [Infinity, 0x7c00],
    [-Infinity, 0xfc00],
    [Number.NaN, 0x7e00],
    [2 ** -14, 0x0400],
    [2 ** -14 - 2 ** -24, 0x03ff],
    [2 ** -24, 0x0001],
    [2 ** -25, 0x0000],
    [-(2 ** -25), 0x8000],
    [2 ** -25 * (1 + 2 ** -52), 0x0001],
    [Number.MIN_VALUE, 0x0000],
    [1 / 3, 0x3555],
    // Rounding to float32 first would make a tie of this and round it up.
    [1 + 2 ** -11 + 2 ** -40, 0x3c01],
    [1 + 3 * 2 ** -11 - 2 ** -40, 0x3c01],
  ])('%d', (value, bits) => {
    expect(f32ToF16Bits(value)).toBe(bits);
  });

  it('is the nearest, for any double', () => {
    const near = fc.tuple(fc.nat(0xffff), fc.double({ min: -1, max: 1, noNaN: true })).map(([bits, away]) => {
      const value = valueOf(bits);
      return Number.isFinite(value) ? value + away * 2 ** -10 * Math.max(Math.abs(value), 2 ** -14) : value;
    });
    fc.assert(
      fc.property(fc.oneof(fc.double(), near, fc.float()), (x) => {
        expect(f32ToF16Bits(x)).toBe(nearest(x));
      }),
      { numRuns: 20_000 },
    );
  });

  it('arrays convert element by element', () => {
    expect([...toF16Array([1, -2, 1e9])]).toEqual([0x3c00, 0xc000, 0x7c00]);
    expect([...fromF16Array(Uint16Array.of(0x3c00, 0xc000, 0x7c00))]).toEqual([1, -2, Infinity]);
    expect(toF16Array([])).toHaveLength(0);
  });
});
