import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('forgotten tensors give their memory back when they are collected, are counted, and warned of once', () => {
  const script = join(import.meta.dirname, '../support/forgetful.mjs');
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--expose-gc', script], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    before: { tensors: 21, bytes: 10 * 24 + 20, collected: 0, allocations: 11 },
    after: { tensors: 1, bytes: 20, collected: 20, allocations: 1 },
    kept: [0, 0, 0, 0, 0],
  });
  expect(stderr.match(/without being disposed/g)).toHaveLength(1);
});
