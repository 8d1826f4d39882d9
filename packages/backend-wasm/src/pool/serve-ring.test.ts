import { afterEach, expect, it, vi } from 'vitest';
import { LAYOUT } from './layout.ts';
import { helpCommand, type RingThread } from './serve-ring.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const SLOT = LAYOUT.slots;

function threadAt(tiles: number, next: number, left: number) {
  const memory = new WebAssembly.Memory({ initial: 16, maximum: 16, shared: true });
  const words = new Int32Array(memory.buffer);
  words[SLOT + LAYOUT.tiles] = tiles;
  words[SLOT + LAYOUT.next] = next;
  words[SLOT + LAYOUT.left] = left;
  const ringParts = { computeTiles: vi.fn(), finishCommand: vi.fn(), reportFault: vi.fn() };
  const thread = { layout: LAYOUT, memory, words, index: 0, threads: 1, ringParts } as unknown as RingThread;
  const ranges = () => ringParts.computeTiles.mock.calls.map(([, , first, end]) => [first, end] as const);
  return { thread, ringParts, ranges, words };
}

it('a thread takes fewer tiles at a time towards the end, each once', () => {
  const { thread, ranges, ringParts } = threadAt(16, 0, 16);
  helpCommand(thread, 3, SLOT);
  expect(ranges().slice(0, 3)).toEqual([
    [0, 4],
    [4, 7],
    [7, 9],
  ]);
  expect(ranges().at(-1)).toEqual([15, 16]);
  expect(ringParts.finishCommand).toHaveBeenCalledExactlyOnceWith(thread, 3);
});

it('a thread that others overtake between a look and a claim takes no more than there is', () => {
  const { thread, ranges, ringParts } = threadAt(8, 7, 1);
  vi.spyOn(Atomics, 'load').mockReturnValueOnce(0 as never);
  helpCommand(thread, 3, SLOT);
  expect(ranges()).toEqual([[7, 8]]);
  expect(ringParts.finishCommand).toHaveBeenCalledOnce();
});

it('a thread that comes when all is taken takes nothing', () => {
  const { thread, ranges, ringParts } = threadAt(8, 8, 2);
  vi.spyOn(Atomics, 'load').mockReturnValueOnce(0 as never);
  helpCommand(thread, 3, SLOT);
  expect([ranges(), ringParts.finishCommand.mock.calls]).toEqual([[], []]);
});

it('after a fault tiles are counted and not computed', () => {
  const { thread, ranges, ringParts, words } = threadAt(4, 0, 4);
  words[LAYOUT.fault] = 5;
  helpCommand(thread, 3, SLOT);
  expect(ranges()).toEqual([]);
  expect(ringParts.finishCommand).toHaveBeenCalledOnce();
});
