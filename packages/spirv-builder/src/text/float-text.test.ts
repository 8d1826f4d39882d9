import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { floatFormats, formatFloat, parseFloatBits } from './float-text.ts';

describe('floating-point numbers in text', () => {
  it.each([16, 32, 64])('of %i bits come back from what they are printed as', (width) => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: (1n << BigInt(width)) - 1n }), (bits) => {
        expect(parseFloatBits(formatFloat(bits, width), width)).toBe(bits);
      }),
      { seed: width, numRuns: 3000 },
    );
  });

  it.each(Object.entries(floatFormats))('of %s bits come back at the ends of every range', (text, format) => {
    const width = Number(text);
    const { exponentBits, fractionBits } = format;
    const exponents = [0, 1, 2 ** exponentBits - 2, 2 ** exponentBits - 1].map(BigInt);
    const fractions = [0n, 1n, 1n << BigInt(fractionBits - 1), (1n << BigInt(fractionBits)) - 1n];
    const all = exponents.flatMap((exponent) =>
      fractions.map((fraction) => (exponent << BigInt(fractionBits)) | fraction),
    );
    for (const bits of [...all, ...all.map((positive) => positive | (1n << BigInt(width - 1)))]) {
      expect(parseFloatBits(formatFloat(bits, width), width)).toBe(bits);
    }
  });

  it('of 64 bits print the decimal that JavaScript reads as the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const view = new DataView(new ArrayBuffer(8));
        view.setFloat64(0, value);
        const text = formatFloat(view.getBigUint64(0), 64);
        if (!text.includes('x')) expect(Number(text)).toBe(value);
      }),
      { seed: 3 },
    );
  });

  it.each([
    ['1.0004', 0x3c00n],
    ['1.0009', 0x3c00n],
    ['-1.0009', 0xbc00n],
    ['65535.9', 0x7bffn],
    ['1e-8', 0n],
  ])('%s becomes a number of 16 bits towards zero', (text, bits) => {
    expect(parseFloatBits(text, 16)).toBe(bits);
  });

  it.each(['', '-', '.', 'e5', '1e', '0x', '0x1', '0xp1', '0x1.8p', 'nan', 'inf', '1f', '+0x1p0', '1e400'])(
    '%j is none',
    (text) => {
      for (const width of [16, 32, 64]) expect(parseFloatBits(text, width)).toBeUndefined();
    },
  );
});
