import { runOnDevice, TESTED_BACKENDS } from '@concord/example-command/testing';
import { expect, test } from 'vitest';

// On cpu the tests beside the sources run it.
test.each(TESTED_BACKENDS.filter((name) => name !== 'cpu'))('on %s', (backend) => {
  const args = ['--batch', '2', '--size', '32', '--runs', '1', '--backend', backend];
  const { code, stdout, stderr } = runOnDevice(backend, 'resnet', args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`Backend  ${backend}: `);
  expect(stdout).toMatch(/Check {4}passed: 1000 scores/);
});
