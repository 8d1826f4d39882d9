import { CpuBackend } from '@concord/backend-cpu';
import { memory } from '@concord/ops';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Architecture, parametersOf, RESNET_18 } from './architecture.ts';
import { compare } from './check.ts';
import { classify, noiseImages, untrainedWeights } from './network.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

const TINY: Architecture = { name: 'tiny', channels: [4, 6], blocks: 2, classes: 5 };

test('a network of another size leaves nothing behind', () => {
  const before = memory();
  const weights = untrainedWeights(backend, TINY);
  using images = noiseImages(backend, 2, 21);
  using scores = classify(TINY, weights, images);
  expect(scores.shape).toEqual([2, 5]);
  for (const each of [...Object.values(weights), images, scores]) each.dispose();
  expect(memory()).toEqual(before);
  expect(backend.memory().liveAllocations).toBe(0);
});

test("ResNet-18 has as many weights as the paper's, with a bias for each BatchNorm", () => {
  const parameters = parametersOf(RESNET_18);
  const count = (names: RegExp): number =>
    parameters
      .filter(({ name }) => names.test(name))
      .reduce((sum, { shape }) => sum + shape.reduce((product, length) => product * length, 1), 0);
  expect(count(/weight$/)).toBe(11_678_912);
  expect(count(/bias$/)).toBe(5_800);
  expect(parameters.length).toBe(2 * 21);
});

test('a score that is off fails the check, and so does one that is missing or no number', () => {
  expect(compare([1, -4], [1, -4])).toEqual({ passed: true, scores: 2, difference: 0 });
  expect(compare([1.001, -4], [1, -4]).passed).toBe(false);
  expect(compare([1], [1, -4]).passed).toBe(false);
  expect(compare([1, -4, 0], [1, -4]).passed).toBe(false);
  expect(compare([Number.NaN, -4], [1, -4]).passed).toBe(false);
});
