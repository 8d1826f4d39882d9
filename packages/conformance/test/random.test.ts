import { describe, expect, it } from 'vitest';
import { Random } from '../src/harness/random.ts';

/** The first draws of one seed. Should these change, every printed case id means another case. */
const STABLE = [406_094_710, 1_927_788_845, 3_770_021_511];

describe('Random', () => {
  it('gives the same numbers for ever', () => {
    const random = new Random('gemm/exact/m=17');
    expect([random.uint32(), random.uint32(), random.uint32()]).toEqual(STABLE);
    expect(new Random('gemm/exact/m=17').uint32()).toBe(STABLE[0]);
    expect(new Random('gemm/exact/m=18').uint32()).not.toBe(STABLE[0]);
  });

  it('keeps to its ranges, both ends included', () => {
    const random = new Random('ranges');
    const integers = Array.from({ length: 2000 }, () => random.integer(-3, 4));
    expect(new Set(integers)).toEqual(new Set([-3, -2, -1, 0, 1, 2, 3, 4]));
    const units = Array.from({ length: 2000 }, () => random.unit());
    expect(units.every((x) => x >= 0 && x < 1)).toBe(true);
    expect(Math.min(...units)).toBeLessThan(0.01);
    expect(Math.max(...units)).toBeGreaterThan(0.99);
    expect(new Set(Array.from({ length: 200 }, () => random.pick(['a', 'b', 'c'])))).toEqual(new Set(['a', 'b', 'c']));
    expect(Array.from({ length: 100 }, () => random.chance(0))).not.toContain(true);
    expect(Array.from({ length: 100 }, () => random.chance(1))).not.toContain(false);
  });

  it('gives wide floats: float32, 24 bits in use, exponents within the spread', () => {
    const random = new Random('wide');
    for (let i = 0; i < 2000; i++) {
      const x = random.wideFloat(3);
      expect(Math.fround(x)).toBe(x);
      // The last of the 24 bits is set: rounded to tf32 or f16 it changes.
      expect(Math.abs(x) * 2 ** (23 - Math.floor(Math.log2(Math.abs(x))))).toSatisfy((m: number) => m % 2 === 1);
      expect(Math.abs(x)).toBeGreaterThan(2 ** -3);
      expect(Math.abs(x)).toBeLessThan(2 ** 4);
    }
  });

  it('permutes', () => {
    const order = new Random('order').permutation(50);
    expect([...order].sort((x, y) => x - y)).toEqual(Array.from({ length: 50 }, (_, i) => i));
    expect(order).not.toEqual([...order].sort((x, y) => x - y));
  });
});
