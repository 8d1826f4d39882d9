import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { run, working } from '../test/fakes.ts';
import { loadProvider } from './load-module.ts';

const FIXTURE = join(import.meta.dirname, '../test/fixtures/backends.fixture.ts');
const ARGS = ['conformance', '--filter', 'fixed/no-op'];

let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'concord-module-'))));
afterEach(() => rm(folder, { recursive: true }));

async function moduleWith(code: string): Promise<string> {
  const file = join(folder, `module-${Math.random().toString(36).slice(2)}.mjs`);
  await writeFile(file, code);
  return file;
}

test.each([
  ['the only class, without being named', undefined, 'own'],
  ['a class', 'OwnBackend', 'own'],
  ['a function that gives a provider', 'own', 'own-by-provider'],
  ['a provider', 'made', 'own-by-provider'],
  ['a function that gives a backend', 'makeBackend', 'own'],
])('%s is a backend to run', async (_, exportName, name) => {
  const provider = await loadProvider(FIXTURE, exportName);
  expect(provider.name).toBe(name);
  const backend = await provider.create();
  await backend.init();
  expect(backend.capabilities.ops).toContain('gemm');
  await backend.dispose();
});

test('is run instead of what an application would get, and set beside others by name', async () => {
  const alone = await run([...ARGS, '--module', relative('.', FIXTURE)], [working('cpu')]);
  expect(alone).toMatchObject({ code: 0, stderr: '' });
  expect(alone.stdout).toMatch(/^Everything passed, none unsupported: own on /m);
  const both = await run([...ARGS, '--module', FIXTURE, '--backend', 'own,cpu'], [working('cpu')]);
  expect(both.code).toBe(0);
  expect(both.stdout).toMatch(/^--- own$[^]*^--- cpu$/m);
});

test('says how to run a failed case again', async () => {
  const path = join(import.meta.dirname, '../test/fakes.ts');
  const { code, stdout } = await run(
    ['conformance', '--filter', 'fixed/number/reduce*', '--module', path, '--export', 'IdleBackend'],
    [],
  );
  expect(code).toBe(1);
  expect(stdout).toContain(
    `again: npx concord conformance --backend cpu --module '${path}' --export IdleBackend --filter 'fixed/`,
  );
});

test('fuzz takes a module too', async () => {
  const { code, stdout } = await run(['fuzz', '--count', '5', '--seed', '1', '--module', FIXTURE], []);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^own, seed 1$/m);
});

test.each([
  ['a file that is not there', '/no/such/file.js', [], 'CANNOT_LOAD'],
  ['a package that is not there', 'no-such-package', [], 'CANNOT_LOAD'],
  ['an export that is not there', FIXTURE, ['--export', 'Nothing'], 'INVALID_ARGUMENT'],
  ['an export that is no backend', FIXTURE, ['--export', 'number'], 'INVALID_ARGUMENT'],
  ['a provider of a later contract', FIXTURE, ['--export', 'future'], 'INVALID_ARGUMENT'],
  ['a provider of an earlier contract', FIXTURE, ['--export', 'past'], 'INVALID_ARGUMENT'],
  ['an export that breaks', FIXTURE, ['--export', 'breaks'], 'CANNOT_LOAD'],
])('%s is an error in one line with a hint', async (_, module, args, code) => {
  const ended = await run([...ARGS, '--module', module, ...args], [working('cpu')]);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(new RegExp(`^error: [^\\n]+ \\(${code}\\)\\nhint: [^\\n]+\\n$`));
});

test.each([
  ['nothing', 'export {};', 'exports no backend; its exports: none'],
  ['no backend', 'export const x = 1;', 'exports no backend; its exports: x'],
  ['two functions', 'export const a = () => 1, b = () => 2;', 'several exports that may be meant: a, b'],
  ['a function for something else', 'export const a = () => 1;', 'returns neither a provider nor a backend'],
  ['a mistake', 'export const a = ;', 'cannot load'],
])('a module with %s is refused with what it has', async (_, code, message) => {
  await expect(loadProvider(await moduleWith(code), undefined)).rejects.toThrow(message);
});

test('--export alone is refused', async () => {
  expect((await run([...ARGS, '--export', 'x'], [working('cpu')])).code).toBe(2);
});
