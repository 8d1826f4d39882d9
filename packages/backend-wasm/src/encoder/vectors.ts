import {
  type Binary,
  binary,
  codeOf,
  littleEndian,
  type Load,
  load,
  type Named,
  named,
  type Operand,
  type Statement,
  type Store,
  store,
  type Unary,
  unary,
  unsigned,
  type Value,
  type ValueType,
} from './instruction.ts';

/** A vector from three. */
type Ternary = (a: Value<'v128'>, b: Value<'v128'>, c: Value<'v128'>) => Value<'v128'>;
/** Components shifted by one number of bits, modulo their width. */
type Shift = (a: Value<'v128'>, bits: Operand<'i32'>) => Value<'v128'>;
/** One component. */
type ExtractLane<T extends ValueType> = (a: Value<'v128'>, lane: number) => Value<T>;
/** The vector with one component replaced. */
type ReplaceLane<T extends ValueType> = (a: Value<'v128'>, lane: number, value: Operand<T>) => Value<'v128'>;
/** The vector with one component read from memory. */
type LoadLane = (address: Operand<'i32'>, vector: Value<'v128'>, lane: number, offset?: number) => Value<'v128'>;
/** Writes one component to memory. */
type StoreLane = (address: Operand<'i32'>, vector: Value<'v128'>, lane: number, offset?: number) => Statement;

/** The bytes of a SIMD instruction. */
const simd = (opcode: number): number[] => [0xfd, ...unsigned(opcode)];

const vectorUnary = (opcode: number): Unary<'v128', 'v128'> => unary('v128', 'v128', ...simd(opcode));
const vectorBinary = (opcode: number): Binary<'v128', 'v128'> => binary('v128', 'v128', ...simd(opcode));
const vectorTest = (opcode: number): Unary<'v128', 'i32'> => unary('v128', 'i32', ...simd(opcode));
const splat = <T extends ValueType>(from: T, opcode: number): Unary<T, 'v128'> => unary(from, 'v128', ...simd(opcode));

function vectorTernary(opcode: number): Ternary {
  return (a, b, c) => ({ type: 'v128', code: [a.code, b.code, c.code, ...simd(opcode)] });
}

function vectorShift(opcode: number): Shift {
  return (a, bits) => ({ type: 'v128', code: [a.code, codeOf('i32', bits), ...simd(opcode)] });
}

function extractLane<T extends ValueType>(to: T, opcode: number): ExtractLane<T> {
  return (a, lane) => ({ type: to, code: [a.code, ...simd(opcode), lane] });
}

function replaceLane<T extends ValueType>(from: T, opcode: number): ReplaceLane<T> {
  return (a, lane, value) => ({ type: 'v128', code: [a.code, codeOf(from, value), ...simd(opcode), lane] });
}

function loadLane(opcode: number): LoadLane {
  return (address, vector, lane, offset = 0) => ({
    type: 'v128',
    code: [codeOf('i32', address), vector.code, ...simd(opcode), 0, ...unsigned(offset), lane],
  });
}

function storeLane(opcode: number): StoreLane {
  return (address, vector, lane, offset = 0) => ({
    type: 'none',
    code: [codeOf('i32', address), vector.code, ...simd(opcode), 0, ...unsigned(offset), lane],
  });
}

const constant = (bytes: readonly number[]): Value<'v128'> => ({ type: 'v128', code: [...simd(12), ...bytes] });

