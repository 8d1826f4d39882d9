import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

/** Runs the program on a device. */
function expectChecked(backend: string, runner: readonly string[]): void {
  const program = ['examples/resnet/dist/main.js', '--batch', '2', '--size', '32', '--runs', '1', '--backend', backend];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...runner, ...program], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain(`Backend  ${backend}: `);
  expect(stdout).toMatch(/Check {4}passed: 1000 scores/);
}

// The driver of Level Zero for the CPU is for Linux.
test.runIf(process.platform === 'linux')('on level-zero', () => {
  expectChecked('level-zero', ['software-devices/level-zero-cpu/run.mjs', process.execPath]);
});

test('on webgpu', () => {
  expectChecked('webgpu', ['software-devices/vulkan/run.mjs', 'lavapipe', process.execPath]);
});
