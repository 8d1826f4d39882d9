import { expect, it } from 'vitest';
import { double, softmax } from '../test/support/run-kernels.ts';
import { explainRun } from './explain-run.ts';

it('gives the launches and their WGSL without a device', () => {
  const { passes } = explainRun(softmax, { shape: [64, 1024], folded: 1 });
  expect(passes).toHaveLength(1);
  expect(passes[0]).toMatchObject({ variant: expect.stringMatching(/^rows\//) as string, language: 'wgsl' });
  expect(passes[0]?.code).toMatch(/@compute[^]*exp\(/);
  expect(explainRun(double, { shape: [0, 4] }).passes).toEqual([]);
});

it('refuses what run refuses', () => {
  expect(() => explainRun(softmax, { shape: [4] })).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
});
