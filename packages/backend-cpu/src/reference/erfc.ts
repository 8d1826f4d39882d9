/**
 * The complementary error function in float64, from two textbook expansions without cancellation:
 *
 * - 0 <= x < 1: erf x = 2/sqrt(pi) exp(-x^2) sum_n 2^n x^(2n+1) / (1*3*5*...*(2n+1)), all terms of one sign
 *   (Abramowitz and Stegun 7.1.6), and erfc = 1 - erf;
 * - x >= 1: the continued fraction erfc x = exp(-x^2)/sqrt(pi) / (x + (1/2)/(x + 1/(x + (3/2)/(x + ...)))) (7.1.14),
 *   evaluated backwards from level 200, where it has converged.
 */
export function erfcReference(x: number): number {
  if (Number.isNaN(x)) return Number.NaN;
  if (x < 0) return 2 - erfcReference(-x);
  if (x < 1) return 1 - erfSeries(x);
  let tail = x;
  for (let level = 200; level >= 1; level--) tail = x + level / 2 / tail;
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / tail;
}

/** The error function in float64: the series where it converges fast, 1 - erfc beyond, odd. */
export function erfReference(x: number): number {
  if (x < 0) return -erfReference(-x);
  return x < 1 ? erfSeries(x) : 1 - erfcReference(x);
}

function erfSeries(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; term > sum * 1e-18; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}
