import { describe, expect, it } from 'vitest';
import { ANY_BOOL, anyOf, type Interval, NOT_A_NUMBER, point, truth } from './interval.ts';
import { operationOf } from './arithmetic.ts';
import { philox4x32, randomWord, type Words } from './integers.ts';

const from = (lo: number, hi: number): Interval => ({ lo, hi, nan: false });
const MIN = -(2 ** 31);

describe('points', () => {
  it.each([
    ['add', 'i32', 2 ** 31 - 1, 1, MIN],
    ['sub', 'u32', 0, 1, 2 ** 32 - 1],
    ['mul', 'i32', 65_537, 65_537, 131_073],
    ['mul', 'u32', 2 ** 32 - 1, 2 ** 32 - 1, 1],
    ['div', 'i32', -7, 2, -3],
    ['div', 'i32', MIN, -1, MIN],
    ['div', 'u32', 2 ** 32 - 1, 2, 2 ** 31 - 1],
    ['div', 'i32', 5, 0, 0],
    ['rem', 'i32', -7, 2, -1],
    ['rem', 'i32', 7, -2, 1],
    ['rem', 'u32', 7, 0, 0],
    ['and', 'i32', -1, 12, 12],
    ['or', 'u32', 2 ** 31, 1, 2 ** 31 + 1],
    ['xor', 'u32', 2 ** 32 - 1, 1, 2 ** 32 - 2],
    ['shl', 'u32', 1, 31, 2 ** 31],
    ['shl', 'i32', 1, 33, 2],
    ['shr', 'i32', -8, 1, -4],
    ['shr', 'u32', 2 ** 31, 31, 1],
    ['min', 'i32', -1, 1, -1],
    ['max', 'u32', 2 ** 31, 1, 2 ** 31],
  ] as const)('%s of %s: %d, %d', (op, type, a, b, want) => {
    const { lo, hi } = operationOf(op, type)([point(a), point(b)]);
    expect([lo + 0, hi + 0]).toEqual([want, want]);
  });

  it.each([
    ['neg', 'i32', MIN, MIN],
    ['abs', 'i32', MIN, MIN],
    ['abs', 'u32', 2 ** 31, 2 ** 31],
    ['neg', 'u32', 1, 2 ** 32 - 1],
    ['not', 'u32', 0, 2 ** 32 - 1],
    ['toU32', 'i32', -1, 2 ** 32 - 1],
    ['toI32', 'u32', 2 ** 32 - 1, -1],
  ] as const)('%s of %s: %d', (op, type, x, want) => {
    expect(operationOf(op, type)([point(x)])).toEqual(point(want));
  });
});

describe('ranges', () => {
  it.each([
    ['add', from(1, 2), from(10, 20), from(11, 22)],
    ['sub', from(1, 2), from(10, 20), from(-19, -8)],
    ['mul', from(-2, 3), from(4, 5), from(-10, 15)],
    ['div', from(-7, 9), from(2, 3), from(-3, 4)],
    ['div', from(6, 9), from(-1, 3), from(-9, 9)],
    ['rem', from(-3, 100), from(1, 7), from(-3, 6)],
    ['min', from(1, 9), from(3, 5), from(1, 5)],
    ['max', from(1, 9), from(3, 5), from(3, 9)],
  ] as const)('%s', (op, a, b, want) => {
    expect(operationOf(op, 'i32')([a, b])).toEqual(want);
  });

  it('that wrap, and bits of ranges, are any integer', () => {
    const any = anyOf('i32');
    expect(operationOf('add', 'i32')([from(0, 2 ** 31 - 1), point(1)])).toEqual(any);
    expect(operationOf('and', 'i32')([from(0, 1), point(1)])).toEqual(any);
    expect(operationOf('shl', 'u32')([from(0, 1), point(1)])).toEqual(anyOf('u32'));
    expect(operationOf('random', 'u32')([point(0), from(0, 1), point(0)])).toEqual(anyOf('u32'));
    expect(operationOf('div', 'i32')([from(MIN, 0), point(-1)])).toEqual(any);
  });

  it('by bits keep their order where none wraps', () => {
    expect(operationOf('toU32', 'i32')([from(-3, -1)])).toEqual(from(2 ** 32 - 3, 2 ** 32 - 1));
    expect(operationOf('toU32', 'i32')([from(-1, 1)])).toEqual(anyOf('u32'));
  });
});

