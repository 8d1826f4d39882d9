import { expect, test } from 'vitest';
import { batched } from './server.ts';

function recording(largest: number): { batches: number[][]; ask: (question: number) => Promise<number> } {
  const batches: number[][] = [];
  const answerAll = (questions: number[]): Promise<number[]> => {
    batches.push(questions);
    if (questions.includes(13)) return Promise.reject(new Error('thirteen'));
    return Promise.resolve(questions.map((question) => question * 2));
  };
  return { batches, ask: batched(answerAll, largest) };
}

test('batches what comes during a batch, up to the largest', async () => {
  const batches: number[][] = [];
  const release: (() => void)[] = [];
  const ask = batched<number, number>(async (questions) => {
    batches.push(questions);
    await new Promise<void>((resolve) => release.push(resolve));
    return questions;
  }, 3);
  const first = ask(0);
  while (batches.length < 1) await new Promise(setImmediate);
  const others = [1, 2, 3, 4].map(ask);
  await new Promise(setImmediate);
  expect(batches).toEqual([[0]]);
  for (let done = 0; done < 3; done++) {
    while (release.length <= done) await new Promise(setImmediate);
    release[done]?.();
  }
  expect(await Promise.all([first, ...others])).toEqual([0, 1, 2, 3, 4]);
  expect(batches).toEqual([[0], [1, 2, 3], [4]]);
});

test('a batch that fails takes no other with it', async () => {
  const { ask } = recording(2);
  const settled = await Promise.allSettled([1, 13, 3, 4, 5].map(ask));
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  expect(await ask(6)).toBe(12);
});
