import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const MAIN = 'examples/pick-a-backend/dist/main.js';
const PRODUCT = '(1 2 3; 4 5 6) x (7 8; 9 10; 11 12) = 58 64 139 154\n';

function run(args: readonly string[], chosen = ''): { status: number | null; stdout: string; stderr: string } {
  const env = { ...process.env, CONCORD_BACKEND: chosen };
  return spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', env });
}

test('takes the best backend, prints the outcome for each, and multiplies', () => {
  const { status, stdout, stderr } = run([MAIN]);
  // Dawn writes there itself where there is a Vulkan loader and no driver.
  expect(stderr).not.toContain('Error:');
  const rows = stdout.split('\n');
  for (const name of ['level-zero', 'webgpu', 'wasm', 'cpu']) {
    expect(rows.filter((row) => row.slice(3).startsWith(`${name} `))).toHaveLength(1);
  }
  expect(rows.filter((row) => /^\*  \S+ +selected$/.test(row))).toHaveLength(1);
  expect(stdout.endsWith(PRODUCT)).toBe(true);
  expect(status).toBe(0);
});

test.each([
  // The driver of Level Zero for the CPU is for Linux.
  ...(process.platform === 'linux'
    ? [['level-zero', ['software-devices/level-zero-cpu/run.mjs', process.execPath]]]
    : []),
  ['webgpu', ['software-devices/vulkan/run.mjs', 'lavapipe', process.execPath]],
  ['cpu', []],
] as [name: string, runner: string[]][])('takes %s when CONCORD_BACKEND asks for it', (name, runner) => {
  const { status, stdout } = run([...runner, MAIN], name);
  expect(stdout).toMatch(new RegExp(`^\\*  ${name} +selected\n`));
  expect(stdout.endsWith(PRODUCT)).toBe(true);
  expect(status).toBe(0);
});
