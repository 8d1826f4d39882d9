import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import type { NodeOp, ValueType } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { random as randomOnHost } from '../src/evaluate/special-functions.ts';
import { arithmeticNode } from '../src/functions/arithmetic-node.ts';
import { random, randomBlock } from '../src/functions/random.ts';
import { fromBf16, fromF16, toBf16, toF16 } from '../src/functions/storage.ts';
import { bitsOf, floatArithmetic, floatOf } from './support/float-arithmetic.ts';
import { anyFloats } from './support/samples.ts';

const a = floatArithmetic();
const flushing = floatArithmetic({ flushes: true });

function compute(op: NodeOp, types: readonly ValueType[], ...operands: number[]): number {
  return arithmeticNode(a, { kind: 'arithmetic', op, type: 'f32', level: 'element', operands: [] }, types, operands);
}
/** Computes with operands of one type. */
const of = (type: ValueType) => {
  return (op: NodeOp, ...operands: number[]) => compute(op, Array<ValueType>(operands.length).fill(type), ...operands);
};
const [floats, ints, words] = [of('f32'), of('i32'), of('u32')];

const [LEAST, MOST] = [-(2 ** 31), 2 ** 31 - 1];

describe('float32', () => {
  it('min, max and sign give NaN where an operand is', () => {
    for (const op of ['min', 'max'] as const) {
      expect([floats(op, NaN, 1), floats(op, 1, NaN), floats(op, NaN, -Infinity)]).toEqual([NaN, NaN, NaN]);
    }
    expect([floats('min', 2, -Infinity), floats('max', 2, -3)]).toEqual([-Infinity, 2]);
    expect([-Infinity, -1e-45, -0, 0, 7, NaN].map((x) => floats('sign', x))).toEqual([-1, -1, -0, 0, 1, NaN]);
  });

  it('is rounded to integers, ties to even', () => {
    const x = [2.5, -2.5, 0.49999997, 8_388_607.5, 3e38, -Infinity, NaN];
    for (const [op, wanted] of [
      ['round', [2, -2, 0, 8_388_608]],
      ['floor', [2, -3, 0, 8_388_607]],
      ['ceil', [3, -2, 1, 8_388_608]],
      ['trunc', [2, -2, 0, 8_388_607]],
    ] as const) {
      expect(
        x.map((value) => floats(op, value)),
        op,
      ).toEqual([...wanted, Math.fround(3e38), -Infinity, NaN]);
    }
  });

  it('compares false with NaN, but for ne', () => {
    for (const op of ['eq', 'lt', 'le', 'gt', 'ge'] as const) {
      expect([floats(op, NaN, NaN), floats(op, NaN, 1), floats(op, 1, NaN)]).toEqual([0, 0, 0]);
    }
    expect([floats('ne', NaN, NaN), floats('ne', 1, NaN), floats('ne', 1, 1)]).toEqual([1, 1, 0]);
    expect([floats('eq', 0, -0), floats('lt', 1, 2), floats('ge', 1, 2), floats('le', 2, 2)]).toEqual([1, 1, 0, 1]);
    expect([NaN, Infinity, -Infinity, 3e38].map((x) => floats('isNan', x))).toEqual([1, 0, 0, 0]);
    expect([NaN, Infinity, -Infinity, 3e38].map((x) => floats('isFinite', x))).toEqual([0, 0, 0, 1]);
  });

  it('becomes integers cut off and saturated', () => {
    const x = [
      NaN,
      -Infinity,
      Infinity,
      -1.9,
      2_147_483_520,
      2 ** 31,
      -(2 ** 31),
      -(2 ** 31) - 256,
      4_294_967_040,
      2 ** 32,
    ];
    expect(x.map((value) => floats('toI32', value))).toEqual([
      ...[0, LEAST, MOST, -1, 2_147_483_520, MOST, LEAST, LEAST, MOST, MOST],
    ]);
    expect(x.map((value) => floats('toU32', value))).toEqual([
      ...[0, 0, 2 ** 32 - 1, 0, 2_147_483_520, 2 ** 31, 0, 0, 4_294_967_040, 2 ** 32 - 1],
    ]);
  });
});

