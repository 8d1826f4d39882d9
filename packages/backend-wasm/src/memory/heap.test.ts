import { isBackendError } from '@concord/backend-core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { outOfMemory } from '../../test/support/out-of-memory.ts';
import { ALIGNMENT, Heap } from './heap.ts';

const START = 128;
const END = START + 64 * 40;

/** A heap whose memory does not grow beyond `end`. */
function bounded(end = END): Heap {
  return new Heap(START, (wanted) => {
    if (wanted > end) throw outOfMemory();
  });
}

describe('Heap', () => {
  it('gives a freed block out again, and what is left of it', () => {
    const heap = bounded();
    const [a, b] = [heap.take(1000), heap.take(64)];
    heap.give(a, 0);
    expect(heap.take(64)).toBe(a);
    expect(heap.take(65)).toBe(a + 64);
    expect(heap.take(1)).toBe(a + 192);
    expect(b).toBe(START + 1024);
  });

  it('prefers the smallest block that fits', () => {
    const heap = bounded();
    const [large, , small] = [heap.take(320), heap.take(64), heap.take(256), heap.take(64)];
    heap.give(large, 0);
    heap.give(small, 0);
    expect(heap.take(256)).toBe(small);
  });

  it('extends the last block if it is free, instead of leaving a gap', () => {
    const heap = bounded();
    heap.take(64);
    const last = heap.take(64);
    heap.give(last, 0);
    expect(heap.take(640)).toBe(last);
  });

  it('gives who writes from outside of the queue only memory that no command uses', () => {
    const heap = bounded();
    const freed = heap.take(64);
    heap.take(64);
    heap.give(freed, 7);
    expect(heap.take(64, 6)).not.toBe(freed);
    expect(heap.take(64, 7)).toBe(freed);
  });

  it('a block joined of two is idle when both are', () => {
    const heap = bounded();
    const [a, b] = [heap.take(64), heap.take(64)];
    heap.take(64);
    heap.give(a, 9);
    heap.give(b, 3);
    expect(heap.take(128, 8)).not.toBe(a);
    expect(heap.take(128, 9)).toBe(a);
  });

  describe.each([
    ['before', [0, 1]],
    ['after', [1, 2]],
    ['on both sides', [0, 1, 2]],
  ] as const)('a block joined with what is free %s', (_where, joined) => {
    it.each(joined)('is idle no sooner than each, the busiest of them block %i', (busiest) => {
      const heap = bounded();
      const blocks = [heap.take(64), heap.take(64), heap.take(64)];
      // So that nothing is joined with the memory after them.
      heap.take(END - START - 192);
      // The one in the middle is freed last: the others are its neighbours.
      for (const index of [...joined].sort((a, b) => Math.abs(b - 1) - Math.abs(a - 1))) {
        heap.give(blocks[index] as number, index === busiest ? 9 : 3);
      }
      expect(() => heap.take(64 * joined.length, 8)).toThrow(outOfMemory());
      expect(heap.take(64 * joined.length, 9)).toBe(blocks[joined[0]]);
    });
  });

  it('gives no byte out before the commands are done that it was freed after', () => {
    const step = fc.oneof(
      fc.record({ bytes: fc.integer({ min: 1, max: 300 }), done: fc.nat({ max: 9 }) }),
      fc.record({ pick: fc.nat(), idleAt: fc.nat({ max: 9 }) }),
    );
    const property = fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const heap = bounded();
      const live = new Map<number, number>();
      const idleAt = new Map<number, number>();
      const lines = (address: number, bytes: number): number[] =>
        Array.from({ length: Math.ceil(bytes / ALIGNMENT) }, (_, i) => address + i * ALIGNMENT);
      for (const next of steps) {
        if ('pick' in next) {
          const address = [...live.keys()][next.pick % live.size];
          if (address === undefined) continue;
          heap.give(address, next.idleAt);
          for (const line of lines(address, live.get(address) as number)) idleAt.set(line, next.idleAt);
          live.delete(address);
        } else {
          try {
            const address = heap.take(next.bytes, next.done);
            for (const line of lines(address, next.bytes)) expect(idleAt.get(line) ?? 0).toBeLessThanOrEqual(next.done);
            live.set(address, next.bytes);
          } catch (error) {
            if (!isBackendError(error, 'OUT_OF_MEMORY')) throw error;
          }
        }
      }
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('goes on after it was full', () => {
    const heap = bounded();
    const all = heap.take(END - START);
    expect(() => heap.take(1)).toThrow(outOfMemory());
    heap.give(all, 0);
    expect(heap.take(END - START)).toBe(all);
  });

  it('refuses an address that it did not give', () => {
    const heap = bounded();
    const a = heap.take(64);
    heap.give(a, 0);
    expect(() => heap.give(a, 0)).toThrow('nothing was taken at address');
  });

  it('agrees with a simple model', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('take' as const), bytes: fc.integer({ min: 1, max: 700 }) }),
      fc.record({ kind: fc.constant('give' as const), pick: fc.nat() }),
    );
    const property = fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const heap = bounded();
      const live = new Map<number, number>();
      for (const next of steps) {
        if (next.kind === 'give') {
          const address = [...live.keys()][next.pick % live.size];
          if (address === undefined) continue;
          heap.give(address, 0);
          live.delete(address);
        } else {
          try {
            const address = heap.take(next.bytes);
            expect(address % ALIGNMENT).toBe(0);
            expect(address).toBeGreaterThanOrEqual(START);
            expect(address + next.bytes).toBeLessThanOrEqual(END);
            for (const [other, bytes] of live) {
              expect(address + next.bytes <= other || other + bytes <= address).toBe(true);
            }
            live.set(address, next.bytes);
          } catch (error) {
            if (!isBackendError(error, 'OUT_OF_MEMORY')) throw error;
          }
        }
      }
      for (const address of live.keys()) heap.give(address, 0);
      // Nothing is lost to fragments.
      const all = heap.freeBytes;
      if (all > 0) expect(heap.take(all)).toBe(START);
    });
    fc.assert(property, { numRuns: 300 });
  });
});
