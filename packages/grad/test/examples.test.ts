import { CpuBackend } from '@concord/backend-cpu';
import { defineKernel } from '@concord/backend-core/kernel';
import * as ops from '@concord/ops';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import * as own from '../src/index.ts';

// The examples of the doc comments are run as they stand: each line that ends in a comment must give what that says.
const known: Readonly<Record<string, unknown>> = { ...ops, ...own, defineKernel };
const source = join(import.meta.dirname, '../src');
const backend = new CpuBackend();
vi.spyOn(console, 'warn').mockImplementation(() => undefined);
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

const EXAMPLE = /\/\*\*((?:(?!\*\/)[^])*?)```ts\n((?:(?!\*\/)[^])*?)```(?:(?!\*\/)[^])*\*\/\nexport function (\w+)/g;
const examples = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => statSync(join(source, file)).isFile())
  .flatMap((file) => [...readFileSync(join(source, file), 'utf8').matchAll(EXAMPLE)])
  .map(([, , body = '', name = '']) => ({ name, code: scriptOf(body) }));

test.each(examples)('$name', async ({ code }) => {
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
  let checked = 0;
  const check = (got: ArrayLike<unknown>, want: readonly unknown[]): void => {
    checked++;
    const list = Array.from(got);
    expect(list).toHaveLength(want.length);
    for (const [at, each] of want.entries()) {
      if (typeof each === 'number') expect(list[at]).toBeCloseTo(each, 3);
      else expect(list[at]).toBe(each);
    }
  };
  await new AsyncFunction('backend', 'check', ...Object.keys(known), code)(backend, check, ...Object.values(known));
  expect(checked).toBeGreaterThan(0);
});

test('every function has an example', () => {
  const all = Object.keys(own).filter((name) => !examples.some((each) => each.name === name));
  expect(all).toEqual([]);
});

/** Types are not for a function made of text; a line with a comment becomes a check. */
function scriptOf(body: string): string {
  return body
    .split('\n')
    .map((line) => line.replace(/^ \* ?/, '').replaceAll(/: (Tensor|typeof params)\b/g, ''))
    .map((line) => line.replace(/^(?!const|let|\/\/)(.+?);\s*\/\/ (\[.+)$/, 'check($1, $2);'))
    .join('\n');
}
