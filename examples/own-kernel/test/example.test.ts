import { runOnDevice } from '@concord/example-command/testing';
import { expect, it } from 'vitest';

it('finds every vector, with its kernel between two ops of the contract', () => {
  const { code, stdout, stderr } = runOnDevice('level-zero', 'own-kernel', []);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^100 of 100 queries found their vector, on .+\n$/);
});
