import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

/** Runs the program over the pages of `docs`, causal and not, on a backend. */
function expectChecked(backend: string, runner: readonly string[]): void {
  for (const causal of [[], ['--causal']]) {
    const program = ['examples/attention/dist/main.js', '--dir', 'docs', '--backend', backend];
    const args = [...runner, ...program, ...causal, 'every backend is held to the oracle'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^word +attends to\nevery +every \d+%/);
    expect(stdout).toContain(`Backend  ${backend}: `);
    expect(stdout).toMatch(/Check    passed: [\d,]+ values against the float64 oracle/);
  }
}

test('on cpu', () => {
  expectChecked('cpu', []);
});

// The driver of Level Zero for the CPU is for Linux.
test.runIf(process.platform === 'linux')('on level-zero', () => {
  expectChecked('level-zero', ['software-devices/level-zero-cpu/run.mjs', process.execPath]);
});

test('on webgpu', () => {
  expectChecked('webgpu', ['software-devices/vulkan/run.mjs', 'lavapipe', process.execPath]);
});
