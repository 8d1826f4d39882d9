import { CpuBackend } from '@concord/backend-cpu';
import { defineKernel } from '@concord/backend-core/kernel';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import * as ops from '../src/index.ts';
import * as files from '../src/node.ts';

// The examples of the doc comments are run as they stand: each line that ends in a comment must give what that says.
const functions: Readonly<Record<string, unknown>> = { ...ops, ...files, defineKernel };
const source = join(import.meta.dirname, '../src');
const backend = new CpuBackend();
/** For the examples that write files. */
const folder = mkdtempSync(join(tmpdir(), 'concord-ops-'));
// Examples leave tensors to the collector, which says so.
vi.spyOn(console, 'warn').mockImplementation(() => undefined);
vi.spyOn(console, 'log').mockImplementation(() => undefined);
// Of a page.
vi.stubGlobal('caches', { open: () => Promise.resolve({}) });
beforeAll(() => backend.init());
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await backend.dispose();
});

const sources = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
  /(?<!\.test)\.ts$/.test(file),
);
const documented = sources
  .filter((file) => statSync(join(source, file)).isFile())
  .flatMap((file) => examplesIn(readFileSync(join(source, file), 'utf8')));

describe('examples', () => {
  test.each(documented)('$name', async ({ code }) => {
    const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
    const names = Object.keys(functions);
    const run = new AsyncFunction('backend', 'folder', 'check', ...names, code);
    let checked = 0;
    const check = (got: unknown, want: unknown): void => {
      checked++;
      expectLike(got, want);
    };
    await run(backend, folder, check, ...Object.values(functions));
    expect(checked).toBeGreaterThan(0);
  });
});

test('every function has an example', () => {
  const all = Object.entries({ ...ops, ...files }).filter(
    ([name, value]) => typeof value === 'function' && /^[a-z]/.test(name),
  );
  const shown = new Set(documented.map(({ name }) => name));
  expect(all.map(([name]) => name).filter((name) => !shown.has(name))).toEqual([]);
});

function examplesIn(text: string): { name: string; code: string }[] {
  const blocks = text.matchAll(
    /\/\*\*((?:(?!\*\/)[^])*?)```ts\n((?:(?!\*\/)[^])*?)```(?:(?!\*\/)[^])*\*\/\nexport (?:async )?function (\w+)/g,
  );
  return [...blocks].map(([, , body = '', name = '']) => ({ name, code: scriptOf(body) }));
}

/** `using` and types are not for `new Function`; a line with a comment becomes a check. */
function scriptOf(body: string): string {
  return body
    .split('\n')
    .map((line) => line.replace(/^ \* ?/, '').replace(/\busing (\w+) =/, 'const $1 ='))
    .map((line) => line.replace(/^(?!const|let|import)(.+?);\s*\/\/ (.+)$/, 'check($1, $2);'))
    .join('\n');
}

function expectLike(got: unknown, want: unknown): void {
  if (typeof want === 'number') expect(got).toBeCloseTo(want, 3);
  else if (Array.isArray(want)) {
    const list = Array.from(got as ArrayLike<unknown>);
    expect(list.length).toBe(want.length);
    for (const [index, each] of want.entries()) expectLike(list[index], each);
  } else expect(got).toEqual(want);
}
