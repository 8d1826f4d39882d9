import type { NodeOp } from '@concord/backend-core/kernel';

/** erf by its series, and by a continued fraction for erfc where that would cancel. */
export function erfc(x: number): number {
  if (x < 0) return 2 - erfc(-x);
  if (x > 27) return 0;
  if (x < 2.5) {
    let [term, sum] = [x, x];
    for (let n = 1; n < 200; n++) {
      term *= (-x * x) / n;
      sum += term / (2 * n + 1);
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = x;
  for (let n = 120; n > 0; n--) fraction = x + n / 2 / fraction;
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * fraction);
}

/** A float64 scratch whose bits can be looked at. */
const FLOAT = new Float32Array(1);
const WORD = new Uint32Array(FLOAT.buffer);
const bitsOf = (x: number): number => {
  FLOAT[0] = x;
  return WORD[0] as number;
};
const floatOf = (bits: number): number => {
  WORD[0] = bits;
  return FLOAT[0] as number;
};

const roundEven = (x: number): number => {
  const below = Math.floor(x);
  if (!Number.isFinite(x) || x - below < 0.5) return below;
  return x - below > 0.5 || below % 2 !== 0 ? below + 1 : below;
};
const saturated = (x: number, low: number, high: number): number =>
  Number.isNaN(x) ? 0 : Math.min(Math.max(Math.trunc(x), low), high);
const limitOr = (x: number, limit: number, f: (x: number) => number): number => (x === -Infinity ? limit : f(x));
const erf = (x: number): number => {
  if (Math.abs(x) > 0.5) return Math.sign(x) * (1 - erfc(Math.abs(x)));
  let [term, sum] = [x, x];
  for (let n = 1; n < 30; n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
};

/** float32 functions in float64, to be rounded. */
const FLOAT_FUNCTIONS: Partial<Readonly<Record<NodeOp, (x: number, y: number) => number>>> = {
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => x * y,
  div: (x, y) => x / y,
  min: (x, y) => Math.min(x, y),
  max: (x, y) => Math.max(x, y),
  pow: (x, y) => (x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : x ** y),
  atan2: Math.atan2,
  neg: (x) => -x,
  abs: (x) => Math.abs(x),
  sqrt: (x) => Math.sqrt(x),
  rsqrt: (x) => 1 / Math.sqrt(x),
  exp: (x) => Math.exp(x),
  exp2: (x) => 2 ** x,
  expm1: (x) => Math.expm1(x),
  log: (x) => Math.log(x),
  log2: (x) => Math.log2(x),
  log1p: (x) => Math.log1p(x),
  sin: (x) => Math.sin(x),
  cos: (x) => Math.cos(x),
  tanh: (x) => Math.tanh(x),
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  silu: (x) => limitOr(x, 0, () => x / (1 + Math.exp(-x))),
  gelu: (x) => limitOr(x, 0, () => (x / 2) * erfc(-x / Math.SQRT2)),
  geluTanh: (x) => limitOr(x, 0, () => x / (1 + Math.exp(-2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)))),
  erf,
  floor: (x) => Math.floor(x),
  ceil: (x) => Math.ceil(x),
  round: roundEven,
  trunc: (x) => Math.trunc(x),
  sign: (x) => Math.sign(x),
};

const quotient = (x: number, y: number): number => (y === 0 ? 0 : Math.trunc(x / y));

/** Integer functions in float64 or 32 bits, to be wrapped. */
const INTEGER_FUNCTIONS: Partial<Readonly<Record<NodeOp, (x: number, y: number) => number>>> = {
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => Math.imul(x, y),
  div: quotient,
  rem: (x, y) => (y === 0 ? 0 : x % y),
  min: (x, y) => Math.min(x, y),
  max: (x, y) => Math.max(x, y),
  neg: (x) => -x,
  abs: (x) => Math.abs(x),
  and: (x, y) => x & y,
  or: (x, y) => x | y,
  xor: (x, y) => x ^ y,
  not: (x) => ~x,
  shl: (x, y) => x << (y & 31),
};

/** A 32-bit integer as a number of its type. */
export function wrapped(type: string, x: number): number {
  // Beyond 2^53 a sum would have lost bits, but no sum or difference of two integers of 32 bits is.
  return type === 'i32' ? x | 0 : x >>> 0;
}

/** The value of an operation at one point; bools are 0 and 1. */
export function applyNode(op: NodeOp, type: string, operandType: string, operands: readonly number[]): number {
  const [x = 0, y = 0, z = 0] = operands;
  switch (op) {
    case 'select':
      return x === 1 ? y : z;
    case 'eq':
      return Number(x === y);
    case 'ne':
      return Number(x !== y);
    case 'lt':
      return Number(x < y);
    case 'le':
      return Number(x <= y);
    case 'gt':
      return Number(x > y);
    case 'ge':
      return Number(x >= y);
    case 'isNan':
      return Number(Number.isNaN(x));
    case 'isFinite':
      return Number(Number.isFinite(x));
    case 'toF32':
      return Math.fround(x);
    case 'toI32':
      return operandType === 'f32' ? saturated(x, -(2 ** 31), 2 ** 31 - 1) : x | 0;
    case 'toU32':
      return operandType === 'f32' ? saturated(x, 0, 2 ** 32 - 1) : x >>> 0;
    case 'bitcastF32':
      return floatOf(x);
    case 'bitcastI32':
      return operandType === 'f32' ? bitsOf(x) | 0 : x | 0;
    case 'bitcastU32':
      return operandType === 'f32' ? bitsOf(x) : x >>> 0;
    case 'random':
      return philox(x, y, z);
    case 'shr':
      return type === 'i32' ? x >> (y & 31) : x >>> (y & 31);
    default:
      return ofType(op, type, x, y);
  }
}

function ofType(op: NodeOp, type: string, x: number, y: number): number {
  if (type === 'f32') return Math.fround(FLOAT_FUNCTIONS[op]?.(x, y) as number);
  const value = INTEGER_FUNCTIONS[op]?.(x, y) as number;
  return type === 'bool' ? value & 1 : wrapped(type, value);
}

/** Word `index & 3` of Philox 4x32-10 with key (seed, 0) and counter (index >> 2, stream, 0, 0). */
function philox(seed: number, index: number, stream: number): number {
  let [c0, c1, c2, c3] = [BigInt(index >>> 2), BigInt(stream), 0n, 0n];
  let [k0, k1] = [BigInt(seed), 0n];
  const low = (x: bigint): bigint => x & 0xffffffffn;
  for (let round = 0; round < 10; round++) {
    const [first, second] = [c0 * 0xd2511f53n, c2 * 0xcd9e8d57n];
    [c0, c1, c2, c3] = [(second >> 32n) ^ c1 ^ k0, low(second), (first >> 32n) ^ c3 ^ k1, low(first)];
    [k0, k1] = [low(k0 + 0x9e3779b9n), low(k1 + 0xbb67ae85n)];
  }
  return Number([c0, c1, c2, c3][index & 3]);
}
