import { expect, it } from 'vitest';
import type { LaunchPlan, PlannedDispatch } from '../kernels/launch-plan.ts';
import type { Span } from '../kernels/recorder.ts';
import { callWords } from './bind-group-cache.ts';

const planned = (fields: object): PlannedDispatch =>
  ({
    kernel: { paramsAt: 2 },
    ...sameWords(Uint32Array.of(1, 2, 3, 4, 5)),
    ...{ moving: [], places: [], scalars: [] },
    ...fields,
  }) as never;
const sameWords = (words: Uint32Array): object => ({ words, lastWords: words.slice() });
const planOf = (floats: boolean[] = [], scalarCount = 0) => ({ floats, scalarCount }) as unknown as LaunchPlan;
const withParams = (step: PlannedDispatch, ...params: number[]): Uint32Array =>
  callWords(planOf(), step, params, [], 1024);

it('parameters are words of their types', () => {
  expect([...callWords(planOf([true, false]), planned({}), [0.5, -7], [], 1024)]).toEqual([
    1,
    2,
    0x3f00_0000,
    2 ** 32 - 7,
    5,
  ]);
});

it('parameters take the place of those of the plan, which stays as it is', () => {
  const step = planned({});
  for (const words of [
    [3, 4],
    [3, 9],
    [8, 9],
  ]) {
    Object.assign(step, { lastBatch: 5 });
    expect([...withParams(step, ...words)]).toEqual([1, 2, ...words, 5]);
    // Only a batch that has other words is to get them.
    expect(step.lastBatch).toBe(words[1] === 4 ? 5 : 0);
  }
  expect([...step.words]).toEqual([1, 2, 3, 4, 5]);
});

it('scalars are floats after the other parameters, or what is made of them', () => {
  const step = planned({
    scalars: [
      { word: 1, at: -2 },
      { word: 0, at: -1, of: (value: number) => 1 / value },
    ],
  });
  const words = callWords(planOf([true, false], 2), step, [0.5, 7, 2, 4], [], 1024);
  expect([...words]).toEqual([0x3e80_0000, 0x4000_0000, 0x3f00_0000, 7, 5]);
});

it('without parameters they are those of the plan', () => {
  const step = planned({ kernel: {} });
  expect(withParams(step, 8, 9)).toEqual(step.words);
  expect(withParams(step)).toEqual(step.words);
});

it('an operand that moves is told where it is, unless its memory is too large to be bound whole', () => {
  const step = planned({
    moving: [{ index: 0, word: 4, bytes: 4 }],
    places: [{ memory: 0, byteOffset: 8 }],
  });
  const memory = [{ buffer: { size: 1024 }, byteOffset: 40, byteLength: 4 } as Span];
  expect([...callWords(planOf(), step, [], memory, 1024)]).toEqual([1, 2, 3, 4, 5 + 12]);
  expect([...callWords(planOf(), step, [], memory, 1020)]).toEqual([1, 2, 3, 4, 5]);
});
