import type { BinaryOp, UnaryOp } from '@concord/backend-core';

/** Beyond this |x| exp(-|x|) is 0 in float32, so that the error of the exponent no longer grows. */
const MAX_EXPONENT = 104;
/** Beyond this |x| erfc(|x| / sqrt 2) is 0 in float32. */
const MAX_GELU = 14.5;
/** Beyond this |log2 of the result| pow is 0 or infinite in float32. */
const MAX_DOUBLINGS = 160;

/** The tolerance of a function, in words and as a number: `docs/numerics.md` says where each comes from. */
interface Accuracy<Operands extends readonly number[]> {
  readonly formula: string;
  readonly ulps: (...operands: Operands) => number;
}

const EXACT = { formula: '0', ulps: () => 0 };

const UNARY: Readonly<Record<UnaryOp, Accuracy<[x: number]>>> = {
  relu: EXACT,
  abs: EXACT,
  neg: EXACT,
  sqrt: { formula: '3', ulps: () => 3 },
  exp: { formula: '3 + 2|x|', ulps: (x) => 3 + 2 * x },
  log: { formula: '4', ulps: () => 4 },
  tanh: { formula: '8', ulps: () => 8 },
  sigmoid: { formula: '8 + 2|x|', ulps: (x) => 8 + 2 * x },
  silu: { formula: '8 + 2|x|', ulps: (x) => 8 + 2 * x },
  gelu: { formula: '16 + 2x^2', ulps: (x) => 16 + 2 * Math.min(x, MAX_GELU) ** 2 },
};

const BINARY: Readonly<Record<BinaryOp, Accuracy<[x: number, y: number]>>> = {
  max: EXACT,
  min: EXACT,
  add: { formula: '1', ulps: () => 1 },
  sub: { formula: '1', ulps: () => 1 },
  mul: { formula: '1', ulps: () => 1 },
  div: { formula: '3', ulps: () => 3 },
  pow: {
    formula: '16 + 5|y log2|x|| + 3|y|',
    ulps: (x, y) => {
      const doublings = Math.abs(y * Math.log2(Math.abs(x)));
      // A base or exponent of 0, infinity or NaN has a result without rounding.
      return Number.isFinite(doublings) ? 16 + 5 * Math.min(doublings, MAX_DOUBLINGS) + 3 * Math.abs(y) : 16;
    },
  },
};

/** Largest error of `op(x)` in ulp of the result. */
export function unaryUlps(op: UnaryOp, x: number): number {
  // NaN and infinities have results without rounding; the limits only keep the arithmetic finite.
  const magnitude = Number.isNaN(x) ? 0 : Math.min(Math.abs(x), MAX_EXPONENT);
  return UNARY[op].ulps(magnitude);
}

/** Largest error of `op(x, y)` in ulp of the result. */
export function binaryUlps(op: BinaryOp, x: number, y: number): number {
  return BINARY[op].ulps(x, y);
}

/** The meaning of {@link unaryUlps}. */
export function unaryFormula(op: string): string {
  return UNARY[op as UnaryOp].formula;
}

/** The meaning of {@link binaryUlps}. */
export function binaryFormula(op: string): string {
  return BINARY[op as BinaryOp].formula;
}
