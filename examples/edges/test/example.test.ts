import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { afterAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const PICTURES = join(import.meta.dirname, '../pictures');
const MAIN = 'examples/edges/dist/main.js';
const folder = mkdtempSync(join(tmpdir(), 'concord-edges-'));
afterAll(() => rmSync(folder, { recursive: true }));

function pixelsOf(path: string): Buffer {
  return PNG.sync.read(readFileSync(path)).data;
}

/** Makes the pictures of the README on a backend: every value the oracle's, and the very pixels that `cpu` gives. */
function expectSamePictures(backend: string, runner: readonly string[]): void {
  for (const [name, ...options] of [
    ['edges-blurred.png', '--blur', '2'],
    ['blurred.png', '--blur', '3', '--no-edges'],
  ] as const) {
    const [from, to] = [join(PICTURES, 'scene.png'), join(folder, `${backend}-${name}`)];
    const args = [...runner, MAIN, ...options, '--check', '--backend', backend, from, to];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain(`Backend  ${backend}: `);
    expect(stdout).toContain('Check    passed: ');
    expect(pixelsOf(to).equals(pixelsOf(join(PICTURES, name)))).toBe(true);
  }
}

test('on cpu', () => {
  expectSamePictures('cpu', []);
});

// The driver of Level Zero for the CPU is for Linux.
test.runIf(process.platform === 'linux')('on level-zero, the same pixels', () => {
  expectSamePictures('level-zero', ['software-devices/level-zero-cpu/run.mjs', process.execPath]);
});

test('on webgpu, the same pixels', () => {
  expectSamePictures('webgpu', ['software-devices/vulkan/run.mjs', 'lavapipe', process.execPath]);
});