describe('comparisons', () => {
  const less = operationOf('lt', 'f32');
  const equal = operationOf('eq', 'f32');

  it('are true, false or maybe', () => {
    expect(less([from(1, 2), from(3, 4)])).toEqual(truth(true));
    expect(less([from(3, 4), from(1, 3)])).toEqual(truth(false));
    expect(less([from(1, 3), from(2, 4)])).toEqual(ANY_BOOL);
    expect(equal([point(1), point(1)])).toEqual(truth(true));
    expect(equal([point(1), from(1, 2)])).toEqual(ANY_BOOL);
    expect(equal([point(0), from(1, 2)])).toEqual(truth(false));
    expect(operationOf('ge', 'f32')([from(2, 3), from(1, 2)])).toEqual(truth(true));
    expect(operationOf('gt', 'f32')([from(2, 3), from(1, 2)])).toEqual(ANY_BOOL);
    expect(operationOf('le', 'i32')([from(2, 3), point(3)])).toEqual(truth(true));
  });

  it('are false with NaN, but ne true', () => {
    expect(less([NOT_A_NUMBER, point(1)])).toEqual(truth(false));
    expect(operationOf('ne', 'f32')([NOT_A_NUMBER, point(1)])).toEqual(truth(true));
    expect(less([{ lo: 0, hi: 0, nan: true }, point(1)])).toEqual(ANY_BOOL);
    expect(less([{ lo: 2, hi: 2, nan: true }, point(1)])).toEqual(truth(false));
  });

  it('isNan and isFinite', () => {
    expect(operationOf('isNan', 'f32')([NOT_A_NUMBER])).toEqual(truth(true));
    expect(operationOf('isNan', 'f32')([point(1)])).toEqual(truth(false));
    expect(operationOf('isNan', 'f32')([{ lo: 0, hi: 0, nan: true }])).toEqual(ANY_BOOL);
    expect(operationOf('isFinite', 'f32')([from(1, Infinity)])).toEqual(ANY_BOOL);
    expect(operationOf('isFinite', 'f32')([point(-Infinity)])).toEqual(truth(false));
    expect(operationOf('isFinite', 'f32')([from(1, 2)])).toEqual(truth(true));
    expect(operationOf('isFinite', 'f32')([NOT_A_NUMBER])).toEqual(truth(false));
  });
});

describe('bools', () => {
  it('of which one may be either', () => {
    expect(operationOf('and', 'bool')([truth(false), ANY_BOOL])).toEqual(truth(false));
    expect(operationOf('or', 'bool')([truth(true), ANY_BOOL])).toEqual(truth(true));
    expect(operationOf('xor', 'bool')([truth(true), ANY_BOOL])).toEqual(ANY_BOOL);
    expect(operationOf('xor', 'bool')([truth(true), truth(true)])).toEqual(truth(false));
    expect(operationOf('not', 'bool')([truth(true)])).toEqual(truth(false));
    expect(operationOf('eq', 'bool')([truth(true), truth(true)])).toEqual(truth(true));
  });
});

describe('conversions of floats', () => {
  it('truncate, saturate and make 0 of NaN', () => {
    expect(operationOf('toI32', 'f32')([from(-1.5, 2.9)])).toMatchObject({ lo: -1, hi: 2 });
    expect(operationOf('toI32', 'f32')([from(-Infinity, 3e9)])).toEqual(from(MIN, 2 ** 31 - 1));
    expect(operationOf('toU32', 'f32')([from(-5, 5e9)])).toEqual(from(0, 2 ** 32 - 1));
    expect(operationOf('toU32', 'f32')([NOT_A_NUMBER])).toEqual(point(0));
    expect(operationOf('toI32', 'f32')([{ lo: 3, hi: 4, nan: true }])).toEqual(from(0, 4));
  });

  it('of integers are to nearest, ties to even', () => {
    expect(operationOf('toF32', 'i32')([point(2 ** 24 + 1)])).toEqual(point(2 ** 24));
    expect(operationOf('toF32', 'u32')([point(2 ** 24 + 3)])).toEqual(point(2 ** 24 + 4));
    expect(operationOf('toF32', 'bool')([ANY_BOOL])).toEqual(from(0, 1));
  });

  it('by bits know those of what was read and of computed normal numbers', () => {
    const read = { ...NOT_A_NUMBER, copy: { dtype: 'f32', bits: 0xffc00001 } } as const;
    expect(operationOf('bitcastU32', 'f32')([read])).toEqual(point(0xffc00001));
    expect(operationOf('bitcastI32', 'f32')([read])).toEqual(point(0xffc00001 - 2 ** 32));
    expect(operationOf('bitcastU32', 'f32')([point(1)])).toEqual(point(0x3f800000));
    expect(operationOf('bitcastU32', 'f32')([point(0)])).toEqual(anyOf('u32'));
    expect(operationOf('bitcastU32', 'f32')([NOT_A_NUMBER])).toEqual(anyOf('u32'));
    expect(operationOf('bitcastF32', 'u32')([point(0x3f800000)])).toEqual(point(1));
    expect(operationOf('bitcastF32', 'i32')([point(-1)])).toEqual(NOT_A_NUMBER);
    expect(operationOf('bitcastF32', 'u32')([from(0, 1)])).toEqual(anyOf('f32'));
  });
});

// Random123, examples/kat_vectors: philox4x32 10.
it.each<[Words, readonly [number, number], Words]>([
  [
    [0, 0, 0, 0],
    [0, 0],
    [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
  ],
  [
    [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
    [0xffffffff, 0xffffffff],
    [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
  ],
  [
    [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
    [0xa4093822, 0x299f31d0],
    [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
  ],
])('philox4x32(%j, %j)', (counter, key, want) => {
  expect(philox4x32(counter, key)).toEqual(want);
});

it('four neighbours share a block; the stream is another', () => {
  expect([0, 1, 2, 3].map((index) => randomWord(0, index, 0))).toEqual(philox4x32([0, 0, 0, 0], [0, 0]));
  expect(randomWord(7, 0xfffffffe, 5)).toBe(philox4x32([0x3fffffff, 5, 0, 0], [7, 0])[2]);
});