const V128_LOADS = { load: 0, load16x4U: 4, load16Splat: 8, load32Splat: 9, load32Zero: 92 } as const;
const V128_LOAD_LANES = { load8Lane: 84, load16Lane: 85, load32Lane: 86 } as const;
const V128_STORE_LANES = { store8Lane: 88, store16Lane: 89, store32Lane: 90, store64Lane: 91 } as const;
const V128_BINARY = { and: 78, andnot: 79, or: 80, xor: 81 } as const;
const I8X16_BINARY = { narrowI16x8S: 101, narrowI16x8U: 102, swizzle: 14 } as const;
const I16X8_BINARY = { narrowI32x4S: 133, narrowI32x4U: 134 } as const;
const I16X8_UNARY = { extendLowI8x16S: 135, extendLowI8x16U: 137 } as const;
const I16X8_SHIFTS = { shrU: 141 } as const;
const I32X4_COMPARES = { eq: 55, ltS: 57, ltU: 58, gtS: 59, leS: 61, leU: 62 } as const;
const I32X4_BINARY = { add: 174, sub: 177, mul: 181, minS: 182, minU: 183, maxS: 184, maxU: 185 } as const;
const I32X4_UNARY = { abs: 160, neg: 161, extendLowI16x8S: 167, extendLowI16x8U: 169 } as const;
const I32X4_TRUNCATIONS = { truncSatF32x4S: 248, truncSatF32x4U: 249 } as const;
const I32X4_SHIFTS = { shl: 171, shrS: 172, shrU: 173 } as const;
const I64X2_BINARY = { extmulLowI32x4U: 222, extmulHighI32x4U: 223 } as const;
const F32X4_COMPARES = { eq: 65, ne: 66, lt: 67, gt: 68, le: 69, ge: 70 } as const;
const F32X4_ARITHMETIC = { add: 228, sub: 229, mul: 230, div: 231 } as const;
const F32X4_EXTREMES = {
  /** NaN where either is, and -0 below 0. */
  min: 232,
  /** NaN where either is, and -0 below 0. */
  max: 233,
  /** `b < a ? b : a`: with a NaN in either, `a`. */
  pmin: 234,
  /** `a < b ? b : a`: with a NaN in either, `a`. */
  pmax: 235,
} as const;
const F32X4_UNARY = { ceil: 103, floor: 104, trunc: 105, nearest: 106, abs: 224, neg: 225, sqrt: 227 } as const;
const F32X4_CONVERSIONS = { convertI32x4S: 250, convertI32x4U: 251 } as const;
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
export const i8x16: Named<typeof I8X16_BINARY, Binary<'v128', 'v128'>> & {
  /** The bytes of two vectors by their numbers, 0 to 31. */
  readonly shuffle: (a: Value<'v128'>, b: Value<'v128'>, bytes: readonly number[]) => Value<'v128'>;
} = {
  ...named(I8X16_BINARY, vectorBinary),
  shuffle: (a, b, bytes) => ({ type: 'v128', code: [a.code, b.code, ...simd(13), ...bytes] }),
};

/** Instructions on 8 integers of 16 bits. */
export const i16x8: Named<typeof I16X8_BINARY, Binary<'v128', 'v128'>> &
  Named<typeof I16X8_UNARY, Unary<'v128', 'v128'>> &
  Named<typeof I16X8_SHIFTS, Shift> = {
  ...named(I16X8_BINARY, vectorBinary),
  ...named(I16X8_UNARY, vectorUnary),
  ...named(I16X8_SHIFTS, vectorShift),
};

/** Instructions on 4 integers of 32 bits. */
export const i32x4: Named<typeof I32X4_COMPARES & typeof I32X4_BINARY, Binary<'v128', 'v128'>> &
  Named<typeof I32X4_UNARY & typeof I32X4_TRUNCATIONS, Unary<'v128', 'v128'>> &
  Named<typeof I32X4_SHIFTS, Shift> & {
    readonly const: (x: number, y: number, z: number, w: number) => Value<'v128'>;
    readonly splat: Unary<'i32', 'v128'>;
    readonly extractLane: ExtractLane<'i32'>;
    readonly replaceLane: ReplaceLane<'i32'>;
  } = {
  ...named({ ...I32X4_COMPARES, ...I32X4_BINARY }, vectorBinary),
  ...named({ ...I32X4_UNARY, ...I32X4_TRUNCATIONS }, vectorUnary),
  ...named(I32X4_SHIFTS, vectorShift),
  const: (...values) => constant(values.flatMap((value) => littleEndian('i32', value))),
  splat: splat('i32', 17),
  extractLane: extractLane('i32', 27),
  replaceLane: replaceLane('i32', 28),
};

/** Instructions on 2 integers of 64 bits. */
export const i64x2: Named<typeof I64X2_BINARY, Binary<'v128', 'v128'>> = {
  ...named(I64X2_BINARY, vectorBinary),
};

/** Instructions on 4 float32. */
export const f32x4: Named<
  typeof F32X4_COMPARES & typeof F32X4_ARITHMETIC & typeof F32X4_EXTREMES,
  Binary<'v128', 'v128'>
> &
  Named<typeof F32X4_UNARY & typeof F32X4_CONVERSIONS, Unary<'v128', 'v128'>> &
  Named<typeof F32X4_TERNARY, Ternary> & {
    readonly const: (x: number, y: number, z: number, w: number) => Value<'v128'>;
    readonly splat: Unary<'f32', 'v128'>;
    readonly extractLane: ExtractLane<'f32'>;
    readonly replaceLane: ReplaceLane<'f32'>;
  } = {
  ...named({ ...F32X4_COMPARES, ...F32X4_ARITHMETIC, ...F32X4_EXTREMES }, vectorBinary),
  ...named({ ...F32X4_UNARY, ...F32X4_CONVERSIONS }, vectorUnary),
  ...named(F32X4_TERNARY, vectorTernary),
  const: (...values) => constant(values.flatMap((value) => littleEndian('f32', value))),
  splat: splat('f32', 19),
  extractLane: extractLane('f32', 31),
  replaceLane: replaceLane('f32', 32),
};

const F64X2_BINARY = { add: 240 } as const;
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
