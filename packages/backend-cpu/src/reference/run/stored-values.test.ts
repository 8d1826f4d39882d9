import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bitsAt, bitsOfFloat32, exponentOf, roundTiesToEven, storedValue, valueOfBits } from './stored-values.ts';

describe('valueOfBits', () => {
  it('every binary16 is what core makes of it', () => {
    for (let bits = 0; bits < 65_536; bits++) {
      if (!Object.is(valueOfBits('f16', bits), f16BitsToF32(bits))) expect.fail(`bits ${bits}`);
    }
  });

  it('every bfloat16 is the float32 with those upper bits', () => {
    const words = new Uint32Array(1);
    const floats = new Float32Array(words.buffer);
    for (let bits = 0; bits < 65_536; bits++) {
      words[0] = bits << 16;
      if (!Object.is(valueOfBits('bf16', bits), floats[0])) expect.fail(`bits ${bits}`);
    }
  });

  it('float32: zeros, subnormals, limits', () => {
    expect(valueOfBits('f32', 0x80000000)).toBe(-0);
    expect(valueOfBits('f32', 1)).toBe(2 ** -149);
    expect(valueOfBits('f32', 0x7f7fffff)).toBe((2 - 2 ** -23) * 2 ** 127);
    expect(valueOfBits('f32', 0xff800000)).toBe(-Infinity);
    expect(valueOfBits('f32', 0x7fc00001)).toBe(Number.NaN);
  });
});

describe('storedValue', () => {
  it('rounds to binary16 as core does', () => {
    fc.assert(
      fc.property(fc.oneof(fc.double(), fc.float(), fc.double({ min: -70_000, max: 70_000 })), (x) => {
        expect(storedValue('f16', x) + 0).toBe(f16BitsToF32(f32ToF16Bits(x)) + 0);
      }),
      { numRuns: 2000 },
    );
  });

  // By hand: bfloat16 has 7 bits of fraction, so that the spacing from 1 to 2 is 2^-7.
  it.each([
    [1 + 2 ** -8, 1],
    [1 + 3 * 2 ** -8, 1 + 2 ** -6],
    [1 + 2 ** -8 + 2 ** -20, 1 + 2 ** -7],
    [3.4e38, Infinity],
    [3.39e38, 255 * 2 ** 120],
    [2 ** -133, 2 ** -133],
    [2 ** -134, 0],
    [-(2 ** -133) * 1.6, -(2 ** -132)],
    [-Infinity, -Infinity],
  ])('bf16 of %d is %d', (x, want) => {
    expect(storedValue('bf16', x)).toBe(want);
  });

  it('saturates narrow integers', () => {
    expect([-1000, -128, 5, 127, 128].map((x) => storedValue('i8', x))).toEqual([-128, -128, 5, 127, 127]);
    expect([0, 255, 256, 2 ** 32 - 1].map((x) => storedValue('u8', x))).toEqual([0, 255, 255, 255]);
  });
});

it('bits of elements', () => {
  expect(bitsAt(new Float32Array([0, -0]), 1)).toBe(0x80000000);
  expect(bitsAt(new Float32Array([1, 2, 3]).subarray(1), 1)).toBe(bitsOfFloat32(3));
  expect(bitsAt(new Int8Array([-5]), 0)).toBe(-5);
  expect(bitsAt(new Uint16Array([0xffff]), 0)).toBe(0xffff);
});

it('exponents and ties', () => {
  expect([1, 1.999, 2, -0.5, 2 ** -149, 2 ** 127].map(exponentOf)).toEqual([0, 0, 1, -1, -149, 127]);
  expect([0.5, 1.5, 2.5, -0.5, -1.5, 2.4, 2.6].map((x) => roundTiesToEven(x) + 0)).toEqual([0, 2, 2, 0, -2, 2, 3]);
});
