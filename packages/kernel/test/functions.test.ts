import { NODE_OPS, type NodeOp } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { erfc } from '../src/evaluate/erfc.ts';
import { arithmeticNode } from '../src/functions/arithmetic-node.ts';
import { bitsOf, type Device, floatArithmetic, ulpAt } from './support/float-arithmetic.ts';
import { anyFloats, fraction, moderateFloats, SPECIAL } from './support/samples.ts';

/** What a function is in float64, and by how many units of the last place it may be off. */
interface Judged {
  readonly exact: (x: number) => number;
  readonly ulps: (x: number) => number;
  /** Units of 2^-23 instead, whatever the result. */
  readonly isAbsolute?: true;
  /** Largest operand of the dense samples. */
  readonly limit?: number;
}

const GELU_TANH = Math.sqrt(2 / Math.PI);
const logistic = (x: number): number => (x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x)));
const angle = (x: number): number => 4 + Math.abs(x) / 1024;

const FUNCTIONS: Partial<Readonly<Record<NodeOp, Judged>>> = {
  sqrt: { exact: Math.sqrt, ulps: () => 3 },
  rsqrt: { exact: (x) => 1 / Math.sqrt(x), ulps: () => 4 },
  exp: { exact: Math.exp, ulps: (x) => 3 + 2 * Math.min(Math.abs(x), 104), limit: 90 },
  exp2: { exact: (x) => 2 ** x, ulps: () => 4, limit: 130 },
  expm1: { exact: Math.expm1, ulps: () => 8, limit: 90 },
  log: { exact: Math.log, ulps: () => 4 },
  log2: { exact: Math.log2, ulps: () => 6 },
  log1p: { exact: Math.log1p, ulps: () => 8 },
  sin: { exact: Math.sin, ulps: angle, isAbsolute: true, limit: 2 ** 20 },
  cos: { exact: Math.cos, ulps: angle, isAbsolute: true, limit: 2 ** 20 },
  tanh: { exact: Math.tanh, ulps: () => 8 },
  sigmoid: { exact: logistic, ulps: (x) => 8 + 2 * Math.min(Math.abs(x), 104), limit: 105 },
  silu: {
    exact: (x) => (x === -Infinity ? 0 : x * logistic(x)),
    ulps: (x) => 8 + 2 * Math.min(Math.abs(x), 104),
    limit: 105,
  },
  gelu: {
    exact: (x) => (x === -Infinity ? 0 : (x / 2) * erfc(-x * Math.SQRT1_2)),
    ulps: (x) => 16 + 2 * Math.min(Math.abs(x), 14.5) ** 2,
    limit: 16,
  },
  geluTanh: {
    exact: (x) => (x === -Infinity ? 0 : x * logistic(2 * GELU_TANH * (x + 0.044715 * x ** 3))),
    ulps: (x) => 16 + 4 * Math.min(GELU_TANH * (Math.abs(x) + 0.044715 * Math.abs(x) ** 3), 52),
    limit: 13,
  },
  erf: { exact: (x) => (Math.abs(x) < 0.5 ? erfNearZero(x) : 1 - erfc(x)), ulps: () => 8, limit: 5 },
};

/** The series, where 1 - erfc cancels. */
function erfNearZero(x: number): number {
  let term = (2 / Math.sqrt(Math.PI)) * x;
  let sum = 0;
  for (let n = 0; n < 20; n++) {
    sum += term / (2 * n + 1);
    term *= -(x * x) / (n + 1);
  }
  return sum;
}

const DEVICES: Readonly<Record<string, Device>> = {
  'IEEE 754': {},
  'no subnormals': { flushes: true },
  'an exponential too large': { expError: 1, flushes: true },
  'an exponential too small': { expError: -1 },
  'quotients too large': { divideError: 2 },
  'quotients too small': { divideError: -2, flushes: true },
  truncation: { truncates: true },
};

const LEAST_NORMAL = 2 ** -126;

/** How much of its tolerance a result takes; more than 1 is wrong. */
function used(got: number, wants: readonly number[], tolerance: (want: number) => number): number {
  return Math.min(
    ...wants.map((want) => {
      if (Number.isNaN(want) || Number.isNaN(got)) return Number.isNaN(want) && Number.isNaN(got) ? 0 : Infinity;
      if (got === Math.fround(want)) return 0;
      const allowed = tolerance(want);
      if (!Number.isFinite(got)) return Math.abs(want) + allowed >= 3.4028235e38 && Math.sign(got) === Math.sign(want) ? 1 : Infinity;
      if (!Number.isFinite(want)) return Infinity;
      return Math.abs(got - want) / allowed;
    }),
  );
}

const flushed = (x: number): readonly number[] => (Math.abs(x) < LEAST_NORMAL ? [x, 0 * x] : [x]);

describe.each(Object.entries(DEVICES))('on a device with %s', (name, device) => {
  const a = floatArithmetic(device);
  it.each(Object.entries(FUNCTIONS))('%s is within its grant', (op, judged) => {
    const { exact, ulps, isAbsolute = false, limit = 60 } = judged as Judged;
    const node = { kind: 'arithmetic', op: op as NodeOp, type: 'f32', level: 'element', operands: [0] } as const;
    let most = 0;
    let worst: unknown;
    let mu = 0;
    for (const x of [...SPECIAL, ...anyFloats(20_000), ...moderateFloats(60_000, limit)]) {
      if (isAbsolute && Math.abs(x) > 2 ** 20 && Number.isFinite(x)) {
        const value = arithmeticNode(a, node, ['f32'], [x]);
        expect(Math.abs(value)).toBeLessThanOrEqual(1);
        continue;
      }
      const got = arithmeticNode(a, node, ['f32'], [x]);
      const unit = (want: number): number => (isAbsolute ? 2 ** -23 : ulpAt(want));
      const tolerance = (want: number): number =>
        (ulps(x) + 0.5) * unit(want) + (Math.abs(want) < 2 * LEAST_NORMAL ? LEAST_NORMAL : 0);
      const part = used(got, flushed(x).map(exact), tolerance);
      const want = exact(x);
      if (Number.isFinite(want) && Math.abs(want) > 2 * LEAST_NORMAL && Number.isFinite(got)) mu = Math.max(mu, Math.abs(got-want)/unit(want));
      if (part > most) {
        most = part;
        worst = { x, bits: bitsOf(x).toString(16), got, want: exact(x) };
      }
    }
    console.log(name, op, 'used', most.toFixed(3), 'ulp', mu.toFixed(2));
    expect(most <= 1 ? 'within its grant' : worst).toBe('within its grant');
  });
});
void NODE_OPS; void fraction;
