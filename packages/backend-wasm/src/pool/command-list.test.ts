import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Heap } from '../memory/heap.ts';
import { CommandList } from './command-list.ts';

interface Part {
  readonly address: number;
  readonly bytes: number;
}

const overlap = (a: Part, b: Part): boolean => a.address < b.address + b.bytes && b.address < a.address + a.bytes;

it('temporaries of one op never share memory, and an op has that of those before it', () => {
  const property = fc.property(
    fc.array(fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 5 }), { maxLength: 8 }),
    (ops) => {
      const heap = new Heap(0, () => undefined);
      const list = new CommandList(heap);
      // Memory that is not the list's, before it, between and after its own.
      const others: Part[] = [{ address: heap.take(100), bytes: 100 }];
      for (const sizes of ops) {
        const parts: Part[] = [];
        for (const bytes of sizes) {
          const part = { address: list.temporary(bytes), bytes };
          for (const other of [...parts, ...others]) expect(overlap(part, other)).toBe(false);
          parts.push(part);
        }
        list.endOp();
        others.push({ address: heap.take(64), bytes: 64 });
      }
      // The same op again takes nothing more.
      const before = list.bytes;
      for (const bytes of ops.at(-1) ?? []) list.temporary(bytes);
      list.endOp();
      expect(list.bytes).toBe(before);
      for (const { address } of others) heap.give(address, 0);
      list.release(0);
      expect(heap.take(heap.freeBytes || 1)).toBe(0);
    },
  );
  fc.assert(property, { numRuns: 300 });
});

it('two temporaries of one op are two, once an earlier op gave some back', () => {
  const list = new CommandList(new Heap(0, () => undefined));
  const first = list.temporary(256);
  list.endOp();
  expect(list.temporary(256)).toBe(first);
  expect(list.temporary(256)).not.toBe(first);
});
