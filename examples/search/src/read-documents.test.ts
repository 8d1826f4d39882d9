import type * as FileSystem from 'node:fs/promises';
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readDocuments } from './read-documents.ts';

// Root may read every file, so that modes do not make one unreadable.
vi.mock('node:fs/promises', async (importOriginal) => {
  const fs = await importOriginal<typeof FileSystem>();
  const readFile = (path: string): Promise<Buffer> =>
    path.endsWith('unreadable.md') ? Promise.reject(new Error('EACCES')) : fs.readFile(path);
  return { ...fs, readFile };
});

const { signal } = new AbortController();
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concord-read-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function put(path: string, content: string | Uint8Array = 'text'): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
}

async function pathsRead(): Promise<string[]> {
  return [...(await readDocuments(folder, signal)).keys()];
}

test('reads text and Markdown files, but not those of installed packages, builds and caches', async () => {
  const own = ['UPPER.MD', 'a.txt', 'b/c.rst', 'packages/p/z.md'];
  const others = ['code.ts', '.git/x.md', 'dist/x.md', 'pkg/dist/x.md', 'node_modules/q/README.md', '.cache/x.md'];
  await Promise.all([...own, ...others].map((path) => put(path)));
  expect(await pathsRead()).toEqual(own);
});

test('takes a folder with special characters by its name', async () => {
  await put('a.md');
  await put('[x] (y)/{z}/b.md');
  expect(await pathsRead()).toEqual(['[x] (y)/{z}/b.md', 'a.md']);
  expect([...(await readDocuments(join(folder, '[x] (y)'), signal)).keys()]).toEqual(['{z}/b.md']);
});

test('does not follow links to folders', async () => {
  await put('real/a.md');
  await symlink(join(folder, 'real'), join(folder, 'linked'));
  await symlink(folder, join(folder, 'real', 'loop'));
  expect(await pathsRead()).toEqual(['real/a.md']);
});

test('gives no text of binary and unreadable files', async () => {
  await put('a.md', 'fine');
  await put('b.txt', Uint8Array.of(1, 0, 2, 0, 255));
  await put('unreadable.md');
  const documents = await readDocuments(folder, signal);
  expect([...documents.values()].map(({ text }) => text)).toEqual(['fine', undefined, undefined]);
});

test('gives back what it knows of files that did not change', async () => {
  await Promise.all(['a.md', 'b.md', 'c.md', 'd.md'].map((path) => put(path, 'old')));
  const known = await readDocuments(folder, signal);
  await put('b.md', 'newer');
  await put('c.md', 'new');
  // As if it had not been written: tools keep the time of a file.
  await utimes(join(folder, 'c.md'), new Date(0), new Date(0));
  await rm(join(folder, 'd.md'));
  await put('e.md', 'new');
  const now = await readDocuments(folder, signal, known);
  expect([...now].map(([path, { text }]) => [path, text])).toEqual([
    ['a.md', 'old'],
    ['b.md', 'newer'],
    ['c.md', 'new'],
    ['e.md', 'new'],
  ]);
  expect(now.get('a.md')).toBe(known.get('a.md'));
});

test('says what is wrong with a folder', async () => {
  await put('a.md');
  for (const path of ['none', 'a.md']) {
    const error = {
      code: 'NO_SUCH_FOLDER',
      exitCode: 2,
      message: expect.stringMatching(`^there is no folder .*${path}$`),
    };
    await expect(readDocuments(join(folder, path), signal)).rejects.toMatchObject(error);
  }
});
