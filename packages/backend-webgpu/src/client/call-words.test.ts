import { expect, it } from 'vitest';
import type { PlannedDispatch } from '../kernels/launch-plan.ts';
import type { Span } from '../kernels/recorder.ts';
import { callWords } from './call-words.ts';

const planned = (fields: object): PlannedDispatch =>
  ({ kernel: { paramsAt: 2 }, words: Uint32Array.of(1, 2, 3, 4, 5), moving: [], places: [], ...fields }) as never;
const params = (...words: number[]) => ({ params: Uint32Array.from(words), memory: [], maxBindingBytes: 1024 });

it('parameters take the place of those of the plan, and leave the plan and the calls before as they are', () => {
  const step = planned({});
  expect(callWords(step, params(3, 4))).toBe(step.words);
  const calls = [
    [3, 9],
    [9, 4],
    [8, 9],
  ].map((words) => ({ words, got: callWords(step, params(...words)) }));
  for (const { words, got } of calls) expect([...got]).toEqual([1, 2, ...words, 5]);
  expect([...step.words]).toEqual([1, 2, 3, 4, 5]);
});

it('a call like the one before has its words', () => {
  const step = planned({});
  const before = callWords(step, params(8, 9));
  expect(callWords(step, params(8, 9))).toBe(before);
});

it('without parameters they are those of the plan', () => {
  const step = planned({ kernel: {} });
  expect(callWords(step, params(8, 9))).toBe(step.words);
  expect(callWords(step, { params: undefined, memory: [], maxBindingBytes: 1024 })).toBe(step.words);
});

it('an operand that moves is told where it is, unless its memory is too large to be bound whole', () => {
  const step = planned({
    moving: [{ index: 0, word: 4, bytes: 4 }],
    places: [{ memory: 0, byteOffset: 8 }],
  });
  const memory = [{ buffer: { size: 1024 }, byteOffset: 40, byteLength: 4 } as Span];
  expect([...callWords(step, { params: undefined, memory, maxBindingBytes: 1024 })]).toEqual([1, 2, 3, 4, 5 + 12]);
  expect([...callWords(step, { params: undefined, memory, maxBindingBytes: 1020 })]).toEqual([1, 2, 3, 4, 5]);
});
