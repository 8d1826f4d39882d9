import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkFolder, readDocuments } from './read-documents.ts';

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
  return (await readDocuments(folder, { signal })).documents.map(({ path }) => path);
}

test('reads text and Markdown files, and after them of installed packages the READMEs', async () => {
  const own = ['UPPER.MD', 'a.txt', 'b/c.rst', 'packages/p/z.md'];
  const installed = ['node_modules/.pnpm/p@1/node_modules/p/readme.markdown', 'node_modules/q/README'];
  installed.push('node_modules/q/README.zh-CN.md', 'node_modules/q/deep/Readme.md');
  const others = ['code.ts', '.git/x.md', 'dist/x.md', 'pkg/dist/x.md', 'node_modules/q/CHANGELOG.md'];
  others.push('node_modules/q/readme.js', 'node_modules/q/readme-generator/index.txt', '.cache/x.md');
  await Promise.all([...own, ...installed, ...others].map((path) => put(path)));
  expect(await pathsRead()).toEqual([...own, ...installed]);
});

test('takes a folder with special characters by its name', async () => {
  await put('a.md');
  await put('[x] (y)/{z}/b.md');
  expect(await pathsRead()).toEqual(['[x] (y)/{z}/b.md', 'a.md']);
  const { documents } = await readDocuments(join(folder, '[x] (y)'), { signal });
  expect(documents.map(({ path }) => path)).toEqual(['{z}/b.md']);
});

test('does not follow links', async () => {
  await put('real/a.md');
  await symlink(join(folder, 'real'), join(folder, 'linked'));
  await symlink(folder, join(folder, 'real', 'loop'));
  expect(await pathsRead()).toEqual(['real/a.md']);
});

test('passes over binary and unreadable files, and counts them', async () => {
  await put('a.md', 'fine');
  await put('b.txt', Uint8Array.of(1, 0, 2, 0, 255));
  await put('c.md');
  const { documents, skipped } = await readDocuments(folder, {
    signal,
    readBytes: (path, options) =>
      path.endsWith('c.md') ? Promise.reject(new Error('EACCES')) : readFile(path, options),
  });
  expect(documents).toEqual([{ path: 'a.md', text: 'fine' }]);
  expect(skipped).toEqual({ binary: 1, unreadable: 1 });
});

test('stops when it is told to', async () => {
  await put('a.md');
  await expect(readDocuments(folder, { signal: AbortSignal.abort() })).rejects.toThrow('abort');
});

test('says what is wrong with a folder', async () => {
  await put('a.md');
  await expect(checkFolder(join(folder, 'none'))).rejects.toMatchObject({ code: 'NO_SUCH_FOLDER', exitCode: 2 });
  await expect(checkFolder(join(folder, 'a.md'))).rejects.toThrow('a.md is no folder');
});