describe('integers', () => {
  it('are divided without exceptions', () => {
    expect([ints('div', 7, -2), ints('div', 7, 0), ints('div', LEAST, -1), ints('div', LEAST, 1)]).toEqual([
      ...[-3, 0, LEAST, LEAST],
    ]);
    expect([ints('rem', -7, 2), ints('rem', 7, 0), ints('rem', LEAST, -1), ints('rem', 7, -4)]).toEqual([-1, 0, 0, 3]);
    expect([
      words('div', 2 ** 32 - 1, 2),
      words('div', 3, 0),
      words('rem', 2 ** 32 - 1, 10),
      words('rem', 3, 0),
    ]).toEqual([...[MOST, 0, 5, 0]]);
  });

  it('are shifted by 0 to 31 bits, and wrap', () => {
    expect([ints('shl', 1, 33), ints('shr', -8, 1), ints('shr', -8, -1), ints('shl', 3, 31)]).toEqual([
      2,
      -4,
      -1,
      LEAST,
    ]);
    expect([words('shr', 2 ** 32 - 8, 1), words('shl', 3, 63)]).toEqual([2 ** 31 - 4, 2 ** 31]);
    expect([ints('abs', LEAST), ints('abs', -5), ints('neg', LEAST), words('neg', 1), words('abs', 3)]).toEqual([
      ...[LEAST, 5, LEAST, 2 ** 32 - 1, 3],
    ]);
  });

  it('and truths are selected, joined and converted', () => {
    expect(compute('select', ['bool', 'i32', 'i32'], 1, 5, 6)).toBe(5);
    expect(compute('eq', ['bool', 'bool'], 1, 0)).toBe(0);
    expect(compute('ne', ['bool', 'bool'], 1, 0)).toBe(1);
    expect([compute('toF32', ['bool'], 1), compute('toF32', ['bool'], 0)]).toEqual([1, 0]);
    expect([ints('toF32', -3), words('toF32', 2 ** 32 - 1), ints('toU32', -1), words('toI32', 2 ** 32 - 1)]).toEqual([
      ...[-3, 2 ** 32, 2 ** 32 - 1, -1],
    ]);
    expect([floats('bitcastU32', -1), words('bitcastF32', 0x40490fdb)]).toEqual([0xbf80_0000, Math.fround(Math.PI)]);
  });
});

describe('element types', () => {
  it('float16 is read exactly and rounded to nearest even, also where subnormals are flushed', () => {
    for (let half = 0; half < 65_536; half++) {
      const want = f16BitsToF32(half);
      expect(fromF16(a, half)).toBe(want);
      expect(fromF16(flushing, half)).toBe(want);
      if (!Number.isNaN(want)) expect(toF16(flushing, want)).toBe(half);
    }
    const ties = Array.from({ length: 3000 }, (_, i) => floatOf(0x3280_0000 + i * 0x1_5000 + (i % 3) - 1));
    for (const x of [...ties, ...anyFloats(20_000)]) {
      const got = toF16(a, x);
      if (Number.isNaN(x)) expect(got & 0x7fff).toBeGreaterThan(0x7c00);
      else expect(got).toBe(f32ToF16Bits(x));
    }
  });

  it.each([0x7f80_0001, 0xff80_1fff, 0x7f80_2000, 0xffff_ffff])('NaN of the bits %i stays NaN', (bits) => {
    // A JavaScript number cannot carry the bits of a signaling NaN.
    const carrying = {
      ...a,
      bitcast: (...[from, to, x]: Parameters<typeof a.bitcast>) =>
        from === 'f32' && Number.isNaN(x) ? bits : a.bitcast(from, to, x),
    };
    const sign = (bits >>> 16) & 0x8000;
    expect(toF16(carrying, NaN) & 0x8000).toBe(sign);
    expect(toF16(carrying, NaN) & 0x7fff).toBeGreaterThan(0x7c00);
    expect(toBf16(carrying, NaN) & 0x8000).toBe(sign);
    expect(toBf16(carrying, NaN) & 0x7fff).toBeGreaterThan(0x7f80);
  });

  it('bfloat16 is the nearest of the two around, ties to even', () => {
    for (const x of [...anyFloats(20_000), 1 + 2 ** -8, 1 + 3 * 2 ** -8, 3.4028235e38, 2 ** -149]) {
      const got = toBf16(a, x);
      const value = fromBf16(a, got);
      if (Number.isNaN(x)) expect(value).toBeNaN();
      else {
        const below = floatOf(bitsOf(x) & 0xffff_0000);
        const above = floatOf(((bitsOf(x) >>> 16) + 1) << 16);
        const [down, up] = [Math.abs(x - below), Math.abs(above - x)];
        const isTie = down === up;
        // The limit counts as the number that would come next.
        if (Number.isFinite(above))
          expect(value).toBe(isTie ? ((bitsOf(below) >>> 16) & 1 ? above : below) : down < up ? below : above);
      }
    }
    expect(toBf16(a, 3.4028235e38)).toBe(0x7f80);
  });
});

describe('random', () => {
  it('is Philox 4x32-10', () => {
    // The known answer of Random123 for a counter and a key of zeros.
    expect(randomBlock(a, 0, 0, 0)).toEqual([0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
    expect([0, 1, 2, 3].map((index) => random(a, 0, index, 0))).toEqual(randomBlock(a, 0, 0, 0));
  });

  it('is the same on the host, by other means', () => {
    for (let i = 0; i < 300; i++) {
      const [seed, index, stream] = [Math.imul(i, 0x9e3779b1) >>> 0, Math.imul(i, 0x85ebca6b) >>> 0, (i * 7919) >>> 0];
      expect(randomOnHost(seed, index, stream)).toBe(random(a, seed, index, stream));
    }
  });
});
