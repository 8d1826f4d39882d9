import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCaptured, temporaryFolder } from '@concord/example-command/testing';
import { beforeAll, expect, test, vi } from 'vitest';
import { runProgram } from './program.ts';

const [folder, empty, others] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];

beforeAll(async () => {
  await writeFile(join(folder, 'security.md'), '# Security\n\nReport a security problem by mail, not in public.\n');
  await writeFile(join(folder, 'fruit.txt'), 'Apples and pears.\n\nThe oldest apple tree is four hundred years old.\n');
  await writeFile(join(folder, 'noise.txt'), Uint8Array.of(0, 1, 2, 3, 0, 255));
});

const run = (args: readonly string[], signal?: AbortSignal) => runCaptured(runProgram, args, signal);

test('finds the passage that answers, and checks it against the oracle', async () => {
  const { code, stdout, stderr } = await run(['how do I report a security problem', '--dir', folder, '--check']);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toMatch(/ 1\. 0\.\d{3} {2}security\.md:1/);
  expect(stdout).toMatch(/passed: \d scores against the float64 oracle/);
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('1 file, binary or unreadable');
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
    skipped: 1,
    backend: 'wasm',
    check: { passed: true, scores: 1 },
  });
  expect(Object.keys(result['ms'] as object)).toEqual(['read', 'search']);
});

test('says with --verbose what the registry tried', async () => {
  const { stdout } = await run(['apple', '--dir', folder, '--verbose']);
  expect(stdout).toMatch(/^Backends tried:\n\*  wasm +selected/m);
  expect(stdout).toMatch(/^   webgpu +(unavailable|not-tried|not tried)/m);
});

test.each([
  ['a folder that does not exist', ['apple', '--dir', '/no/such/folder'], 'NO_SUCH_FOLDER'],
  ['a question without words', ['how do I?'], 'NO_WORDS'],
  ['more than every device finds', ['apple', '--top', '257'], 'USAGE'],
  ['a question for a server', ['apple', '--serve'], 'USAGE'],
  ['no question', [], 'USAGE'],
])('%s is an error in one line with a hint', async (_, args, code) => {
  const ended = await run(args);
  expect(ended.code).toBe(2);
  expect(ended.stdout).toBe('');
  expect(ended.stderr).toMatch(new RegExp(`^error: [^\\n]+ \\(${code}\\)\\nhint: [^\\n]+\\n$`));
});

test('a folder without text, and words that no passage has, are such errors too', async () => {
  const nothing = await run(['apple', '--dir', empty]);
  expect(nothing).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^error: none of 0 passages .*\(NO_WORDS\)/),
  });
  const unknown = await run(['xylophone', '--dir', folder]);
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('none of 2 passages') });
});

test('stops in the middle of the work when it is interrupted', async () => {
  const text = Array.from({ length: 40_000 }, (_, i) => `word${i} and word${i * 7}`).join('\n\n');
  const many = join(others, 'many');
  await mkdir(many);
  await Promise.all(Array.from({ length: 20 }, (_, i) => writeFile(join(many, `${i}.md`), `${i}\n${text}`)));
  const interrupt = new AbortController();
  setTimeout(() => interrupt.abort(), 100);
  const ended = await run(['word1', '--dir', many], interrupt.signal);
  expect(ended).toEqual({ code: 130, stdout: '', stderr: '' });
});

/** Runs the program until a test interrupts it as Ctrl-C does. */
function start(args: readonly string[]): { next: (text: string) => Promise<string>; interrupt: () => Promise<number> } {
  const ctrlC = new AbortController();
  let output = '';
  let seen = 0;
  const write = (text: string): unknown => (output += text);
  const ended = runProgram(args, { stdout: { write }, stderr: { write }, signal: ctrlC.signal });
  return {
    next: async (text) => {
      const from = seen;
      await vi.waitFor(() => expect(output.slice(from)).toContain(text), { timeout: 20_000, interval: 20 });
      seen = output.length;
      return output.slice(from);
    },
    interrupt: () => {
      ctrlC.abort();
      return ended;
    },
  };
}

test('--watch searches again when files change, until Ctrl-C', async () => {
  const watched = join(others, 'watched');
  await mkdir(watched);
  await writeFile(join(watched, 'a.md'), 'An apple tree.');
  const program = start(['apple', '--dir', watched, '--watch', '--backend', 'cpu']);
  await program.next('a.md:1');
  await writeFile(join(watched, 'b.md'), 'Apple pie.');
  await program.next('b.md:1');
  await rm(join(watched, 'a.md'));
  expect(await program.next('1 best of 1 passages')).not.toContain('a.md:1');
  expect(await program.interrupt()).toBe(0);
});

test('--serve answers until Ctrl-C, with --watch from files as they are', async () => {
  const watched = join(others, 'served');
  await mkdir(watched);
  await writeFile(join(watched, 'a.md'), 'An apple tree.');
  const program = start(['--serve', '--dir', watched, '--watch', '--backend', 'cpu']);
  const [, url = ''] = /POST (\S+):/.exec(await program.next('Ctrl-C')) ?? [];
  const files = async (): Promise<string[]> => {
    const response = await fetch(url, { method: 'POST', body: '{ "question": "apple" }' });
    return ((await response.json()) as { hits: { file: string }[] }).hits.map(({ file }) => file).sort();
  };
  expect(await files()).toEqual(['a.md']);
  await writeFile(join(watched, 'b.md'), 'Apple pie.');
  await vi.waitFor(async () => expect(await files()).toEqual(['a.md', 'b.md']), { timeout: 20_000, interval: 50 });
  expect(await program.interrupt()).toBe(0);
  await expect(files()).rejects.toThrow();
});
