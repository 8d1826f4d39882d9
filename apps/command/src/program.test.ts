import { BackendError } from '@concord/backend-core';
import { expect, test } from 'vitest';
import { deviceFields, withBackend } from './backend.ts';
import { EXIT } from './user-error.ts';
import { integer } from './numbers.ts';
import { factLines, writeResult } from './output.ts';
import { type CommonOptions, defineProgram, type Program, subcommand } from './program.ts';
import { runCaptured } from './testing.ts';

interface Options extends CommonOptions {
  readonly size: number;
}

const program: Program = defineProgram<Options>({
  name: 'double',
  description: 'Doubles a size.',
  examples: ['double --size 3'],
  exitCodes: { failed: 'it failed', usage: 'wrong arguments' },
  define: (command) => command.argument('[what]').option('--size <n>', 'what to double', integer(0, 9), 1),
  run: ([what = 'size'], { size, json, backend: names }, { stdout }) =>
    withBackend(names, [{ op: 'gemm' }], async (backend) => {
      if (what === 'broken') throw new BackendError('DEVICE_ERROR', 'the kernel failed', { hint: 'none' });
      writeResult(stdout, json, { [what]: 2 * size, ...deviceFields(backend) }, () =>
        factLines({ [what]: String(2 * size), Backend: backend.name }),
      );
      return EXIT.ok;
    }),
});

test('arguments, options and the backend reach the program; facts stand below each other', async () => {
  const { code, stdout, stderr } = await runCaptured(program, ['--size', '4', '--backend', 'cpu', 'width']);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'width    8\nBackend  cpu\n', stderr: '' });
});

test('--json prints one object on one line', async () => {
  const { stdout } = await runCaptured(program, ['--json', '--backend', 'cpu']);
  expect(JSON.parse(stdout)).toMatchObject({ size: 2, backend: 'cpu' });
  expect(stdout.split('\n')).toHaveLength(2);
});

test('the backend is disposed of after an error, whose code gives the exit code', async () => {
  const { code, stdout, stderr } = await runCaptured(program, ['broken', '--backend', 'cpu']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe('error: the kernel failed (DEVICE_ERROR)\nhint: none\n');
});

test.each([
  [['--size', 'x'], 'It must be an integer from 0 to 9.'],
  [['--sizes', '1'], "unknown option '--sizes'"],
  [['--backend', 'gpu'], 'no backend "gpu"; there are: level-zero, webgpu, wasm, cpu'],
])('%j ends with 2, in one line with a hint', async (args, message) => {
  const { code, stdout, stderr } = await runCaptured(program, args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^error: [^\n]+ \([A-Z_]+\)\nhint: [^\n]+\n$/);
  expect(stderr).toContain(message);
});

test('an error after Ctrl-C is no error', async () => {
  const interrupted = defineProgram({
    ...{ name: 'x', description: 'x', examples: [], exitCodes: { failed: 'x', usage: 'x' } },
    run: (_, __, { signal }) => Promise.reject(signal.reason as Error),
  });
  const ended = await runCaptured(interrupted, [], AbortSignal.abort());
  expect(ended).toEqual({ code: 130, stdout: '', stderr: '' });
});

test('subcommands have the options of the program too, before and after their names', async () => {
  const print = subcommand<{ readonly name: string; readonly size: number }>(
    'print',
    'Prints.',
    ([what], { name, size, json }, { stdout }) => {
      stdout.write(JSON.stringify({ what, name, size, json }));
      return Promise.resolve(EXIT.ok);
    },
    (command) => command.argument('<what>').option('--size <n>', 'of it', integer(0, 9), 1),
  );
  const several = defineProgram({
    ...{ name: 'several', description: 'Two.', examples: ['several print x'], exitCodes: { failed: 'x', usage: 'x' } },
    define: (command) => command.option('--name <name>', 'of the run', 'default'),
    commands: [print, subcommand('stop', 'Stops.', () => Promise.resolve(EXIT.failed))],
  });
  const printed = await runCaptured(several, ['--name', 'a', 'print', '--size', '2', 'x', '--json']);
  expect(JSON.parse(printed.stdout)).toEqual({ what: 'x', name: 'a', size: 2, json: true });
  expect((await runCaptured(several, ['stop'])).code).toBe(1);
  expect(await runCaptured(several, ['print', 'x', '--backend', 'gpu'])).toMatchObject({ code: 2, stdout: '' });
  expect(await runCaptured(several, ['halt'])).toMatchObject({ code: 2, stderr: expect.stringContaining('halt') });
  for (const args of [[], ['print', '--help']]) {
    const { code, stdout } = await runCaptured(several, args);
    expect(code).toBe(0);
    expect(stdout).toContain('--verbose');
  }
});

test('the help has the options, examples and exit codes', async () => {
  const { code, stdout } = await runCaptured(program, ['--help']);
  expect(code).toBe(0);
  for (const part of ['--size <n>', '--backend <names>', '--json', '--verbose', '  double --size 3', '1    it failed'])
    expect(stdout).toContain(part);
});
