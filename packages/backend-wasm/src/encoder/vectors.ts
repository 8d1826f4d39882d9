import {
  type Binary,
  littleEndian,
  type Load,
  load,
  type Named,
  named,
  type Store,
  store,
  type Unary,
  type Value,
} from './instruction.ts';
import {
  type ExtractLane,
  extractLane,
  type LoadLane,
  loadLane,
  type ReplaceLane,
  replaceLane,
  type Shift,
  simd,
  splat,
  type StoreLane,
  storeLane,
  type Ternary,
  vectorBinary,
  vectorShift,
  vectorTernary,
  vectorTest,
  vectorUnary,
} from './vector-instruction.ts';

const constant = (bytes: readonly number[]): Value<'v128'> => ({ type: 'v128', code: [...simd(12), ...bytes] });

const V128_LOADS = {
  load: 0,
  load8x8S: 1,
  load8x8U: 2,
  load16x4S: 3,
  load16x4U: 4,
  load32x2S: 5,
  load32x2U: 6,
  load8Splat: 7,
  load16Splat: 8,
  load32Splat: 9,
  load64Splat: 10,
  load32Zero: 92,
  load64Zero: 93,
} as const;
const V128_LOAD_LANES = {
  load8Lane: 84,
  load16Lane: 85,
  load32Lane: 86,
  load64Lane: 87,
} as const;
const V128_STORE_LANES = {
  store8Lane: 88,
  store16Lane: 89,
  store32Lane: 90,
  store64Lane: 91,
} as const;
const V128_BINARY = {
  and: 78,
  andnot: 79,
  or: 80,
  xor: 81,
} as const;
const I8X16_BINARY = {
  swizzle: 14,
  eq: 35,
  ne: 36,
  ltS: 37,
  ltU: 38,
  gtS: 39,
  gtU: 40,
  leS: 41,
  leU: 42,
  geS: 43,
  geU: 44,
  narrowI16x8S: 101,
  narrowI16x8U: 102,
  add: 110,
  sub: 113,
  minS: 118,
  minU: 119,
  maxS: 120,
  maxU: 121,
} as const;
const I8X16_UNARY = {
  abs: 96,
  neg: 97,
} as const;
const I8X16_TESTS = {
  allTrue: 99,
  bitmask: 100,
} as const;
const I8X16_SHIFTS = {
  shl: 107,
  shrS: 108,
  shrU: 109,
} as const;
const I16X8_BINARY = {
  eq: 45,
  ne: 46,
  ltS: 47,
  ltU: 48,
  gtS: 49,
  gtU: 50,
  leS: 51,
  leU: 52,
  geS: 53,
  geU: 54,
  narrowI32x4S: 133,
  narrowI32x4U: 134,
  add: 142,
  sub: 145,
  mul: 149,
  minS: 150,
  minU: 151,
  maxS: 152,
  maxU: 153,
} as const;
const I16X8_UNARY = {
  abs: 128,
  neg: 129,
  extendLowI8x16S: 135,
  extendHighI8x16S: 136,
  extendLowI8x16U: 137,
  extendHighI8x16U: 138,
} as const;
const I16X8_TESTS = {
  allTrue: 131,
  bitmask: 132,
} as const;
const I16X8_SHIFTS = {
  shl: 139,
  shrS: 140,
  shrU: 141,
} as const;
const I32X4_BINARY = {
  eq: 55,
  ne: 56,
  ltS: 57,
  ltU: 58,
  gtS: 59,
  gtU: 60,
  leS: 61,
  leU: 62,
  geS: 63,
  geU: 64,
  add: 174,
  sub: 177,
  mul: 181,
  minS: 182,
  minU: 183,
  maxS: 184,
  maxU: 185,
} as const;
const I32X4_UNARY = {
  abs: 160,
  neg: 161,
  extendLowI16x8S: 167,
  extendHighI16x8S: 168,
  extendLowI16x8U: 169,
  extendHighI16x8U: 170,
  truncSatF32x4S: 248,
  truncSatF32x4U: 249,
} as const;
const I32X4_TESTS = {
  allTrue: 163,
  bitmask: 164,
} as const;
const I32X4_SHIFTS = {
  shl: 171,
  shrS: 172,
  shrU: 173,
} as const;
const I64X2_SHIFTS = {
  shl: 203,
  shrS: 204,
  shrU: 205,
} as const;
const I64X2_BINARY = {
  add: 206,
  sub: 209,
  mul: 213,
  extmulLowI32x4S: 220,
  extmulHighI32x4S: 221,
  extmulLowI32x4U: 222,
  extmulHighI32x4U: 223,
} as const;
const F32X4_BINARY = {
  eq: 65,
  ne: 66,
  lt: 67,
  gt: 68,
  le: 69,
  ge: 70,
  add: 228,
  sub: 229,
  mul: 230,
  div: 231,
  /** NaN where either is, and -0 below 0. */
  min: 232,
  /** NaN where either is, and -0 below 0. */
  max: 233,
  /** `b < a ? b : a`: with a NaN in either, `a`. */
  pmin: 234,
  /** `a < b ? b : a`: with a NaN in either, `a`. */
  pmax: 235,
} as const;
const F32X4_UNARY = {
  ceil: 103,
  floor: 104,
  trunc: 105,
  nearest: 106,
  abs: 224,
  neg: 225,
  sqrt: 227,
  convertI32x4S: 250,
  convertI32x4U: 251,
} as const;
const F32X4_TERNARY = {
  /** `a * b + c`, rounded once or twice as the processor likes. One use makes the whole module relaxed. */
  relaxedMadd: 0x105,
  /** `c - a * b`, rounded once or twice as the processor likes. One use makes the whole module relaxed. */
  relaxedNmadd: 0x106,
} as const;

