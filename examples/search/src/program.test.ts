import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCaptured } from '@concord/example-command/testing';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { runProgram } from './program.ts';

let folder: string;
let empty: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concord-search-'));
  empty = await mkdtemp(join(tmpdir(), 'concord-empty-'));
  await writeFile(join(folder, 'security.md'), '# Security\n\nReport a security problem by mail, not in public.\n');
  await writeFile(join(folder, 'fruit.txt'), 'Apples and pears.\n\nThe oldest apple tree is four hundred years old.\n');
  await writeFile(join(folder, 'noise.txt'), Uint8Array.of(0, 1, 2, 3, 0, 255));
});
afterAll(() => Promise.all([folder, empty].map((path) => rm(path, { recursive: true }))));
afterEach(() => vi.unstubAllEnvs());

const run = (args: readonly string[], signal?: AbortSignal) => runCaptured(runProgram, args, signal);

test('finds the passage that answers, and checks it against the oracle', async () => {
  const { code, stdout, stderr } = await run(['how do I report a security problem', '--dir', folder, '--check']);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toMatch(/ 1\. 0\.\d{3} {2}security\.md:1/);
  expect(stdout).toContain('passed: 2 scores against the float64 oracle');
  expect(stdout).toContain('1 binary, 0 unreadable');
});

test('prints only JSON with --json', async () => {
  const { code, stdout, stderr } = await run(['apple tree', '--dir', folder, '--json', '--top', '1', '--check']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const result = JSON.parse(stdout) as Record<string, unknown>;
  expect(result).toMatchObject({
    question: 'apple tree',
    hits: [{ file: 'fruit.txt', line: 1 }],
    files: 2,
    passages: 2,
    skipped: { binary: 1, unreadable: 0 },
    backend: 'cpu',
    check: { passed: true, scores: 2 },
  });
  expect(Object.keys(result['ms'] as object)).toContain('normalise');
});

test("a hit in an installed package comes after the folder's own, also one of a higher score", async () => {
  const project = await mkdtemp(join(tmpdir(), 'concord-installed-'));
  await mkdir(join(project, 'node_modules', 'pears'), { recursive: true });
  await writeFile(join(project, 'node_modules', 'pears', 'README.md'), 'Pears ripen.\n');
  await writeFile(join(project, 'zoo.md'), 'Bears like pears, honey and a long sleep in the winter.\n');
  const { stdout } = await run(['when do pears ripen', '--dir', project, '--json']);
  await rm(project, { recursive: true });
  const { hits } = JSON.parse(stdout) as { hits: { file: string; score: number }[] };
  expect(hits.map(({ file }) => file)).toEqual(['zoo.md', 'node_modules/pears/README.md']);
  expect(hits[1]?.score).toBeGreaterThan(hits[0]?.score as number);
});

test('says with --verbose what the registry tried', async () => {
  const { stdout } = await run(['apple', '--dir', folder, '--verbose']);
  expect(stdout).toMatch(/^Backends tried:\n\*  cpu +selected/m);
  expect(stdout).toMatch(/^   webgpu +(unavailable|not-tried|not tried)/m);
});

test.each([
  ['a folder that does not exist', ['apple', '--dir', '/no/such/folder'], 'NO_SUCH_FOLDER'],
  ['a question without words', ['how do I?'], 'NO_WORDS'],
  ['a backend that does not exist', ['apple', '--backend', 'gpu'], 'INVALID_ARGUMENT'],
  ['a number that is none', ['apple', '--top', 'many'], 'USAGE'],
  ['an option that does not exist', ['apple', '--jsn'], 'USAGE'],
  ['no question', [], 'USAGE'],
])('%s is an error in one line with a hint', async (_, args, code) => {
  const ended = await run(args);
  expect(ended.code).toBe(2);
  expect(ended.stdout).toBe('');
  expect(ended.stderr).toMatch(new RegExp(`^error: [^\\n]+ \\(${code}\\)\\nhint: [^\\n]+\\n$`));
});

test('a folder without text, and words that no document has, are such errors too', async () => {
  const nothing = await run(['apple', '--dir', empty]);
  expect(nothing).toMatchObject({ code: 2, stderr: expect.stringMatching(/^error: there is no text .*\(NO_TEXT\)/) });
  const unknown = await run(['xylophone', '--dir', folder]);
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('no document has any of: xylophone') });
});

test('names the backends there are, also for CONCORD_BACKEND', async () => {
  expect((await run(['apple', '--backend', 'gpu'])).stderr).toContain(
    'no backend "gpu"; there are: level-zero, webgpu, cpu',
  );
  vi.stubEnv('CONCORD_BACKEND', 'gpu');
  expect((await run(['apple', '--dir', folder])).code).toBe(2);
});

test('shows the stack with --verbose', async () => {
  expect((await run(['apple', '--backend', 'gpu', '--verbose'])).stderr).toContain('\n    at ');
});

test('leaves without a word when it is interrupted', async () => {
  const ended = await run(['apple', '--dir', folder], AbortSignal.abort());
  expect(ended).toEqual({ code: 130, stdout: '', stderr: '' });
});

test('stops in the middle of the work when it is interrupted', async () => {
  const text = Array.from({ length: 40_000 }, (_, i) => `word${i} and word${i * 7}`).join('\n\n');
  const many = await mkdtemp(join(tmpdir(), 'concord-many-'));
  await Promise.all(Array.from({ length: 20 }, (_, i) => writeFile(join(many, `${i}.md`), `${i}\n${text}`)));
  const interrupt = new AbortController();
  setTimeout(() => interrupt.abort(), 100);
  const ended = await run(['word1', '--dir', many], interrupt.signal);
  await rm(many, { recursive: true });
  expect(ended).toEqual({ code: 130, stdout: '', stderr: '' });
});

test('has help with examples and exit codes', async () => {
  const { code, stdout } = await run(['--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/Usage: search .*Examples:.*Exit codes:/s);
});
