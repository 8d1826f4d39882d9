import type { NodeOp } from '@concord/backend-core/kernel';
import { erfcReference, erfReference } from '../erfc.ts';
import { roundTiesToEven } from './stored-values.ts';

/** A node of one float32 that rounds: its function in float64, where it bends, and how wrong a device may be. */
export interface FloatFunction {
  readonly of: (x: number) => number;
  /** The place of its minimum, if it falls and then rises. Undefined: it only rises. */
  readonly least?: number;
  /** The x below which it is NaN. */
  readonly from?: number;
  /** Largest error in units in the last place, by the largest |x|; `docs/numerics.md` says where each comes from. */
  readonly ulps: (magnitude: number) => number;
}

/** The |x| beyond which exp(-|x|) is 0 in float32, so that the error of the exponent no longer grows. */
const MAX_EXPONENT = 104;
/** The |x| beyond which erfc(|x| / sqrt 2) is 0 in float32. */
const MAX_GELU = 14.5;

const capped = (x: number): number => Math.min(x, MAX_EXPONENT);

/** The argument of tanh in geluTanh. */
function geluArgument(x: number): number {
  return Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3);
}

/** The nodes of one float32 whose error is given in units in the last place; `rsqrt`, `sin` and `cos` are apart. */
export type RoundingOp =
  | 'sqrt'
  | 'exp'
  | 'exp2'
  | 'expm1'
  | 'log'
  | 'log2'
  | 'log1p'
  | 'tanh'
  | 'erf'
  | 'sigmoid'
  | 'silu'
  | 'gelu'
  | 'geluTanh';

/** Each function by its definition. Limits are written out where the formula gives Infinity / Infinity. */
export const FLOAT_FUNCTIONS: Readonly<Record<RoundingOp, FloatFunction>> = {
  sqrt: { of: Math.sqrt, from: 0, ulps: () => 3 },
  exp: { of: Math.exp, ulps: (x) => 3 + 2 * capped(x) },
  exp2: { of: (x) => 2 ** x, ulps: () => 4 },
  expm1: { of: Math.expm1, ulps: () => 8 },
  log: { of: Math.log, from: 0, ulps: () => 4 },
  log2: { of: Math.log2, from: 0, ulps: () => 6 },
  log1p: { of: Math.log1p, from: -1, ulps: () => 8 },
  tanh: { of: Math.tanh, ulps: () => 8 },
  erf: { of: erfReference, ulps: () => 8 },
  sigmoid: { of: (x) => 1 / (1 + Math.exp(-x)), ulps: (x) => 8 + 2 * capped(x) },
  silu: {
    of: (x) => (x === -Infinity ? 0 : x / (1 + Math.exp(-x))),
    least: -1.278464542761074,
    ulps: (x) => 8 + 2 * capped(x),
  },
  gelu: {
    of: (x) => (x === -Infinity ? 0 : (x / 2) * erfcReference(-x / Math.SQRT2)),
    least: -0.7517915246935645,
    ulps: (x) => 16 + 2 * Math.min(x, MAX_GELU) ** 2,
  },
  geluTanh: {
    // (1 + tanh z) / 2 = 1 / (1 + exp(-2z)), without the cancellation.
    of: (x) => (x === -Infinity ? 0 : x / (1 + Math.exp(-2 * geluArgument(x)))),
    least: -0.7524614220710162,
    ulps: (x) => 16 + 10 * Math.min(geluArgument(x), MAX_EXPONENT / 2),
  },
};

/** The nodes of one float32 that never fall and round nothing. */
export const EXACT_FUNCTIONS: Readonly<Partial<Record<NodeOp, (x: number) => number>>> = {
  floor: Math.floor,
  ceil: Math.ceil,
  round: roundTiesToEven,
  trunc: Math.trunc,
  sign: Math.sign,
};

/** `pow` of C99 Annex F, from which ECMAScript differs where the base is 1 or -1 and the exponent NaN or infinite. */
export function powC99(x: number, y: number): number {
  if (x === 1) return 1;
  if (x === -1 && Math.abs(y) === Infinity) return 1;
  return x ** y;
}
