import { expect, it } from 'vitest';
import { sizeClass } from './memory-pool.ts';

it('size classes hold what is asked for and waste little', () => {
  for (const bytes of [1, 255, 256, 257, 1000, 4095, 4096, 4097, 1e6, 2 ** 26, 2 ** 26 + 1, 3e9]) {
    const size = sizeClass(bytes);
    expect(size).toBeGreaterThanOrEqual(bytes);
    expect(size).toBeLessThanOrEqual(Math.max(256, bytes * 1.125 + 256));
    expect(sizeClass(size)).toBe(size);
  }
});
