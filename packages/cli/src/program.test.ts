import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { run, working } from '../test/fakes.ts';

const providers = [working('cpu')];

const COMMANDS = ['devices', 'conformance', 'fuzz', 'kernel', 'bench', 'profile', 'tune'];

test.each([[[]], ...COMMANDS.map((name) => [[name]])])('%j has help with examples', async (command) => {
  const { code, stdout } = await run([...command, '--help'], providers);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Usage: concord .*Examples:/s);
  expect(stdout).toMatch(/Exit codes:|exit codes of a command/);
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
});

test('prints the version of its package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  expect((await run(['--version'], providers)).stdout).toBe(`${version}\n`);
});

test('shows the help where no command is given', async () => {
  const { code, stdout, stderr } = await run([], providers);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('Usage: concord');
});

test.each([
  [
    ['devcies'],
    "error: unknown command 'devcies' (USAGE)\nhint: Did you mean devices? concord --help lists the commands\n",
  ],
  [
    ['devices', '--jsn'],
    "error: unknown option '--jsn' (USAGE)\nhint: Did you mean --json? concord devices --help lists its options\n",
  ],
  [['kernel'], "error: missing required argument 'file' (USAGE)\nhint: concord kernel --help lists its options\n"],
  [['--nothing'], "error: unknown option '--nothing' (USAGE)\nhint: concord --help lists the commands\n"],
])('%j is wrong', async (args, stderr) => {
  expect(await run(args, providers)).toEqual({ code: 2, stdout: '', stderr });
});

test('shows the stack of an error only with --verbose', async () => {
  const args = ['conformance', '--backend', 'gpu'];
  expect((await run(args, providers)).stderr).not.toContain('    at ');
  expect((await run([...args, '--verbose'], providers)).stderr).toContain('    at ');
  expect((await run(['--verbose', ...args], providers)).stderr).toContain('    at ');
});

test('an unforeseen error is one line too', async () => {
  const broken = { ...providers[0], create: () => Promise.reject(new TypeError('x is not\na function')) };
  const { code, stderr } = await run(['fuzz', '--backend', 'cpu'], [broken as (typeof providers)[number]]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: x is not a function \(UNEXPECTED\)\nhint: run it again with --verbose/);
});
