import { runCaptured } from '@concord/example-command/testing';
import { expect, test } from 'vitest';
import { runProgram } from './program.ts';

const SMALL = ['--batch', '2', '--size', '32', '--runs', '1', '--backend', 'cpu'];

test('times the network, and its scores are those of the reference', async () => {
  const { code, stdout, stderr } = await runCaptured(runProgram, SMALL);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Network {2}ResNet-18, 11\.7 million/);
  expect(stdout).toContain('Images   2 of 3 x 32 x 32');
  expect(stdout).toMatch(/^Time {5}\S+ ms, \S+ images a second; the first time \S+ ms$/m);
  expect(stdout).toMatch(/^Check {4}passed: 1000 scores of 3 x 64 x 64, \S+ from the float64 reference\n$/m);
});

test('as JSON', async () => {
  const { stdout } = await runCaptured(runProgram, [...SMALL, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ batch: 2, check: { passed: true, scores: 1000 } });
});
