import { describe, expect, it } from 'vitest';
import { erfc } from './erfc.ts';

// Hand-picked digits of erfc, from any table of the function.
const KNOWN: readonly (readonly [number, number])[] = [
  [0, 1],
  [0.5, 0.4795001221869535],
  [1, 0.15729920705028513],
  [2, 0.004677734981047266],
  [5, 1.5374597944280349e-12],
  [10, 2.088487583762545e-45],
  [-1, 1.8427007929497148],
  [-6, 2],
];

/** erfc by Simpson's rule on `erfc(z) = 2 / sqrt pi * e^(-z^2) * integral of e^(-t^2 - 2 z t)` over t >= 0. */
function byIntegral(z: number): number {
  const steps = 8192;
  // Beyond this the integrand is below 1e-20 of its value at 0.
  const width = 36 / (Math.max(z, 0) + 3) / steps;
  let sum = 0;
  for (let i = 0; i <= steps; i++) {
    const t = i * width;
    const weight = i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2;
    sum += weight * Math.exp(-t * t - 2 * z * t);
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-z * z) * ((sum * width) / 3);
}

describe('erfc', () => {
  it('has the known values', () => {
    for (const [z, want] of KNOWN) expect(Math.abs(erfc(z) / want - 1), `at ${z}`).toBeLessThan(1e-12);
  });

  it('agrees with the integral to 1e-10 in every interval', () => {
    for (let z = -4; z < 14; z += 0.0371) expect(Math.abs(erfc(z) / byIntegral(z) - 1), `at ${z}`).toBeLessThan(1e-10);
  });

  it('has its limits', () => {
    expect([erfc(27), erfc(Infinity), erfc(-Infinity)]).toEqual([0, 0, 2]);
    expect(erfc(26)).toBeGreaterThan(0);
    expect(erfc(Number.NaN)).toBeNaN();
  });
});