/** Instructions on 128 bits of any shape. A `const` in a loop is built again in each turn by some engines: `let` it before. */
export const v128: Named<typeof V128_LOADS, Load<'v128'>> &
  Named<typeof V128_LOAD_LANES, LoadLane> &
  Named<typeof V128_STORE_LANES, StoreLane> &
  Named<typeof V128_BINARY, Binary<'v128', 'v128'>> & {
    readonly store: Store<'v128'>;
    readonly not: Unary<'v128', 'v128'>;
    /** Bits of `a` where the mask has ones, of `b` elsewhere. */
    readonly bitselect: Ternary;
    readonly anyTrue: Unary<'v128', 'i32'>;
  } = {
  ...named(V128_LOADS, (opcode) => load('v128', ...simd(opcode))),
  ...named(V128_LOAD_LANES, loadLane),
  ...named(V128_STORE_LANES, storeLane),
  ...named(V128_BINARY, vectorBinary),
  store: store('v128', ...simd(11)),
  not: vectorUnary(77),
  bitselect: vectorTernary(82),
  anyTrue: vectorTest(83),
};

/** Instructions on 16 integers of 8 bits. */
export const i8x16: Named<typeof I8X16_BINARY, Binary<'v128', 'v128'>> &
  Named<typeof I8X16_UNARY, Unary<'v128', 'v128'>> &
  Named<typeof I8X16_TESTS, Unary<'v128', 'i32'>> &
  Named<typeof I8X16_SHIFTS, Shift> & {
    /** The bytes of two vectors by their numbers, 0 to 31. */
    readonly shuffle: (a: Value<'v128'>, b: Value<'v128'>, bytes: readonly number[]) => Value<'v128'>;
    readonly splat: Unary<'i32', 'v128'>;
    readonly extractLaneS: ExtractLane<'i32'>;
    readonly extractLaneU: ExtractLane<'i32'>;
    readonly replaceLane: ReplaceLane<'i32'>;
  } = {
  ...named(I8X16_BINARY, vectorBinary),
  ...named(I8X16_UNARY, vectorUnary),
  ...named(I8X16_TESTS, vectorTest),
  ...named(I8X16_SHIFTS, vectorShift),
  shuffle: (a, b, bytes) => ({ type: 'v128', code: [a.code, b.code, ...simd(13), ...bytes] }),
  splat: splat('i32', 15),
  extractLaneS: extractLane('i32', 21),
  extractLaneU: extractLane('i32', 22),
  replaceLane: replaceLane('i32', 23),
};

