import { afterEach, expect, it, vi } from 'vitest';
import { CommandRing, type SlotContent } from './command-ring.ts';
import { LAYOUT as L } from './layout.ts';
import type { MachineEvents } from './machine.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const CONTENT: SlotContent = {
  tiles: 2,
  codeIndex: 1,
  codeVersion: 2,
  codeAddress: 3,
  codeBytes: 4,
  scratchAddress: 5,
  scratchBytes: 6,
  args: [7, 8, 9],
  argsAddress: undefined,
};

/** A ring whose one worker is played by the test. */
function ringAlone() {
  const memory = new WebAssembly.Memory({ initial: 16, maximum: 16, shared: true });
  const events = { onFailure: vi.fn<MachineEvents['onFailure']>(), onLost: vi.fn<MachineEvents['onLost']>() };
  const whatIsGone = vi.fn<() => string | undefined>();
  const ring = new CommandRing(memory, 1, whatIsGone, events);
  return { ring, words: ring.words, events, whatIsGone };
}

it('a slot has the words of its command after it', () => {
  const { ring, words } = ringAlone();
  ring.push(CONTENT);
  ring.push({ ...CONTENT, argsAddress: 4096 });
  expect([...words.subarray(L.slots, L.slots + 10)]).toEqual([0, 2, 2, 1, 2, 3, 4, (L.slots + L.args) * 4, 5, 6]);
  expect([...words.subarray(L.slots + L.args, L.slots + L.args + 3)]).toEqual([7, 8, 9]);
  expect(words[L.slots + L.slotWords + L.argsAddress]).toBe(4096);
  expect([ring.queued, ring.done, words[L.queued]]).toEqual([2, 0, 2]);
});

it('counts on where the words of the counters come round', () => {
  const { ring, words } = ringAlone();
  for (const [word, done] of [
    [2 ** 31 - 1, 2 ** 31 - 1],
    [-2, 2 ** 32 - 2],
    [3, 2 ** 32 + 3],
  ] as const) {
    words[L.done] = word;
    expect(ring.done).toBe(done);
  }
});

it('a slot is not written again while a worker says that it is there', () => {
  const { ring, words } = ringAlone();
  for (let i = 0; i < L.slotCount; i++) ring.push(CONTENT);
  words[L.done] = 10;
  // The worker is late: it came for the third command.
  words[L.positions] = 2;
  words[L.positions + 1] = 1;
  for (let i = 0; i < 2; i++) ring.push(CONTENT);
  vi.spyOn(Atomics, 'wait').mockImplementation(() => {
    words[L.positions + 1] = 0;
    return 'ok';
  });
  expect(ring.queued).toBe(L.slotCount + 2);
  ring.push(CONTENT);
  expect(words[L.positions + 1]).toBe(0);
});

it('gives up for good on workers that do nothing for a whole minute', () => {
  const { ring, words, events } = ringAlone();
  let [now, waits] = [0, 0];
  vi.spyOn(Date, 'now').mockImplementation(() => now);
  vi.spyOn(Atomics, 'wait').mockImplementation(() => {
    now += waits === 0 ? 10_000_000 : 50;
    waits++;
    // A tile that is taken shows that a worker is alive.
    if (waits === 1000) words[L.slots + L.next] = 1;
    return 'timed-out';
  });
  expect(() => ring.waitUntil(() => false)).toThrow('the workers have done nothing for 60 s');
  expect(waits).toBe(1000 + 60_000 / 50);
  expect(events.onFailure).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'DEVICE_ERROR' }));
  expect(events.onLost).not.toHaveBeenCalled();
});

it('asks for workers that are gone every 100 ms without a tile taken, no sooner', () => {
  const { ring, words, events, whatIsGone } = ringAlone();
  let now = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => now);
  vi.spyOn(Atomics, 'wait').mockImplementation(() => {
    now += 50;
    if (now <= 10_000) words[L.slots + L.next] = now;
    return 'timed-out';
  });
  whatIsGone.mockReturnValueOnce(undefined).mockReturnValueOnce('worker 1 is gone');
  const error = expect.objectContaining({ code: 'DEVICE_LOST', detail: 'worker 1 is gone' }) as Error;
  expect(() => ring.waitUntil(() => false)).toThrow(error);
  expect(now).toBe(10_200);
  expect(events.onLost).toHaveBeenCalledExactlyOnceWith('worker 1 is gone');
  expect(events.onFailure).not.toHaveBeenCalled();
});
