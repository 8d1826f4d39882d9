/** Numbers in [-1, 1) that look random, the same ones on every run: a linear congruential generator. */
export function noise(length: number, seed: number): Float32Array {
  const numbers = new Float32Array(length);
  let state = seed * 2_654_435_761;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    numbers[i] = state / 2 ** 31;
  }
  return numbers;
}
