import type { BinaryOp, UnaryOp } from '@concord/backend-core';

/** Beyond this |x| exp(-|x|) is 0 in float32, so that the error of the exponent no longer grows. */
const MAX_EXPONENT = 104;
/** Beyond this |x| erfc(|x| / sqrt 2) is 0 in float32. */
const MAX_GELU = 14.5;
/** Beyond this |log2 of the result| pow is 0 or infinite in float32. */
const MAX_DOUBLINGS = 160;

/** Largest error of `op(x)` in ulp of the result. `docs/numerics.md` says where each comes from. */
export function unaryUlps(op: UnaryOp, x: number): number {
  // NaN and infinities have results without rounding; the limits only keep the arithmetic finite.
  const magnitude = Number.isNaN(x) ? 0 : Math.min(Math.abs(x), MAX_EXPONENT);
  switch (op) {
    case 'relu':
    case 'abs':
    case 'neg':
      return 0;
    case 'sqrt':
      return 3;
    case 'exp':
      return 3 + 2 * magnitude;
    case 'log':
      return 4;
    case 'tanh':
      return 8;
    case 'sigmoid':
    case 'silu':
      return 8 + 2 * magnitude;
    case 'gelu':
      return 16 + 2 * Math.min(magnitude, MAX_GELU) ** 2;
  }
}

/** Largest error of `op(x, y)` in ulp of the result. */
export function binaryUlps(op: BinaryOp, x: number, y: number): number {
  switch (op) {
    case 'max':
    case 'min':
      return 0;
    case 'add':
    case 'sub':
    case 'mul':
      return 1;
    case 'div':
      return 3;
    case 'pow': {
      const doublings = Math.abs(y * Math.log2(Math.abs(x)));
      // A base or exponent of 0, infinity or NaN has a result without rounding.
      return Number.isFinite(doublings) ? 16 + 5 * Math.min(doublings, MAX_DOUBLINGS) + 3 * Math.abs(y) : 16;
    }
  }
}
