import { type ScalarType, StorageClass, type Type, type VectorCount } from '../../src/index.ts';
import { bits, type Feature, feature, ramp } from './feature.ts';

// Built-ins of cl_intel_subgroup_matrix_multiply_accumulate: C (rows x lanes) += A (rows x 16) B (16 x lanes), of halves.

const DEPTH = 16;
/** Small whole numbers as halves: the sign, and 1 to 7 after it; sums of their products are exact. */
const HALVES = [0xc700, 0xc400, 0xbc00, 0, 0x3c00, 0x4000, 0x4200, 0x4600];
const NUMBERS = [-7, -4, -1, 0, 1, 2, 3, 6];
const MULTIPLIERS = { a: 5, b: 3, c: 7 };
const draw = (matrix: keyof typeof MULTIPLIERS, place: number): number =>
  (place * MULTIPLIERS[matrix] + Math.floor(place / 8)) % 8;

const NAMES: Readonly<Record<8 | 16, Readonly<Record<1 | 2 | 4 | 8, string>>>> = {
  8: { 1: 'iDv8_if', 2: 'Dv2_iDv8_iDv2_f', 4: 'Dv4_iDv8_iDv4_f', 8: 'Dv8_iS_Dv8_f' },
  16: { 1: 'sDv8_if', 2: 'Dv2_sDv8_iDv2_f', 4: 'Dv4_sDv8_iDv4_f', 8: 'Dv8_sDv8_iDv8_f' },
};

/** Pairs of halves as words. */
function packed(halves: readonly number[]): number[] {
  return [...new Uint32Array(new Uint16Array(halves).buffer)];
}

/** One built-in. Memory: A row by row; B with rows 2i and 2i + 1 of a column side by side; C row by row. */
function multiplyAdd(lanes: 8 | 16, rows: 1 | 2 | 4 | 8): Feature {
  const a = ramp(rows * DEPTH).map((place) => draw('a', place));
  const b = ramp(DEPTH * lanes).map((place) => draw('b', place));
  const c = ramp(rows * lanes).map((place) => NUMBERS[draw('c', place)] ?? 0);
  const number = (drawn: number | undefined): number => NUMBERS[drawn ?? 0] ?? 0;
  const sums = c.map((sum, place) => {
    const [row, column] = [Math.floor(place / lanes), place % lanes];
    return ramp(DEPTH).reduce((so, k) => so + number(a[row * DEPTH + k]) * number(b[k * lanes + column]), sum);
  });
  const half = (drawn: number | undefined): number => HALVES[drawn ?? 0] ?? 0;
  const pairs = ramp(DEPTH * lanes).map((place) => {
    const [pair, column] = [Math.floor(place / (2 * lanes)), Math.floor(place / 2) % lanes];
    return half(b[(2 * pair + (place % 2)) * lanes + column]);
  });
  const factors = [...packed(a.map(half)), ...packed(pairs)];
  const name = `_Z38intel_sub_group_f16_f16_matrix_mad_k16${NAMES[lanes][rows]}`;
  return feature(
    `sub-groups of ${lanes}: multiply-add of matrices with ${rows} rows`,
    [...factors, ...bits(...c)],
    [...factors, ...bits(...sums)],
    (k, data, module) => {
      const [u32, f32] = [module.int(32), module.float(32)];
      const share = (type: ScalarType, count: 1 | VectorCount): Type =>
        count === 1 ? type : module.vector(type, count);
      // A work-item has a column of A: of 16 halves, or with 8 of them of pairs.
      const ofA = lanes === 8 ? u32 : module.int(16);
      const [typeA, typeB, typeC] = [share(ofA, rows), share(u32, 8), share(f32, rows)];
      const multiply = module.importFunction(name, { a: typeA, b: typeB, c: typeC }, typeC);
      const at = (word: number, type: Type) =>
        k.bitcast(k.at(data, word), k.types.pointer(StorageClass.CrossWorkgroup, type));
      const [wordsA, wordsB] = [(rows * DEPTH) / 2, (DEPTH * lanes) / 2];
      const shareA = k.subgroupBlockRead(at(0, ofA), typeA);
      const shareB = k.subgroupBlockRead(at(wordsA, u32), typeB);
      const shareC = at(wordsA + wordsB, f32);
      k.subgroupBlockWrite(shareC, k.call(multiply, shareA, shareB, k.subgroupBlockRead(shareC, typeC)));
    },
    { items: lanes, needsSubgroups: true, kernel: { subgroupSize: lanes } },
  );
}

export const MATRIX_ENGINES: readonly Feature[] = ([8, 16] as const).flatMap((lanes) =>
  ([1, 2, 4, 8] as const).map((rows) => multiplyAdd(lanes, rows)),
);
