import { describe, expect, it } from 'vitest';
import type { FloatType, IntType, TypeId } from './type.ts';
import { encodeString, literalWords } from './words.ts';

const float = (width: FloatType['width']): FloatType => ({ kind: 'float', id: 1 as TypeId, width });
const int = (width: IntType['width']): IntType => ({ kind: 'int', id: 1 as TypeId, width });

describe('encodeString', () => {
  it('ends with a zero byte, in its own word where the text fills the last', () => {
    expect(encodeString('')).toEqual([0]);
    expect(encodeString('main')).toEqual([0x6e69616d, 0]);
    expect(encodeString('abc')).toEqual([0x00636261]);
  });

  it('writes UTF-8', () => {
    expect(encodeString('é')).toEqual([0x0000a9c3]);
  });
});

describe('literalWords', () => {
  it('writes integers of every width', () => {
    expect(literalWords(int(8), -1)).toEqual([0xff]);
    expect(literalWords(int(16), 65_535)).toEqual([0xffff]);
    expect(literalWords(int(32), -1)).toEqual([0xffff_ffff]);
    expect(literalWords(int(64), 0x1_0000_0002)).toEqual([2, 1]);
    expect(literalWords(int(64), -1n)).toEqual([0xffff_ffff, 0xffff_ffff]);
  });

  it('writes floats of every width', () => {
    expect(literalWords(float(32), 1)).toEqual([0x3f800000]);
    expect(literalWords(float(64), 1)).toEqual([0, 0x3ff00000]);
    expect(literalWords(float(32), -0)).toEqual([0x80000000]);
  });

  it.each([
    [1, 0x3c00],
    [-2, 0xc000],
    [65_504, 0x7bff],
    [65_519, 0x7bff],
    [65_520, 0x7c00],
    [2 ** -24, 0x0001],
    [2 ** -25, 0x0000],
    [3 * 2 ** -25, 0x0002],
    [2 ** -14, 0x0400],
    [2 ** -14 - 2 ** -26, 0x0400],
    [1 + 2 ** -11, 0x3c00],
    [1 + 3 * 2 ** -11, 0x3c02],
    [2 - 2 ** -12, 0x4000],
    [2 - 2 ** -52, 0x4000],
    [2 ** -13 - 2 ** -66, 0x0800],
    [-Infinity, 0xfc00],
    [NaN, 0x7e00],
  ])('rounds %f to the nearest half, ties to even', (value, bits) => {
    expect(literalWords(float(16), value)).toEqual([bits]);
  });
});
