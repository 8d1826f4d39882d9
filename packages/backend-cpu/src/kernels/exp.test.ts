import { describe, expect, it } from 'vitest';
import { expNonPositive } from './exp.ts';

describe('expNonPositive', () => {
  it('is within 2e-13 of Math.exp, subnormal results within one of their units', () => {
    for (let i = 0; i <= 6000; i++) {
      const x = -i / 7.93;
      const want = Math.exp(x);
      const error = Math.abs(expNonPositive(x) - want);
      expect(error <= 2e-13 * want + 5e-324, `at ${x}: off by ${error}`).toBe(true);
    }
  });

  it('is exact where softmax relies on it', () => {
    expect(expNonPositive(0)).toBe(1);
    expect(expNonPositive(-0)).toBe(1);
    expect(expNonPositive(-Infinity)).toBe(0);
    expect(expNonPositive(-1e9)).toBe(0);
    expect(expNonPositive(Number.NaN)).toBeNaN();
  });
});
