/**
 * The complementary error function to about 1e-13 relative, far tail included: `erfc(z) = e^(-z^2) y(z)` for z >= 0,
 * where the scaled function y falls slowly from 1 to about 1 / (z sqrt pi).
 *
 * y is read from Taylor series of degree 8 around the middles of intervals of 1/8. Nothing is tabulated by hand: on first
 * use y is computed at each middle, by its series below 1 and its continued fraction above, and the further
 * coefficients follow from its differential equation `y' = 2 z y - 2 / sqrt pi`, which says for the coefficients a_n
 * around c: `(n + 1) a_(n+1) = 2 c a_n + 2 a_(n-1)`, with `- 2 / sqrt pi` when n = 0. The first term left out is below
 * (1/16)^9 / Gamma(11/2) = 3e-13 (at z = 0; less further out).
 */

const TWO_OVER_SQRT_PI = 2 / Math.sqrt(Math.PI);
const INTERVALS_PER_UNIT = 8;
const TERMS = 9;
/** The x from which erfc is 0 in float64, or so deep in its subnormals that no float32 result can tell. */
const END = 27;

let coefficients: Float64Array | undefined;

/** 1 - erf(z), without the cancellation. */
export function erfc(z: number): number {
  return z < 0 ? 2 - erfcPositive(-z) : erfcPositive(z);
}

function erfcPositive(z: number): number {
  if (Number.isNaN(z)) return z;
  if (z >= END) return 0;
  coefficients ??= buildCoefficients();
  const a = coefficients;
  const interval = Math.floor(z * INTERVALS_PER_UNIT);
  const h = z - middleOf(interval);
  let i = interval * TERMS + TERMS - 1;
  let sum = a[i] as number;
  for (let n = 1; n < TERMS; n++) sum = sum * h + (a[--i] as number);
  return Math.exp(-z * z) * sum;
}

function middleOf(interval: number): number {
  return (interval + 0.5) / INTERVALS_PER_UNIT;
}

function buildCoefficients(): Float64Array {
  const intervals = END * INTERVALS_PER_UNIT;
  const table = new Float64Array(intervals * TERMS);
  for (let interval = 0; interval < intervals; interval++) {
    const c = middleOf(interval);
    let before = 0;
    let a = c < 1 ? scaledBySeries(c) : scaledByFraction(c);
    for (let n = 0; n < TERMS; n++) {
      table[interval * TERMS + n] = a;
      const next = (2 * c * a + (n === 0 ? -TWO_OVER_SQRT_PI : 2 * before)) / (n + 1);
      before = a;
      a = next;
    }
  }
  return table;
}

/** `e^(c^2) - 2 / sqrt pi * sum over n of 2^n c^(2n+1) / (1 * 3 * ... * (2n+1))`; loses a digit by c = 1. */
function scaledBySeries(c: number): number {
  let term = TWO_OVER_SQRT_PI * c;
  let sum = 0;
  for (let n = 1; n < 40; n++) {
    sum += term;
    term *= (2 * c * c) / (2 * n + 1);
  }
  return Math.exp(c * c) - sum;
}

/** `1 / sqrt pi / (c + (1/2) / (c + (2/2) / (c + (3/2) / (c + ...))))`, from the inside; 400 levels are enough from 1 on. */
function scaledByFraction(c: number): number {
  let fraction = c;
  for (let n = 400; n >= 1; n--) fraction = c + n / 2 / fraction;
  return TWO_OVER_SQRT_PI / 2 / fraction;
}
