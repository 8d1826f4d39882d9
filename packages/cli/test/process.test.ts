import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

// The built command, as a separate process: signals and pipes are between processes.
const BIN = join(import.meta.dirname, '..', 'bin', 'concord.js');

interface Running {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  readonly code: Promise<number | null>;
}

function start(...args: readonly string[]): Running {
  const child = spawn(process.execPath, [BIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (text: Buffer) => (output.stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (output.stderr += text.toString()));
  return { child, output, code: once(child, 'close').then(([code]) => code as number | null) };
}

test.each([
  ['fuzz', ['--backend', 'cpu', '--seconds', '25'], /^Interrupted by Ctrl-C after/m],
  ['conformance', ['--backend', 'cpu'], /^Interrupted: only a part was run/m],
])('Ctrl-C ends %s with what was done so far', async (command, args, message) => {
  const { child, output, code } = start(command, ...args);
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  child.kill('SIGINT');
  expect(await code).toBe(130);
  expect(output.stdout).toMatch(message);
  expect(output.stderr).toBe('');
});

test('Ctrl-C ends a profile of a program that never does, with what it launched', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'concord-endless-'));
  const file = join(folder, 'endless.mjs');
  const add = "backend.binary({ op: 'add', n: 4, a: x, b: x, output: x })";
  const rest = "setInterval(() => {}, 1000); console.log('ready'); await new Promise(() => {})";
  writeFileSync(file, `export default async (backend) => { const x = backend.alloc(16); ${add}; ${rest}; };`);
  const { child, output, code } = start('profile', file, '--backend', 'cpu');
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  child.kill('SIGINT');
  expect(await code).toBe(130);
  expect(output.stdout).toMatch(/^binary add +1 .*\n[^]*^Interrupted: this is what ran until then$/m);
  rmSync(folder, { recursive: true });
});

test('a reader that goes away is no error', async () => {
  const { child, output, code } = start('devices', '--json');
  child.stdout?.destroy();
  expect(await code).toBe(141);
  // Dawn writes there itself where there is a Vulkan loader and no driver.
  expect(output.stderr).not.toMatch(/EPIPE|Error:/);
});

test('ends by itself with the exit code of the command', async () => {
  expect(await start('devices').code).toBe(0);
  expect(await start('nonsense').code).toBe(2);
});
