import type { NodeOp } from '@concord/backend-core/kernel';
import { erfc } from '../../src/evaluate/erfc.ts';
import type { Grant } from './judge.ts';

/** A function in float64, and how far docs/numerics.md lets a result be from it. */
export interface Accuracy {
  readonly exact: (x: number) => number;
  readonly grant: (x: number) => Grant;
  /** Largest operand of the dense samples. Default 60. */
  readonly limit?: number;
}

const ulps = (count: number) => () => ({ ulps: count });
/** As an exponential of x: its error grows with x until the result is 0. */
const ofExponential = (constant: number) => (x: number) => ({ ulps: constant + 2 * Math.min(Math.abs(x), 104) });
/** Units of 2^-23, whatever the result; from 2^24 on anything in [-1, 1]. */
const ofAngle = (x: number) => ({
  ulps: Math.abs(x) < 2 ** 24 ? 4 + Math.abs(x) / 1024 : 2 ** 24,
  unit: 2 ** -23,
});

const logistic = (x: number): number => (x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x)));
const tanhOperand = (x: number): number => Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3);

/** The series, where 1 - erfc cancels. */
function erf(x: number): number {
  if (Number.isNaN(x) || Math.abs(x) > 0.5) return 1 - erfc(x);
  let term = (2 / Math.sqrt(Math.PI)) * x;
  let sum = 0;
  for (let n = 0; n < 20; n++) {
    sum += term / (2 * n + 1);
    term *= -(x * x) / (n + 1);
  }
  return sum;
}

/** The functions of one operand that are not exact. */
export const ACCURACIES: Partial<Readonly<Record<NodeOp, Accuracy>>> = {
  sqrt: { exact: Math.sqrt, grant: ulps(3) },
  rsqrt: { exact: (x) => 1 / Math.sqrt(x), grant: ulps(4) },
  exp: { exact: Math.exp, grant: ofExponential(3), limit: 90 },
  exp2: { exact: (x) => 2 ** x, grant: ulps(4), limit: 130 },
  expm1: { exact: Math.expm1, grant: ulps(8), limit: 90 },
  log: { exact: Math.log, grant: ulps(4) },
  log2: { exact: Math.log2, grant: ulps(6) },
  log1p: { exact: Math.log1p, grant: ulps(8) },
  sin: { exact: Math.sin, grant: ofAngle, limit: 2 ** 24 - 1 },
  cos: { exact: Math.cos, grant: ofAngle, limit: 2 ** 24 - 1 },
  tanh: { exact: Math.tanh, grant: ulps(8), limit: 12 },
  sigmoid: { exact: logistic, grant: ofExponential(8), limit: 105 },
  silu: { exact: (x) => (x === -Infinity ? 0 : x * logistic(x)), grant: ofExponential(8), limit: 105 },
  gelu: {
    exact: (x) => (x === -Infinity ? 0 : (x / 2) * erfc(-x * Math.SQRT1_2)),
    grant: (x) => ({ ulps: 16 + 2 * Math.min(Math.abs(x), 14.5) ** 2 }),
    limit: 16,
  },
  geluTanh: {
    exact: (x) => (x === -Infinity ? 0 : x * logistic(2 * tanhOperand(x))),
    grant: (x) => ({ ulps: 16 + 10 * Math.min(tanhOperand(Math.abs(x)), 52) }),
    limit: 13,
  },
  erf: { exact: erf, grant: ulps(8), limit: 5 },
};

/** pow of C99 Annex F. */
export function pow(x: number, y: number): number {
  if (x === 1 || (x === -1 && Math.abs(y) === Infinity)) return 1;
  return x ** y;
}

/** The error that docs/numerics.md grants a power. */
export function powGrant(x: number, y: number): Grant {
  const doublings = Math.abs(y * Math.log2(Math.abs(x)));
  return { ulps: Number.isFinite(doublings) ? 16 + 5 * Math.min(doublings, 160) + 3 * Math.abs(y) : 16 };
}
