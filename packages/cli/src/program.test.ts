import { expect, test } from 'vitest';
import { run, working } from '../test/fakes.ts';

const providers = [working('cpu')];

test.each([[[]], [['devices']], [['conformance']], [['fuzz']], [['info']], [['completion']]])(
  '%j has help with examples',
  async (command) => {
    const { code, stdout } = await run([...command, '--help'], providers);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: concord .*Examples:/s);
    expect(stdout).toMatch(/Exit codes:|exit codes of each command/);
  },
);

test('prints its version', async () => {
  expect((await run(['--version'], providers)).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('shows the help where no command is given', async () => {
  const { code, stdout, stderr } = await run([], providers);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('Usage: concord');
});

test.each([
  [['devcies'], "error: unknown command 'devcies' (USAGE)\nhint: Did you mean devices?\n"],
  [['devices', '--jsn'], "error: unknown option '--jsn' (USAGE)\nhint: Did you mean --json?\n"],
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
