import type { DType } from '@concord/backend-core';
import type { NodeOp, NumberType } from '@concord/backend-core/kernel';
import { drawAnyMagnitude, drawModerate, SPECIAL_VALUES, SUBNORMALS } from '../checks/compare.ts';
import type { Random } from '../harness/random.ts';
import { bitsFloat, bytesOf, encodeElement, floatBits } from './placement.ts';

/** The smallest and largest value that something can have. */
export type Range = readonly [low: number, high: number];

/** The size of values beyond which a drawn graph would soon overflow. */
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

/** The possible contents of the operands of a `run`. */
export type DataKind =
  | 'small'
  | 'factors'
  | 'moderate'
  | 'functions'
  | 'any'
  | 'bits'
  | 'specials'
  | 'rare-specials'
  | 'spike'
  | 'low-spike'
  | 'huge'
  | 'equal'
  | 'same-float'
  | 'borders'
  | 'indices';

/** Values at which integer arithmetic goes wrong. */
export const INTEGER_SPECIALS: Readonly<Record<'i32' | 'u32', readonly number[]>> = {
  i32: [0, 1, -1, 2, -2, 3, -7, 31, 32, 33, -31, 65_535, 65_536, -65_536, 16_777_217].concat([
    ...[2 ** 30, -(2 ** 30), 2 ** 31 - 1, 2 ** 31 - 2, -(2 ** 31), 1 - 2 ** 31, 46_341, 0x55555555, -0x55555556],
  ]),
  u32: [0, 1, 2, 3, 7, 31, 32, 33, 63, 255, 65_535, 65_536, 65_537, 16_777_217].concat([
    ...[2 ** 31, 2 ** 31 - 1, 2 ** 31 + 1, 2 ** 32 - 1, 2 ** 32 - 2, 2 ** 32 - 256, 0x55555555, 0xaaaaaaaa],
  ]),
};

/** Every special value of float32 that operands are tried with. */
export const FLOAT_SPECIALS: readonly number[] = [...SPECIAL_VALUES, ...SUBNORMALS];

/** Magnitudes at which narrow floats round another way, become subnormal, zero or infinite. */
const FLOAT_BORDERS: readonly number[] = [
  // float16: ties down and up to even, the largest number and the tie to infinity, and the other ends of binades.
  ...[
    1 + 2 ** -11,
    1 + 3 * 2 ** -11,
    2 - 2 ** -11,
    2049,
    2051,
    65_472,
    65_488,
    65_504,
    65_512,
    65_520,
    65_536,
    2 ** 17,
  ],
  // The smallest normal number and subnormals: whole, ties, and half of the smallest.
  ...[2 ** -14, 2 ** -14 - 2 ** -25, 2 ** -14 - 2 ** -24, 2 ** -15, 1023 * 2 ** -25, 1025 * 2 ** -25],
  ...[5 * 2 ** -25, 2 ** -23, 3 * 2 ** -25, 2 ** -24, 2 ** -25, 2 ** -26],
  // bfloat16, likewise; its subnormals are those of float32.
  ...[1 + 2 ** -8, 1 + 3 * 2 ** -8, 2 - 2 ** -8, 257, 259].concat(
    [0x7f7e_8000, 0x7f7f_0000, 0x7f7f_8000].map(bitsFloat),
  ),
  ...[0x80_0000, 0x80_8000, 0x7f_8000, 0x7f_0000, 0x40_8000, 0x1_8000, 0x1_0000, 0x8000, 1].map(bitsFloat),
];

/** Values at which a store rounds, saturates or underflows to a narrow dtype, with the neighbours on both sides. */
const BORDERS: Readonly<Record<NumberType, readonly number[]>> = {
  f32: [0, 0x7f7f_ffff, 0x7f80_0000, 0x7f80_0001, 0x7fc0_0000, 0x7fff_ffff]
    .concat(FLOAT_BORDERS.map(floatBits).flatMap((bits) => [bits - 1, bits, bits + 1]))
    .flatMap((bits) => [bits, bits + 2 ** 31])
    .map(bitsFloat),
  i32: [-129, -128, -127, -1, 0, 1, 126, 127, 128, 129, 255, 256, -255, -256, 384, -384].concat([
    ...[32_767, -32_768, 65_535, 65_408, 2 ** 24 + 1, 2 ** 31 - 1, 2 ** 31 - 128, -(2 ** 31), 127 - 2 ** 31],
  ]),
  u32: [0, 1, 127, 128, 254, 255, 256, 257, 511, 512, 65_535, 65_536, 2 ** 24 + 1].concat([
    ...[2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 31 + 255, 2 ** 32 - 256, 2 ** 32 - 1],
  ]),
};

