import type { BenchInput } from './bench-case.ts';

/**
 * Numbers in [-1, 1) that look random, the same ones on every run: a linear congruential generator.
 *
 * @param least - 0 for numbers in [0, 1), where sums of both signs would cancel and hide what is missing
 */
export function noise(length: number, seed: number, least: -1 | 0 = -1): Float32Array {
  const numbers = new Float32Array(length);
  let state = Math.imul(seed, 0x9e3779b1);
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    numbers[i] = least === 0 ? (state >>> 1) / 2 ** 31 : state / 2 ** 31;
  }
  return numbers;
}

/** {@link noise} as a float32 operand. */
export function noiseInput(length: number, seed: number, least: -1 | 0 = -1): BenchInput {
  return { values: noise(length, seed, least), dtype: 'f32' };
}
