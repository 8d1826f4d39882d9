import { expect, it, vi } from 'vitest';
import { i32 } from '../src/encoder/index.ts';
import type { Command } from '../src/kernels/kernel.ts';
import type { Machine } from '../src/pool/machine.ts';
import { openTestMachine } from './support/open-test-machine.ts';
import { tileCode } from './support/tile-code.ts';

const THREADS = { mode: 'threads', threads: 2 } as const;

/** A command of some tenths of a second, whose code is already known. */
async function slowCommand(machine: Machine): Promise<Command> {
  const at = machine.heap.take(64);
  const code = tileCode(machine.traits, (body, args) => {
    body.for(i32.const(0), i32.load(args, 4), 1, (i) => body.emit(i32.store(i32.load(args), i)));
  });
  machine.launch({ code, args: [at, 1], tiles: 4 });
  await machine.finish(() => true);
  return { code, args: [at, 5e7], tiles: 4 };
}

/** Memory that holds one word again and again. */
function put(machine: Machine, word: number, bytes: number): number {
  const address = machine.heap.take(bytes);
  const words = new Uint32Array(bytes / 4).fill(word);
  machine.write(address, new Uint8Array(words.buffer));
  return address;
}

it('a read is not copied into the freed memory of a read that waits behind it', async () => {
  await using test = await openTestMachine(THREADS);
  const { machine } = test;
  const bytes = 256;
  const slow = await slowCommand(machine);
  const first = put(machine, 1, bytes);
  machine.heap.take(64);
  const second = put(machine, 2, bytes);
  machine.heap.take(64);
  machine.launch(slow);
  const reads = [test.words(first, bytes / 4), test.words(second, bytes / 4)];
  machine.heap.give(second, machine.queued);
  machine.launch(slow);
  const [one, two] = await Promise.all(reads);
  expect([new Set(one), new Set(two)]).toEqual([new Set([1]), new Set([2])]);
});

it('a read is not copied into memory that overlaps its own freed source', async () => {
  await using test = await openTestMachine(THREADS);
  const { machine } = test;
  const bytes = 2 ** 20;
  const slow = await slowCommand(machine);
  const before = machine.heap.take(2 ** 19);
  const own = put(machine, 1, bytes);
  // Keeps what is freed apart from the memory never given out.
  machine.heap.take(64);
  machine.launch(slow);
  machine.heap.give(before, machine.queued);
  const read = test.words(own, bytes / 4);
  machine.heap.give(own, machine.queued);
  const take = vi.spyOn(machine.heap, 'take');
  machine.launch(slow);
  expect(new Set(await read)).toEqual(new Set([1]));
  // Threads copy its parts in any order: the bytes may be right by luck.
  const copy = take.mock.results[take.mock.calls.findIndex(([size]) => size === bytes)]?.value as number;
  expect(copy >= own + bytes || copy + bytes <= own).toBe(true);
});

it('code is not put into the freed source of a read, where there is no other memory', async () => {
  await using test = await openTestMachine(THREADS);
  const { machine } = test;
  const bytes = 2 ** 16;
  const slow = await slowCommand(machine);
  const place = machine.heap.take(bytes);
  machine.heap.take(64);
  const source = put(machine, 7, bytes);
  const rest: number[] = [];
  const grow = vi.spyOn(WebAssembly.Memory.prototype, 'grow').mockImplementation(() => {
    throw new RangeError('no');
  });
  try {
    for (let size = 2 ** 20; size >= 64;) {
      try {
        rest.push(machine.heap.take(size));
      } catch {
        size /= 2;
      }
    }
    // All that is left is the place of the copy.
    machine.heap.give(place, 0);
    machine.launch(slow);
    const read = test.words(source, bytes / 4);
    machine.heap.give(source, machine.queued);
    // Both its code and that of the copy are new.
    const code = tileCode(machine.traits, (body, args) => body.emit(i32.store(i32.load(args), i32.const(1))));
    machine.launch({ code, args: [rest[0] as number], tiles: 1 });
    expect(new Set(await read)).toEqual(new Set([7]));
  } finally {
    grow.mockRestore();
  }
});
