import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectError, expectInvalid } from '../../test/expect-error.ts';
import { MemoryBackend } from '../../test/memory-backend.ts';
import { isBackendError } from '../index.ts';
import { releaseSlot, SLOT_BYTES, takeSlot } from './address-slots.ts';
import { AllocationTable } from './allocation-table.ts';

const START = 2 ** 42;
const table = (size = 2 ** 42) => new AllocationTable<string>(START, size);

describe('AllocationTable', () => {
  it('resolves a part of an allocation', () => {
    const t = table();
    const base = t.add(100, 'x', 'weights');
    expect(t.resolve('a', base + 40, 60)).toEqual({ buffer: 'x', byteOffset: 40, byteLength: 60 });
    expectInvalid(
      () => t.resolve('a', base + 40, 61),
      'a is out of bounds: 61 bytes at offset 40 of its allocation "weights" of 100 bytes',
    );
    expect(t.find(base + 99)?.base).toBe(base);
    expect(t.find(base + 100)).toBeUndefined();
    expect(t.find(base - 1)).toBeUndefined();
    expectInvalid(() => t.resolve('a', base + 100, 1), `unknown handle ${base + 100}`);
  });

  it('gives no address out again while there are others, so that a stale pointer names nothing', () => {
    const t = table();
    const first = t.add(100, 'x');
    t.remove(first);
    const second = t.add(100, 'y');
    expect(second).not.toBe(first);
    expectInvalid(() => t.resolve('a', first, 1), `unknown handle ${first}, already freed`);
  });

  it('says why a pointer is unknown, with the label of the allocation', () => {
    const t = table();
    const [first, second] = [t.add(100, 'x', 'weights'), t.add(100, 'y')];
    t.remove(first);
    t.remove(second);
    expectInvalid(() => t.remove(first), `unknown handle ${first} ("weights"), already freed`);
    expectInvalid(() => t.resolve('a', first + 99, 1), `unknown handle ${first + 99} ("weights"), already freed`);
    expectInvalid(() => t.remove(second), `unknown handle ${second}, already freed`);
    expectInvalid(() => t.remove(second + 2 ** 20), `unknown handle ${second + 2 ** 20}`);
    const { hint } = expectInvalid(() => t.resolve('a', t.add(8, 'z', 'bias') + 8, 1));
    expect(hint).toBe('a: the pointer is 0 bytes past the end of the allocation "bias"');
  });

  it('forgets labels of long ago, and of addresses that are used again', () => {
    const t = table(256 + 512);
    const base = t.add(8, 'x', 'old');
    t.remove(base);
    expect(t.add(8, 'x')).toBe(base);
    t.remove(base);
    expectInvalid(() => t.remove(base), `unknown handle ${base}, already freed`);
    const many = table();
    const bases = Array.from({ length: 257 }, (_, index) => many.add(8, 'x', `${index}`) as number);
    for (const one of bases) many.remove(one);
    const [oldest, next] = bases as [number, number];
    expectInvalid(() => many.remove(oldest), `unknown handle ${oldest}, already freed`);
    expectInvalid(() => many.remove(next), `unknown handle ${next} ("1"), already freed`);
  });

  it('lists what is live by address', () => {
    const t = table();
    const [a, b, c] = [t.add(1, 'a'), t.add(1, 'b'), t.add(1, 'c')];
    t.remove(b);
    expect([...t.allocations()].map(({ base, buffer }) => [base, buffer])).toEqual([
      [a, 'a'],
      [c, 'c'],
    ]);
  });

  it('reuses addresses only when there are no new ones, the oldest first', () => {
    // 512 bytes are taken for each: 256 and the gap. Room for four after the first 256.
    const t = table(256 + 4 * 512);
    const bases = [1, 2, 3, 4].map((n) => t.add(n, 'x') as number);
    expect(bases).toEqual([256, 768, 1280, 1792].map((offset) => START + offset));
    expectError(() => t.add(1, 'x'), 'OUT_OF_MEMORY', 'no gap of 512 bytes is left in the virtual address space');
    const order = [2, 0, 3, 1];
    for (const index of order) t.remove(bases[index] as number);
    expect(order.map(() => t.add(9, 'x') as number)).toEqual(order.map((index) => bases[index]));
  });

  it('joins freed neighbours, and the fresh space, for an allocation that needs them', () => {
    const t = table(256 + 4 * 512);
    const bases = [1, 2, 3].map((n) => t.add(n, 'x') as number);
    for (const index of [1, 0, 2]) t.remove(bases[index] as number);
    expect(t.add(4 * 512 - 256, 'all')).toBe(bases[0]);
    expect(t.liveAllocations).toBe(1);
  });

  it('does not give fresh space out again that it has joined', () => {
    for (const joined of [512, 700, 768]) {
      const t = table(256 + 4 * 512);
      const bases = [1, 2, 3].map((n) => t.add(n, 'x') as number);
      t.remove(bases[2] as number);
      const base = t.add(joined, 'joined') as number;
      expect(base).toBe(bases[2]);
      // Neither after it, nor after a wish that cannot be granted.
      expectError(() => t.add(2000, 'x'), 'OUT_OF_MEMORY');
      for (;;) {
        try {
          expect(t.add(1, 'x')).toBeGreaterThanOrEqual(base + joined + 256);
        } catch (error) {
          expect(isBackendError(error, 'OUT_OF_MEMORY'), String(error)).toBe(true);
          break;
        }
      }
    }
  });

  it('does not remember freed ranges one by one without end', () => {
    const count = 70_000;
    const t = table(256 + count * 512);
    const bases = Array.from({ length: count }, () => t.add(1, 'x') as number);
    for (const base of [...bases].reverse()) t.remove(base);
    // Each came before the one freed before it. They were joined at some point, which shows in that the last one, the
    // first to be freed, is not the first to be reused.
    expect(t.add(1, 'x')).toBeLessThan(bases.at(-1) as number);
    expect(t.liveAllocations).toBe(1);
  });
});

