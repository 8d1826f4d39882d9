import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CpuBackend } from '@concord/backend-cpu';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SearchIndex } from './search-index.ts';

const { signal } = new AbortController();
let folder: string;
let backend: CpuBackend;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concord-index-'));
  backend = await CpuBackend.create();
});
afterEach(async () => {
  await backend.dispose();
  await rm(folder, { recursive: true });
});

const put = (path: string, text: string): Promise<void> => writeFile(join(folder, path), text);
/** A text that shares words with others; its length, and so its score, is like that of no other. */
const textOf = (n: number): string =>
  `word${n} word${n} word${n + 1} common${n % 3}${Array.from({ length: n }, (_, i) => ` of${n}x${i}`).join('')}`;
const QUESTIONS = [0, 1, 2, 5, 9, 20].map((n) => ({ question: `word${n} common${n % 3}`, top: 9 }));

test('answers by the words that documents have, best first', async () => {
  await put('a.md', 'An apple tree in the garden.');
  await put('b.md', 'Apple pie, apple juice, apple.');
  await put('c.md', 'Nothing of that kind.');
  const index = new SearchIndex(backend, folder);
  expect(await index.refresh(signal)).toBe(3);
  const [first, second, third] = await index.search(
    [
      { question: 'Which apple? An xylophone apple!', top: 5 },
      { question: 'garden', top: 1 },
      { question: 'xylophone', top: 5 },
    ],
    {},
  );
  expect(first?.words).toEqual(['apple']);
  expect(first?.hits.map(({ file }) => file)).toEqual(['b.md', 'a.md']);
  expect(second?.hits).toMatchObject([{ file: 'a.md', line: 1, text: 'An apple tree in the garden.' }]);
  expect(third).toEqual({ question: 'xylophone', words: [], hits: [] });
});

test('finds only passages with one of the words among hundreds that hash alike', async () => {
  const others = Array.from({ length: 600 }, (_, i) => `a${i} b${i} c${i}`);
  await Promise.all(others.map((text, i) => put(`${i}.md`, text)));
  await put('needle.md', 'needle in a long text with many other words that make its score a low one');
  const index = new SearchIndex(backend, folder);
  await index.refresh(signal);
  const [answer] = await index.search([{ question: 'needle', top: 256 }], {});
  expect(answer?.hits.map(({ file }) => file)).toEqual(['needle.md']);
});

test.each([[[1, 10]], [[10, 1]], [[3, 1, 7, 2]], [[5, 5]]])(
  'questions of one search get as many hits as each asks for: %j',
  async (tops) => {
    for (let n = 0; n < 40; n++) await put(`${n}.md`, textOf(n));
    const index = new SearchIndex(backend, folder);
    await index.refresh(signal);
    const questions = tops.map((top, place) => ({ question: `common0 word${place}`, top }));
    const answers = await index.search(questions, {});
    for (const [place, { question, top }] of questions.entries()) {
      const [alone] = await index.search([{ question, top: 40 }], {});
      const best = alone?.hits.map(({ file }) => file) ?? [];
      expect(best.length).toBeGreaterThan(Math.max(...tops));
      expect(answers[place]?.hits.map(({ file }) => file)).toEqual(best.slice(0, top));
    }
  },
);

test('after any changes it answers as an index that is made anew, and reads and uploads only what changed', async () => {
  for (let n = 0; n < 20; n++) await put(`${n}.md`, textOf(n));
  const index = new SearchIndex(backend, folder);
  expect(await index.refresh(signal)).toBe(20);
  const uploads = vi.spyOn(backend, 'copyHtod');
  const { inUseBytes } = backend.memory();
  let next = 20;
  for (let round = 0; round < 6; round++) {
    await put(`${round}.md`, textOf(next++));
    await rm(join(folder, `${round + 10}.md`));
    await put(`new${round}.md`, `${textOf(next++)}\n`);
    uploads.mockClear();
    expect(await index.refresh(signal)).toBe(3);
    expect(uploads).toHaveBeenCalledTimes(2);
    const fresh = new SearchIndex(backend, folder);
    await fresh.refresh(signal);
    const [is, should] = await Promise.all([index.search(QUESTIONS, {}), fresh.search(QUESTIONS, {})]);
    expect(is).toEqual(should);
    expect(is.some(({ hits }) => hits.length > 1)).toBe(true);
    expect(index.facts).toEqual(fresh.facts);
  }
  uploads.mockClear();
  expect(await index.refresh(signal)).toBe(0);
  expect(uploads).not.toHaveBeenCalled();
  // The matrix of the first index did not grow; each of the others has one block.
  expect(backend.memory().inUseBytes).toBe(7 * inUseBytes);
});

test('an answer shows what was there when it was asked for', async () => {
  await put('a.md', 'old apple');
  const index = new SearchIndex(backend, folder);
  await index.refresh(signal);
  const answer = index.search([{ question: 'apple', top: 1 }], {});
  await put('a.md', 'new apple');
  await index.refresh(signal);
  expect((await answer)[0]?.hits[0]?.text).toBe('old apple');
  expect((await index.search([{ question: 'apple', top: 1 }], {}))[0]?.hits[0]?.text).toBe('new apple');
});

test('counts files that have no text', async () => {
  await put('a.md', 'apple');
  await writeFile(join(folder, 'b.txt'), Uint8Array.of(1, 0, 2, 0, 255));
  const index = new SearchIndex(backend, folder);
  await index.refresh(signal);
  expect(index.facts).toEqual({ files: 1, skipped: 1, passages: 1 });
});