/** Places in a row where kernels change over: ends, lanes, vectors, sub-groups, tiles. */
const EDGES = [0, -1, 32_768, 1024, 1, -2, 3, 4, 31, 32, 63, 64, 127, 128, 255, 256, 1023, 4095, 4096, 32_767];

/** Values of element 1, 2, 3 of an operand. */
interface DataOf {
  readonly kind: DataKind;
  readonly type: NumberType;
  readonly dtype: DType;
  /** The index of the kernel's input. */
  readonly operand: number;
  /** Elements of a row of the domain, for what is rare or once a row; the element count if there are no rows. */
  readonly rowLength: number;
}

/** The content of an operand: the bits of the element with that row-major number. */
export function drawBits(random: Random, data: DataOf): (index: number) => number {
  const { kind, dtype } = data;
  if (kind === 'bits') {
    const mask = 2 ** (8 * bytesOf(dtype));
    return () => random.uint32() % mask;
  }
  const value = drawValues(random, data);
  return (index) => encodeElement(dtype, value(index));
}

/** The places of a row that get a spike, one after the other from row to row. */
function spikePlaces(rowLength: number): number[] {
  const places = EDGES.map((place) => (place < 0 ? rowLength + place : place));
  return [...new Set(places)].filter((place) => place >= 0 && place < rowLength);
}

function drawValues(random: Random, data: DataOf): (index: number) => number {
  const { kind, type, operand, rowLength } = data;
  const isFloat = type === 'f32';
  const small = (): number => (type === 'u32' ? random.integer(0, 16) : random.integer(-8, 8));
  switch (kind) {
    case 'small':
    case 'bits':
      return small;
    case 'factors':
      return () => (random.chance(0.9) ? 1 : isFloat ? random.pick([2, 0.5, -1]) : random.integer(1, 9));
    case 'moderate':
      return isFloat ? () => 8 * random.unit() - 4 : small;
    case 'functions':
      return isFloat ? () => drawModerate(random) : small;
    case 'any':
      return isFloat ? () => drawAnyMagnitude(random) : () => anyInteger(random, type);
    case 'specials':
      return pairOf(specialsOf(type), operand);
    case 'rare-specials': {
      const list = isFloat ? [Number.NaN, Infinity, -Infinity] : INTEGER_SPECIALS[type];
      const chance = 1 / (2 * Math.max(rowLength, 1));
      return () => (random.chance(chance) ? random.pick(list) : small());
    }
    case 'spike':
      return spiked(rowLength, small, 1000);
    case 'low-spike':
      return spiked(rowLength, () => small() + 20, type === 'u32' ? 1 : -1000);
    case 'huge': {
      const sign = random.pick([1, -1]);
      return () => sign * (2e38 + 1.3e38 * random.unit());
    }
    case 'equal': {
      const value = small();
      return () => value;
    }
    case 'same-float': {
      const value = isFloat ? Math.abs(random.wideFloat()) : small();
      return () => value;
    }
    case 'borders': {
      const list = BORDERS[type];
      // No other operand changes what is stored.
      return operand === 0 ? (index) => list[index % list.length] as number : () => (type === 'u32' ? 1 : 0);
    }
    case 'indices':
      return () => random.integer(type === 'u32' ? 0 : -3, 12);
  }
}

/** The number of values of the kind `borders`. */
export function borderCount(type: NumberType): number {
  return BORDERS[type].length;
}

/** Every value that is tried of a type. */
export function specialsOf(type: NumberType): readonly number[] {
  return type === 'f32' ? FLOAT_SPECIALS : INTEGER_SPECIALS[type];
}

/** The second operand stays at a value while the first goes through all of them. */
function pairOf(list: readonly number[], operand: number): (index: number) => number {
  const count = list.length;
  return (index) => {
    const at = operand === 0 ? index : operand === 1 ? Math.floor(index / count) : 7 * index + operand;
    return list[at % count] as number;
  };
}

function spiked(rowLength: number, base: () => number, spike: number): (index: number) => number {
  const places = spikePlaces(rowLength);
  return (index) => {
    const value = base();
    const row = Math.floor(index / rowLength);
    return index % rowLength === places[row % places.length] ? spike : value;
  };
}

function anyInteger(random: Random, type: 'i32' | 'u32'): number {
  if (random.chance(0.2)) return random.pick(INTEGER_SPECIALS[type]);
  const bits = random.uint32();
  return type === 'i32' ? bits | 0 : bits;
}