describe('AllocationTable against a simple model', () => {
  /** Small space, so that reuse, splitting and joining happen all the time. */
  const SPACE = 256 + 40 * 256;
  const command = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), bytes: fc.integer({ min: 1, max: 1500 }) }),
    fc.record({ kind: fc.constant('remove' as const), pick: fc.nat() }),
    fc.record({
      kind: fc.constant('look' as const),
      at: fc.integer({ min: -300, max: SPACE + 300 }),
      length: fc.nat(600),
    }),
  );

  it('agrees with it', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 150 }), (commands) => {
        const t = table(SPACE);
        const live = new Map<number, number>();
        const freed = new Set<number>();
        let peak = 0;
        const around = (ptr: number) => [...live].find(([base, bytes]) => base <= ptr && ptr < base + bytes);
        for (const step of commands) {
          if (step.kind === 'add') {
            let base: number;
            try {
              base = t.add(step.bytes, `${step.bytes}`);
            } catch (error) {
              expect(isBackendError(error, 'OUT_OF_MEMORY')).toBe(true);
              continue;
            }
            expect(base % 256).toBe(0);
            expect(base).toBeGreaterThanOrEqual(START + 256);
            expect(base + step.bytes + 256).toBeLessThanOrEqual(START + SPACE);
            for (const [other, bytes] of live) {
              // A gap of 256 bytes at least, whichever comes first.
              expect(base >= other + bytes + 256 || other >= base + step.bytes + 256).toBe(true);
            }
            live.set(base, step.bytes);
            freed.delete(base);
          } else if (step.kind === 'remove' && live.size > 0) {
            const [base, bytes] = [...live][step.pick % live.size] as [number, number];
            expect(t.remove(base)).toMatchObject({ base, bytes, buffer: `${bytes}` });
            live.delete(base);
            freed.add(base);
          } else if (step.kind === 'look') {
            const ptr = START + step.at;
            const found = around(ptr);
            expect(t.find(ptr)?.base).toBe(found?.[0]);
            const fits = found !== undefined && ptr + step.length <= found[0] + found[1];
            if (fits) expect(t.resolve('x', ptr, step.length).byteOffset).toBe(ptr - found[0]);
            else expectInvalid(() => t.resolve('x', ptr, step.length));
            if (!live.has(ptr)) expect(expectInvalid(() => t.remove(ptr)).detail).toMatch(`unknown handle ${ptr}`);
          }
          for (const base of freed) if (around(base) === undefined) expectInvalid(() => t.remove(base));
          const inUse = [...live.values()].reduce((sum, bytes) => sum + bytes, 0);
          peak = Math.max(peak, inUse);
          expect(t).toMatchObject({ inUseBytes: inUse, peakBytes: peak, liveAllocations: live.size });
        }
        for (const base of live.keys()) t.remove(base);
        // Nothing is lost to fragments: one allocation can take the whole space again.
        t.add(SPACE - 512, 'all');
      }),
      { numRuns: 300 },
    );
  });

  it('freed addresses of one size come back in the order in which they were freed', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...Array(12).keys()], { minLength: 1 }), (order) => {
        const t = table(256 + 12 * 512);
        const bases = Array.from({ length: 12 }, () => t.add(256, 'x') as number);
        for (const index of order) t.remove(bases[index] as number);
        expect(order.map(() => t.add(1, 'x') as number)).toEqual(order.map((index) => bases[index]));
      }),
    );
  });
});

describe('address slots', () => {
  it('are 4 TiB apart, and recycled after dispose', async () => {
    const [x, y] = [await MemoryBackend.open(), await MemoryBackend.open()];
    const slot = (backend: MemoryBackend) => Math.floor(backend.alloc(1) / SLOT_BYTES);
    expect(slot(x)).toBeGreaterThan(0);
    expect(slot(x)).not.toBe(slot(y));
    await Promise.all([x.dispose(), y.dispose()]);
  });

  it('go round, those released longest ago first, and run out with a clear error', () => {
    const taken: number[] = [];
    const owner = {};
    const error = expectError(
      () => {
        for (;;) taken.push(takeSlot(owner));
      },
      'OUT_OF_MEMORY',
      '2047 backend objects are alive',
    );
    expect(error.hint).toBe('dispose backend objects that are no longer used');
    expect(new Set(taken).size).toBe(taken.length);
    expect(Number.isSafeInteger((Math.max(...taken) + 1) * SLOT_BYTES - 1)).toBe(true);
    expect(taken).not.toContain(0);
    const [a, b, c] = taken as [number, number, number];
    for (const slot of [b, a, c]) releaseSlot(owner, slot);
    expect([takeSlot(owner), takeSlot(owner), takeSlot(owner)]).toEqual([b, a, c]);
    for (const slot of taken) releaseSlot(owner, slot);
  });
});
