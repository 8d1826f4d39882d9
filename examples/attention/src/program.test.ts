import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCaptured, temporaryFolder } from '@concord/example-command/testing';
import { beforeAll, expect, test } from 'vitest';
import { runProgram } from './program.ts';

const folder = temporaryFolder();

beforeAll(async () => {
  const texts = {
    apple: 'The apple tree in the garden has fruit in autumn, for cider and cake.',
    pear: 'The pear tree in the garden has fruit in autumn, beside the hedge and the gate.',
    engine: 'The engine of the car needs oil, wheels and a road.',
    brake: 'The brake of the car needs oil, wheels and a hill.',
  };
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, `${name}.md`), text);
});

const run = (args: readonly string[]) => runCaptured(runProgram, args);

test('words attend to themselves and to what is used in the same places', async () => {
  const { code, stdout, stderr } = await run(['--dir', folder, '--backend', 'cpu', 'An apple, an engine and a pear']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^apple +apple \d+% +pear \d+%( +engine \d+%)?$/m);
  expect(stdout).toMatch(/^pear +pear \d+% +apple \d+%( +engine \d+%)?$/m);
  expect(stdout).toMatch(/^engine +engine \d+%/m);
  expect(stdout).toContain('3 words of 1024, 4 heads of 64, not causal');
  expect(stdout).toContain('from 4 passages of 4 files');
  expect(stdout).toMatch(/Check    passed: 6,912 values against the float64 oracle, \S+% of the allowed error used\n$/);
});

test('with --causal only to those before them', async () => {
  const { code, stdout } = await run(['--causal', '--dir', folder, '--backend', 'cpu', 'apple pear engine']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^apple +apple 100%$/m);
  expect(stdout).toMatch(/^pear +pear \d+% +apple \d+%$/m);
  expect(stdout).toContain('Check    passed: ');
  expect(stdout).toMatch(/, causal$/m);
});

test('as JSON, the shares of each word', async () => {
  const { stdout } = await run(['--json', '--causal', '--dir', folder, '--backend', 'cpu', 'apple pear engine']);
  const { words, shares, check } = JSON.parse(stdout) as Record<string, unknown>;
  expect({ words, check }).toMatchObject({ words: ['apple', 'pear', 'engine'], check: { passed: true } });
  expect((shares as number[][])[0]).toEqual([expect.closeTo(1, 5), 0, 0]);
  for (const row of shares as number[][]) expect(row.reduce((sum, share) => sum + share)).toBeCloseTo(1, 5);
});

test.each([
  ['a sentence without words', ['of the'], 'the sentence has no word with meaning'],
  ['a sentence too long', ['apple '.repeat(65)], 'the sentence has 65 words, more than 64'],
  ['words that no document has', ['apple plum cherry plum'], 'has: plum, cherry'],
  ['a folder that does not exist', ['apple', '--dir', '/no/such/folder'], 'there is no folder /no/such/folder'],
])('%s is an error in one line with a hint', async (_, args, message) => {
  const { code, stdout, stderr } = await run(args.includes('--dir') ? args : ['--dir', folder, ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^error: [^\n]+ \([A-Z_]+\)\nhint: [^\n]+\n$/);
  expect(stderr).toContain(message);
});

test('takes as many words as a head is long', async () => {
  const { code, stdout } = await run(['--dir', folder, '--backend', 'cpu', 'apple pear '.repeat(32)]);
  expect(code).toBe(0);
  expect(stdout).toContain('Block    64 words');
});
