import type { FoldOp, ValueType } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { foldingOf, meanScale } from '../src/functions/folds.ts';
import { bitsOf, floatArithmetic, floatOf } from './support/float-arithmetic.ts';

const a = floatArithmetic();

/** Folds by halves, as lanes do, the later half first if told so. */
function fold(op: FoldOp, type: ValueType, elements: readonly number[], isReversed = false): number {
  const folding = foldingOf(op, type);
  const { scale, divisor } = meanScale(elements.length);
  const mean = () => ({ scale: Math.fround(scale), divisor: Math.fround(divisor) });
  const part = (from: number, to: number): readonly number[] => {
    if (from === to) return folding.identity.map((bits, i) => a.constant(folding.state[i] as 'u32', bits));
    if (to - from === 1) return folding.lift(a, elements[from] as number, { position: () => from, mean });
    const middle = (from + to) >> 1;
    const halves = [part(from, middle), part(middle, to)] as const;
    return isReversed ? folding.combine(a, halves[1], halves[0]) : folding.combine(a, halves[0], halves[1]);
  };
  // The identity changes nothing, wherever it comes in.
  return folding.finish(a, folding.combine(a, part(0, elements.length), part(0, 0)), { mean });
}

const both = (op: FoldOp, type: ValueType, elements: readonly number[]): number => {
  const result = fold(op, type, elements);
  expect(fold(op, type, elements, true)).toBe(result);
  return result;
};

describe('folds', () => {
  it('of nothing give their neutral elements', () => {
    const ops = ['sum', 'product', 'max', 'min', 'mean', 'argmax', 'argmin'] as const;
    expect(ops.map((op) => fold(op, 'f32', []))).toEqual([0, 1, -Infinity, Infinity, NaN, 0, 0]);
    expect((['max', 'min'] as const).flatMap((op) => [fold(op, 'i32', []), fold(op, 'u32', [])])).toEqual([
      ...[-(2 ** 31), 0, 2 ** 31 - 1, 2 ** 32 - 1],
    ]);
    expect((['any', 'all', 'count'] as const).map((op) => fold(op, 'bool', []))).toEqual([0, 1, 0]);
  });

  it('of numbers are what they say', () => {
    const x = [3, -7, 0.5, 12, -7, 12];
    expect(both('sum', 'f32', x)).toBe(13.5);
    expect(both('product', 'f32', [2, -3, 0.5])).toBe(-3);
    expect([both('max', 'f32', x), both('min', 'f32', x)]).toEqual([12, -7]);
    expect([both('argmax', 'f32', x), both('argmin', 'f32', x)]).toEqual([3, 1]);
    expect([both('sum', 'i32', [2 ** 31 - 1, 1]), both('product', 'u32', [2 ** 31, 3])]).toEqual([-(2 ** 31), 2 ** 31]);
    expect([both('argmax', 'u32', [1, 2 ** 32 - 1, 5]), both('argmin', 'i32', [4, -9, -9])]).toEqual([1, 1]);
    expect([both('any', 'bool', [0, 1]), both('all', 'bool', [0, 1]), both('count', 'bool', [1, 0, 1])]).toEqual([
      1, 0, 2,
    ]);
  });

  it('of float32 give NaN where one is, of either sign, and its first place', () => {
    const negativeNan = floatOf(0xffc0_0000);
    for (const nan of [NaN, negativeNan]) {
      for (const op of ['sum', 'product', 'max', 'min', 'mean'] as const)
        expect(both(op, 'f32', [1, nan, 3])).toBeNaN();
      for (const op of ['argmax', 'argmin'] as const) expect(both(op, 'f32', [Infinity, nan, -Infinity, nan])).toBe(1);
    }
    expect(both('argmax', 'f32', [-0, 0, -0])).toBe(0);
    expect(both('argmin', 'f32', [0, -0])).toBe(0);
    expect(both('argmax', 'f32', [-Infinity, -Infinity])).toBe(0);
    expect(bitsOf(both('max', 'f32', [-1e-45, 1e-45]))).toBe(1);
  });

  it('have a mean that is finite where the elements are', () => {
    expect(both('mean', 'f32', [2 ** 127, 2 ** 127, 2 ** 127])).toBe(2 ** 127);
    expect(both('mean', 'f32', [1, 2, 3, 4, 5])).toBe(3);
    expect(both('mean', 'f32', [7])).toBe(7);
    expect(both('mean', 'f32', [Infinity, 1, 2])).toBe(Infinity);
  });
});