/** Instructions on 8 integers of 16 bits. */
export const i16x8: Named<typeof I16X8_BINARY, Binary<'v128', 'v128'>> &
  Named<typeof I16X8_UNARY, Unary<'v128', 'v128'>> &
  Named<typeof I16X8_TESTS, Unary<'v128', 'i32'>> &
  Named<typeof I16X8_SHIFTS, Shift> & {
    readonly splat: Unary<'i32', 'v128'>;
    readonly extractLaneS: ExtractLane<'i32'>;
    readonly extractLaneU: ExtractLane<'i32'>;
    readonly replaceLane: ReplaceLane<'i32'>;
  } = {
  ...named(I16X8_BINARY, vectorBinary),
  ...named(I16X8_UNARY, vectorUnary),
  ...named(I16X8_TESTS, vectorTest),
  ...named(I16X8_SHIFTS, vectorShift),
  splat: splat('i32', 16),
  extractLaneS: extractLane('i32', 24),
  extractLaneU: extractLane('i32', 25),
  replaceLane: replaceLane('i32', 26),
};

/** Instructions on 4 integers of 32 bits. */
export const i32x4: Named<typeof I32X4_BINARY, Binary<'v128', 'v128'>> &
  Named<typeof I32X4_UNARY, Unary<'v128', 'v128'>> &
  Named<typeof I32X4_TESTS, Unary<'v128', 'i32'>> &
  Named<typeof I32X4_SHIFTS, Shift> & {
    readonly const: (x: number, y: number, z: number, w: number) => Value<'v128'>;
    readonly splat: Unary<'i32', 'v128'>;
    readonly extractLane: ExtractLane<'i32'>;
    readonly replaceLane: ReplaceLane<'i32'>;
  } = {
  ...named(I32X4_BINARY, vectorBinary),
  ...named(I32X4_UNARY, vectorUnary),
  ...named(I32X4_TESTS, vectorTest),
  ...named(I32X4_SHIFTS, vectorShift),
  const: (...values) => constant(values.flatMap((value) => littleEndian('i32', value))),
  splat: splat('i32', 17),
  extractLane: extractLane('i32', 27),
  replaceLane: replaceLane('i32', 28),
};

/** Instructions on 2 integers of 64 bits. */
export const i64x2: Named<typeof I64X2_SHIFTS, Shift> & Named<typeof I64X2_BINARY, Binary<'v128', 'v128'>> = {
  ...named(I64X2_SHIFTS, vectorShift),
  ...named(I64X2_BINARY, vectorBinary),
};

/** Instructions on 4 float32. */
export const f32x4: Named<typeof F32X4_BINARY, Binary<'v128', 'v128'>> &
  Named<typeof F32X4_UNARY, Unary<'v128', 'v128'>> &
  Named<typeof F32X4_TERNARY, Ternary> & {
    readonly const: (x: number, y: number, z: number, w: number) => Value<'v128'>;
    readonly splat: Unary<'f32', 'v128'>;
    readonly extractLane: ExtractLane<'f32'>;
    readonly replaceLane: ReplaceLane<'f32'>;
  } = {
  ...named(F32X4_BINARY, vectorBinary),
  ...named(F32X4_UNARY, vectorUnary),
  ...named(F32X4_TERNARY, vectorTernary),
  const: (...values) => constant(values.flatMap((value) => littleEndian('f32', value))),
  splat: splat('f32', 19),
  extractLane: extractLane('f32', 31),
  replaceLane: replaceLane('f32', 32),
};

const F64X2_BINARY = {
  add: 240,
  sub: 241,
  mul: 242,
  div: 243,
} as const;
const F64X2_UNARY = {
  /** Two float32 in the lower components as float64. */
  promoteLowF32x4: 95,
  /** Two float64 as float32 in the lower components, 0 in the others. */
  demoteZero: 94,
} as const;

/** Instructions on 2 float64. */
export const f64x2: Named<typeof F64X2_BINARY, Binary<'v128', 'v128'>> &
  Named<typeof F64X2_UNARY, Unary<'v128', 'v128'>> = {
  ...named(F64X2_BINARY, vectorBinary),
  ...named(F64X2_UNARY, vectorUnary),
};
