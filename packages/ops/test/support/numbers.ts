/** Numbers from -2 to 2 that look random and are the same in every run. */
export function numbers(length: number, seed = 1): number[] {
  let state = (seed * 2654435761) >>> 0 || 1;
  return Array.from({ length }, () => {
    state ^= (state << 13) >>> 0;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return Math.fround((state / 2 ** 32) * 4 - 2);
  });
}

/** As many float32 numbers around 1e5 with the variance 1: an error of their mean is easily larger than their deviation. */
export function farNumbers(length: number): Float32Array {
  let state = 0;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return 1e5 + ((state >>> 8) / 2 ** 24 - 0.5) * Math.sqrt(12);
  });
}

/** The mean and the variance (without correction) of numbers, in float64. */
export function momentsOf(list: ArrayLike<number>): { readonly mean: number; readonly variance: number } {
  let [sum, squares] = [0, 0];
  for (let i = 0; i < list.length; i++) sum += list[i] as number;
  const mean = sum / list.length;
  for (let i = 0; i < list.length; i++) squares += ((list[i] as number) - mean) ** 2;
  return { mean, variance: squares / list.length };
}

/** Numbers less their mean, divided by the root of their variance, in float64. */
export function normalized(list: ArrayLike<number>): Float64Array {
  const { mean, variance } = momentsOf(list);
  return Float64Array.from(list, (x) => (x - mean) / Math.sqrt(variance + 1e-5));
}
