import { getEventListeners } from 'node:events';
import { CpuBackend } from '@concord/backend-cpu';
import { add, arange, cast, neg, reshape, square, sub, type Tensor, tidy, zeros } from '@concord/ops';
import type { Tokenizer } from '@huggingface/tokenizers';
import { afterAll, expect, test } from 'vitest';
import { Batch, type BatchOptions, type TextRequest } from './batch.ts';
import type { Cache, Decoder } from './decoder.ts';
import { textOf } from './token-text.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

const END = 30;
/** A model whose next token is the number of those before it, which tells whether a text has a place of its own. */
const counting = {
  backend,
  config: { context: 64, ends: [END] },
  cache: (batch: number): Cache => {
    const lengths = zeros(backend, [batch], { dtype: 'u32' });
    return { layers: [], lengths, [Symbol.dispose]: () => lengths.dispose() };
  },
  forward: (ids: Tensor, { lengths }: Cache): Tensor =>
    tidy(() => {
      add(lengths, ids.shape[1] as number, { out: lengths });
      return neg(square(sub(arange(backend, 0, 64), reshape(cast(lengths, 'f32'), [-1, 1]))));
    }),
} as unknown as Decoder;

const from = (first: number, count: number): number[] => Array.from({ length: count }, (_, i) => first + i);
const { signal: never } = new AbortController();
const request = (length: number, tokens: number, more: Partial<TextRequest> = {}): TextRequest => {
  return { prompt: Array<number>(length).fill(0), tokens, temperature: 0, seed: 3, signal: never, ...more };
};
async function read(batch: Batch, of: TextRequest): Promise<number[]> {
  const got: number[] = [];
  for await (const token of batch.generate(of)) got.push(token);
  return got;
}
const withBatch = async (options: BatchOptions, work: (batch: Batch) => Promise<void>): Promise<void> => {
  await using batch = new Batch(counting, options);
  await work(batch);
};

test('a text ends with its tokens, at its end, which is no part of it, and where the context is full', async () => {
  await withBatch({ topK: 1000 }, async (batch) => {
    expect(await read(batch, request(2, 3))).toEqual([2, 3, 4]);
    expect(await read(batch, request(END - 2, 9))).toEqual([END - 2, END - 1]);
  });
  await withBatch({ context: 6 }, async (batch) => expect(await read(batch, request(2, 9))).toEqual([2, 3, 4, 5]));
});

test('a place that was empty for a while begins anew, and a nucleus of one text is not of the others', async () => {
  await withBatch({ size: 2 }, async (batch) => {
    const long = batch.generate(request(1, 20));
    expect(await read(batch, request(3, 2))).toEqual([3, 4]);
    for (let i = 1; i < 8; i++) expect((await long.next()).value).toBe(i);
    const narrow = { temperature: 2, topP: 1e-6 };
    expect(await read(batch, request(5, 9, narrow))).toEqual(from(5, 9));
    expect(await read(batch, request(5, 9, { temperature: 2 }))).not.toEqual(from(5, 9));
    await long.return();
  });
});

test('a text that is given up while it waits takes no other one along, and leaves no listener', async () => {
  const given = new AbortController();
  await withBatch({ size: 1 }, async (batch) => {
    const [first, second] = [request(1, 20), request(2, 4)].map((each) => read(batch, each));
    const third = read(batch, request(3, 4, { signal: given.signal }));
    given.abort(new Error('mine'));
    await expect(third).rejects.toThrow('mine');
    expect([await first, await second]).toEqual([from(1, 20), from(2, 4)]);
  });
  expect([given.signal, never].flatMap((each) => getEventListeners(each, 'abort'))).toEqual([]);
});

test('text is whole characters, and ends before the first of what it is to stop at', async () => {
  const bytes = new TextEncoder().encode('_ab🙂cdcef');
  const decode = (ids: readonly number[]): string =>
    new TextDecoder().decode(bytes.subarray(ids[0], (ids.at(-1) ?? 0) + 1));
  const tokenizer = { decode } as unknown as Tokenizer;
  const textAt = async (...stop: string[]): Promise<string[]> => {
    const pieces: string[] = [];
    await withBatch({}, async (batch) => {
      const making = { tokens: 0, isStopped: false, first: 0 };
      const all = textOf(batch, tokenizer, { ...request(1, bytes.length - 1), stop }, making);
      for await (const piece of all) pieces.push(piece);
    });
    return pieces.filter((piece) => piece !== '');
  };
  expect(await textAt()).toEqual(['a', 'b', '🙂', 'c', 'd', 'c', 'e', 'f']);
  expect((await textAt('ce')).join('')).toBe('ab🙂cd');
  expect((await textAt('🙂c', 'c')).join('')).toBe('ab');
  expect((await textAt('cx', 'efg')).join('')).toBe('ab🙂cdcef');
});
