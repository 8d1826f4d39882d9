import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sizeClass } from './buffer-pool.ts';

it('a size class holds the size, wastes at most an eighth or 256 bytes, and is a class of its own', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 32 }), (bytes) => {
      const size = sizeClass(bytes);
      expect(size).toBeGreaterThanOrEqual(bytes);
      expect(size - bytes).toBeLessThanOrEqual(Math.max(bytes / 8, 256));
      expect(size % 4).toBe(0);
      expect(sizeClass(size)).toBe(size);
    }),
  );
});
