import type { DType } from '@concord/backend-core';
import { type BackendKernels, DTYPES, type ResolvedRun, type RunLayout } from '@concord/backend-core/implement';
import type { FoldOp, KernelNode, NodeOp, ScanNode } from '@concord/backend-core/kernel';
import { CpuBackend } from '@concord/backend-cpu';
import { bitsFloat, bytesOf, decodeElement, encodeElement, floatBits, writeBits } from '../../src/run/placement.ts';
import { naiveRun } from './naive-run.ts';

/** erf by its series, and by a continued fraction for erfc where that would cancel. */
function erfc(x: number): number {
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
function wrapped(type: string, x: number): number {
  // Beyond 2^53 a sum would have lost bits, but no sum or difference of two integers of 32 bits is.
  return type === 'i32' ? x | 0 : x >>> 0;
}

/** The value of an operation at one point; bools are 0 and 1. */
function applyNode(op: NodeOp, type: string, operandType: string, operands: readonly number[]): number {
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
      return bitsFloat(x);
    case 'bitcastI32':
      return operandType === 'f32' ? floatBits(x) | 0 : x | 0;
    case 'bitcastU32':
      return operandType === 'f32' ? floatBits(x) : x >>> 0;
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

type Call = ResolvedRun<ArrayBuffer>;

/** A fold under way. */
export interface FoldState {
  value: number;
  /** Place in the row of what `argmax` and `argmin` found. */
  place: number;
  count: number;
}

/** The parts of {@link naiveRun}, so that a test can plant a bug into one of them. */
export interface Parts {
  /** The layout of an operand that a kernel gets. */
  layout(layout: RunLayout, role: 'input' | 'output', call: Call): RunLayout;
  params(call: Call): readonly number[];
  /** Returns whether a row is computed. */
  computesRow(row: number, call: Call): boolean;
  /** The number of elements of a row that are folded. */
  foldLength(rowLength: number, node: number, call: Call): number;
  /** Which row an input of rows, or of elements in a fold, is read at. */
  rowOf(row: number, node: KernelNode, call: Call): number;
  apply(op: NodeOp, type: string, operandType: string, operands: readonly number[]): number;
  foldStart(op: FoldOp, type: string): number;
  foldStep(op: FoldOp, type: string, state: FoldState, x: number, place: number): void;
  foldEnd(op: FoldOp, type: string, state: FoldState, rowLength: number): number;
  /** The element that a scan comes to in its step. */
  scanPlace(step: number, rowLength: number, node: ScanNode): number;
  scanStep(op: FoldOp, type: string, state: FoldState, x: number, step: number): void;
  /** The value of a scan, from the folds of what comes before an element, and of that and the element x. */
  scanValue(node: ScanNode, before: number, after: number, x: number): number;
  /** An index of a gather input, or undefined where it is outside. */
  gatherIndex(index: number, size: number, axis: number, layout: RunLayout): number | undefined;
  index(place: number, axis: number, call: Call): number;
  decode(dtype: DType, bits: number): number;
  encode(dtype: DType, value: number): number;
  /** Puts an element into its place; `view` begins where the output does. */
  write(view: DataView, layout: RunLayout, distance: number, bits: number): void;
  /** The values that are computed anew after the first store of a point. */
  readonly recomputed: 'nothing' | 'elements' | 'folds';
  /** True if what is only copied keeps its bits. */
  readonly keepsBits: boolean;
}

const FOLD_STARTS: Readonly<Record<FoldOp, number>> = {
  sum: 0,
  product: 1,
  max: -Infinity,
  min: Infinity,
  mean: 0,
  any: 0,
  all: 1,
  count: 0,
  argmax: -Infinity,
  argmin: Infinity,
};
const LIMITS: Readonly<Record<string, readonly [number, number]>> = {
  f32: [-Infinity, Infinity],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 2 ** 32 - 1],
};

/** The rule of the contract. */
export const RIGHT: Parts = {
  layout: (layout) => layout,
  params: ({ params }) => params,
  computesRow: () => true,
  foldLength: (rowLength) => rowLength,
  rowOf: (row) => row,
  apply: applyNode,
  foldStart: (op, type) => {
    const [least, greatest] = LIMITS[type] ?? [0, 1];
    return op === 'max' ? least : op === 'min' ? greatest : FOLD_STARTS[op];
  },
  foldStep: (op, type, state, x, place) => {
    switch (op) {
      case 'sum':
      case 'mean':
        state.value = type === 'f32' ? state.value + x : wrapped(type, state.value + x);
        break;
      case 'product':
        state.value = type === 'f32' ? state.value * x : wrapped(type, Math.imul(state.value, x));
        break;
      case 'max':
        state.value = Math.max(state.value, x);
        break;
      case 'min':
        state.value = Math.min(state.value, x);
        break;
      case 'any':
        state.value |= x;
        break;
      case 'all':
        state.value &= x;
        break;
      case 'count':
        state.value += x;
        break;
      case 'argmax':
      case 'argmin': {
        const isBetter = op === 'argmax' ? x > state.value : x < state.value;
        const isFirstNan = Number.isNaN(x) && !Number.isNaN(state.value);
        if (isBetter || isFirstNan || state.count === 0) [state.value, state.place] = [x, place];
      }
    }
    state.count++;
  },
  foldEnd: (op, type, { value, place }, rowLength) => {
    if (op.startsWith('arg')) return place;
    if (op === 'mean') return Math.fround(value / rowLength);
    return type === 'f32' ? Math.fround(value) : value;
  },
  scanPlace: (step, rowLength, { reverse }) => (reverse ? rowLength - 1 - step : step),
  scanStep: (op, type, state, x, step) => RIGHT.foldStep(op, type, state, x, step),
  scanValue: ({ exclusive }, before, after) => (exclusive ? before : after),
  gatherIndex: (index, size) => (index >= 0 && index < size ? index : undefined),
  index: (place) => place,
  decode: decodeElement,
  encode: encodeElement,
  write: (view, { dtype }, distance, bits) => writeBits(view, dtype, distance * bytesOf(dtype), bits),
  recomputed: 'nothing',
  keepsBits: true,
};

/** A backend that has `run` alone, computed one number at a time: what mutants of `run` mutate. */
export class NaiveBackend extends CpuBackend {
  protected override readonly kernels: BackendKernels<ArrayBuffer>;

  /**
   * @param parts - how it computes
   * @param adapt - changes a call before it is computed
   */
  constructor(
    parts: Parts = RIGHT,
    adapt: (call: ResolvedRun<ArrayBuffer>) => ResolvedRun<ArrayBuffer> = (call) => call,
  ) {
    super();
    this.kernels = {
      run: { dtypes: DTYPES, features: ['scatter', 'scan'], run: (call) => naiveRun(adapt(call), parts) },
    };
  }
}
