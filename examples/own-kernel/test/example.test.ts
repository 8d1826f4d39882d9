import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

it('finds every vector, with its kernel between two ops of the contract', () => {
  const args = ['software-devices/level-zero-cpu/run.mjs', process.execPath, 'examples/own-kernel/dist/main.js'];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  expect(stdout).toMatch(/^100 of 100 queries found their vector, on .+\n$/);
  expect(status).toBe(0);
});
