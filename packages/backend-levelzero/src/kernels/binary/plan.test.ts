import { expect, it } from 'vitest';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import { allKernels } from './plan.ts';

const EXECUTION_MODE = 16;
const CONTRACTION_OFF = 31;

/** Whether a module keeps products and sums apart. */
function hasContractionOff(words: Uint32Array): boolean {
  for (let at = 5; at < words.length; at += (words[at] as number) >>> 16) {
    if (((words[at] as number) & 0xffff) === EXECUTION_MODE && words[at + 2] === CONTRACTION_OFF) return true;
  }
  return false;
}

it.each(['cpu', 'gpu'] as const)('pow, and nothing else, keeps products and sums apart, as on %s', (device) => {
  const kernels = allKernels(TEST_DEVICES[device]).filter((kernel) => hasContractionOff(kernel.words()));
  expect(kernels.map(({ name }) => name.split(' ')[0])).toEqual(['binary/pow']);
});
