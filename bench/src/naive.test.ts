import { describe, expect, it } from 'vitest';
import { webgpuCases } from './cases.ts';
import { findError, naiveEntry, resultLength } from './naive.ts';

describe('findError', () => {
  it('accepts the right result and finds a wrong, missing or extra entry', () => {
    for (const { work } of webgpuCases(true)) {
      const right = Array.from({ length: resultLength(work) }, (_, i) => naiveEntry(work, i));
      expect(findError(work, right)).toBeUndefined();
      expect(findError(work, right.slice(1))).toMatch(/instead of/);
      expect(findError(work, [...right.slice(0, -1), Number.NaN])).toMatch(/is NaN instead of/);
      expect(findError(work, [(right.at(-1) as number) + 1, ...right.slice(0, -1)])).toMatch(/^entry/);
    }
  });
});
