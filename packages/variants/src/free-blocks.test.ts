import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FreeBlocks, LARGEST_ROUNDED, sizeClass } from './free-blocks.ts';

it('a size class holds the size, wastes at most an eighth or 256 bytes, and is its own class', () => {
  const size = fc.oneof(
    fc.integer({ min: 1, max: 2 ** 32 }),
    fc.integer({ min: LARGEST_ROUNDED - 9, max: LARGEST_ROUNDED + 9 }),
  );
  fc.assert(
    fc.property(size, fc.constantFrom(4, 256), (bytes, unit) => {
      const held = sizeClass(bytes, unit);
      expect(held).toBeGreaterThanOrEqual(bytes);
      expect(held - bytes).toBeLessThanOrEqual(Math.max(bytes / 8, 256));
      expect(held % 4).toBe(0);
      expect(sizeClass(held, unit)).toBe(held);
      if (bytes > LARGEST_ROUNDED) expect(held - bytes).toBeLessThan(unit);
    }),
  );
});

/** A block that says which it is. */
const block = (size: number): { readonly size: number } => ({ size });

it('a block is handed out once, to who asks for its size, and counted as long as it is kept', () => {
  const free = new FreeBlocks<{ readonly size: number }>(1000, () => expect.unreachable());
  const [first, second] = [block(256), block(256)];
  free.keep(first);
  free.keep(second);
  free.keep(block(320));
  expect(free.bytes).toBe(832);
  expect([...free.sizes]).toEqual([256, 320]);
  expect(free.take(512)).toBeUndefined();
  expect(new Set([free.take(256), free.take(256)])).toEqual(new Set([first, second]));
  expect(free.take(256)).toBeUndefined();
  expect(free.bytes).toBe(320);
});

it('beyond the maximum the largest blocks are given up, until half is kept', () => {
  const retired: { readonly size: number }[] = [];
  const free = new FreeBlocks<{ readonly size: number }>(1000, (given) => retired.push(given));
  const blocks = [300, 200, 400, 100].map(block);
  for (const each of blocks) free.keep(each);
  expect(retired).toEqual([]);
  free.keep(block(300));
  expect(retired.map(({ size }) => size)).toEqual([400, 300, 300]);
  expect(free.bytes).toBe(300);
  free.trim(0);
  expect(retired).toHaveLength(5);
  expect([free.bytes, ...free.sizes]).toEqual([0]);
});
