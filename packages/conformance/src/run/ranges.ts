import type { NodeOp } from '@concord/backend-core/kernel';

/** The smallest and largest value that something can have. */
export type Range = readonly [low: number, high: number];

/** Beyond this a drawn graph would soon overflow. */
const LIMIT = 1000;

const wide = ([low, high]: Range): number => Math.max(Math.abs(low), Math.abs(high));
const monotone =
  (f: (x: number) => number) =>
  ([low, high]: Range): Range => [f(low), f(high)];
const inside =
  (least: number, greatest: number, image: (a: Range) => Range) =>
  (a: Range): Range | undefined =>
    a[0] >= least && a[1] <= greatest ? image(a) : undefined;

/** The image of a function of one float32, or undefined where a drawn graph should leave the function out. */
const UNARY: Partial<Readonly<Record<NodeOp, (a: Range) => Range | undefined>>> = {
  neg: ([low, high]) => [-high, -low],
  abs: (a) => [a[0] > 0 ? a[0] : a[1] < 0 ? -a[1] : 0, wide(a)],
  sqrt: inside(0, LIMIT, monotone(Math.sqrt)),
  rsqrt: inside(0.01, LIMIT, ([low, high]) => [high ** -0.5, low ** -0.5]),
  exp: inside(-LIMIT, 5, monotone(Math.exp)),
  exp2: inside(
    -LIMIT,
    7,
    monotone((x) => 2 ** x),
  ),
  expm1: inside(-LIMIT, 5, monotone(Math.expm1)),
  log: inside(0.01, LIMIT, monotone(Math.log)),
  log2: inside(0.01, LIMIT, monotone(Math.log2)),
  log1p: inside(-0.9, LIMIT, monotone(Math.log1p)),
  sin: inside(-100, 100, () => [-1, 1]),
  cos: inside(-100, 100, () => [-1, 1]),
  tanh: () => [-1, 1],
  erf: () => [-1, 1],
  sigmoid: inside(-30, LIMIT, () => [0, 1]),
  silu: ([, high]) => [-0.3, Math.max(high, 0)],
  gelu: ([, high]) => [-0.2, Math.max(high, 0)],
  geluTanh: ([, high]) => [-0.2, Math.max(high, 0)],
  floor: monotone(Math.floor),
  ceil: monotone(Math.ceil),
  round: ([low, high]) => [Math.floor(low), Math.ceil(high)],
  trunc: monotone(Math.trunc),
  sign: () => [-1, 1],
};

const BINARY: Partial<Readonly<Record<NodeOp, (a: Range, b: Range) => Range | undefined>>> = {
  add: (a, b) => [a[0] + b[0], a[1] + b[1]],
  sub: (a, b) => [a[0] - b[1], a[1] - b[0]],
  mul: (a, b) => hull([a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]]),
  div: (a, b) => (b[0] >= 0.05 ? hull([a[0] / b[0], a[1] / b[0], a[0] / b[1], a[1] / b[1]]) : undefined),
  min: (a, b) => [Math.min(a[0], b[0]), Math.min(a[1], b[1])],
  max: (a, b) => [Math.max(a[0], b[0]), Math.max(a[1], b[1])],
  pow: (a, b) =>
    a[0] >= 0.1 && a[1] <= 20 && wide(b) <= 3
      ? hull([a[0] ** b[0], a[0] ** b[1], a[1] ** b[0], a[1] ** b[1]])
      : undefined,
};

/** Functions that jump: of a value that is not known exactly they can be far off and right. */
export const JUMPS: ReadonlySet<NodeOp> = new Set(['floor', 'ceil', 'round', 'trunc', 'sign']);

/** Functions of float32 without a rounding. */
export const KEEPS_EXACT: ReadonlySet<NodeOp> = new Set(['neg', 'abs', 'min', 'max', ...JUMPS]);

/** The operations of float32 that drawn graphs have. */
export const FLOAT_OPS: readonly NodeOp[] = [...Object.keys(BINARY), ...Object.keys(UNARY)] as NodeOp[];

/** The range of a result, or undefined where its operands would lead to overflows, NaN or a lost answer. */
export function resultRange(op: NodeOp, ranges: readonly Range[], limit: number = LIMIT): Range | undefined {
  const [a, b] = ranges as [Range, Range];
  const range = ranges.length === 1 ? UNARY[op]?.(a) : BINARY[op]?.(a, b);
  return range === undefined || wide(range) > limit ? undefined : range;
}

function hull(values: readonly number[]): Range {
  return [Math.min(...values), Math.max(...values)];
}
