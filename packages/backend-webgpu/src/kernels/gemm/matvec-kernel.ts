import type { FloatDType } from '@concord/backend-core';
import type { UniformType } from '../kernel.ts';
import type { RunSpec } from '../run/run-spec.ts';
import { repeat } from '../wgsl/repeat.ts';
import { storeC } from '../wgsl/store-c.ts';
import { type OutputFormat, storeFunction, type StoreInPlace, storeInPlace } from './storage-formats.ts';

/** The parameters that distinguish the kernels of a product of a matrix and a vector. */
export interface MatvecParams {
  /** Storage of the matrix and of the vector. */
  readonly input: FloatDType;
  /** Storage of the result, or of the sums that stand in for it. */
  readonly output: Exclude<OutputFormat, 'half-words'>;
  /** The matrix, and a vector that is read along its rows, are read by fours. */
  readonly wide: boolean;
  /** The result is written by fours. */
  readonly wideResult: boolean;
  readonly group: MatvecGroup;
}

/** An epilogue in a kernel of a product of a matrix and a vector. */
export interface MatvecEpilogue {
  readonly spec: RunSpec;
  /** The result is a row of C, not a column. */
  readonly isRow: boolean;
}

/** Shape of a workgroup: `lanes x team` invocations. */
export interface MatvecGroup {
  /** Teams; each computes {@link MATVEC_EACH} neighbouring entries of y. */
  readonly lanes: number;
  /** Invocations that share the terms of a sum, a power of 2; 1 needs no workgroup memory. */
  readonly team: number;
}

/** Entries of y that an invocation has sums for. */
export const MATVEC_EACH = 4;

/**
 * Uniforms of `y = alpha M x + beta y` for a batch: `a` is the matrix, `b` the vector, `c` the result. Steps are the
 * elements between neighbours of a vector.
 */
export const MATVEC_UNIFORMS: Readonly<Record<string, UniformType>> = {
  rows: 'u32',
  k: 'u32',
  a_ld: 'u32',
  b_step: 'u32',
  c_step: 'u32',
  a_start: 'u32',
  b_start: 'u32',
  c_start: 'u32',
  a_stride: 'u32',
  b_stride: 'u32',
  c_stride: 'u32',
  batches: 'u32',
  // Terms of a sum in each split, and elements between the results of two splits.
  depth: 'u32',
  c_split: 'u32',
  // Workgroups for all rows of one matrix.
  tiles: 'u32',
  alpha: 'f32',
  beta: 'f32',
  reads_c: 'u32',
};

/** WGSL: finds, from the number of the workgroup, its rows, its matrix of the batch and its range of k. */
export const MATVEC_PLACE: string = /* wgsl */ `
  let group = group_index(id, grid);
  if (group >= u.group_count) { return; }
  var tile = group;
  var batch = 0u;
  var split = 0u;
  // Divisions take as long as a read of memory: a single product does without.
  if (group >= u.tiles) {
    tile = group % u.tiles;
    batch = (group / u.tiles) % u.batches;
    split = group / u.tiles / u.batches;
  }
  let begin = split * u.depth;
  let end = min(begin + u.depth, u.k);
  let a_first = u.a_start + batch * u.a_stride;
  let b_first = u.b_start + batch * u.b_stride;
  let c_first = u.c_start + batch * u.c_stride + split * u.c_split;
`;

/** Parameters in a kernel's name. */
export function matvecName({ input, output, wide, wideResult, group }: MatvecParams): string {
  const formats = input === output ? input : `${input}-${output}`;
  const fours = wide ? ' wide' : '';
  return `${formats} ${group.lanes}x${group.team}${fours}${wideResult ? ' to fours' : ''}`;
}

/** WGSL: the workgroup memory of {@link combine}. */
export function combineMemory({ lanes, team }: MatvecGroup): string {
  return team > 1 ? `var<workgroup> partial: array<vec4f, ${lanes * team}>;` : '';
}

/** Sums that a member adds up in the first of two steps; the members that are left then are added up by one. */
const FIRST_STEP = 8;

/**
 * WGSL: adds up `sums` of a team and leaves the result with its first member. Two steps, because barriers take longer than sums:
 * a member adds what it alone reads afterwards, so nothing has to wait between the reads and the write.
 *
 * @param apart - places in the workgroup between one member and the next
 */
export function combine({ team }: MatvecGroup, apart: number): string {
  if (team === 1) return '';
  const left = team / FIRST_STEP;
  const total = (count: number, step: number): string =>
    inPairs(Array.from({ length: count }, (_, i) => `partial[lane + ${i * step * apart}u]`));
  return /* wgsl */ `
  partial[lane] = sums;
  workgroupBarrier();
  if (member < ${left}u) {
    sums = ${total(FIRST_STEP, left)};
    partial[lane] = sums;
  }
  workgroupBarrier();
  if (member == 0u) { sums = ${total(left, 1)}; }`;
}

/** A sum of terms as a balanced tree. */
function inPairs(terms: readonly string[]): string {
  const half = terms.length / 2;
  return terms.length === 1
    ? (terms[0] as string)
    : `(${inPairs(terms.slice(0, half))} + ${inPairs(terms.slice(half))})`;
}

/** WGSL: how the first member of each team stores its sums, for kernels that call their first entry `row`. */
export function storeEntries({ output, wideResult }: MatvecParams, epilogue: MatvecEpilogue | undefined): StoreInPlace {
  const checksOf = (entry: string): readonly string[] => ['member == 0u', `${entry} < u.rows`];
  if (wideResult && epilogue !== undefined) {
    const { functions, loads, store } = storeInPlace(output, true, epilogue.spec, ['batch', '0u', 'stored_row']);
    return {
      functions,
      loads: `  let stored_row = min(row, u.rows - ${MATVEC_EACH}u);\n${loads}`,
      store: `  if (${checksOf('row').join(' && ')}) {
    let at = (c_first + row) / 4u;
    let sum = sums;
${store}
  }`,
    };
  }
  const placeOf = (entry: string): readonly string[] => {
    if (epilogue === undefined) return [];
    return epilogue.isRow ? ['batch', '0u', entry] : ['batch', entry, '0u'];
  };
  const storeAt = (entry: string, at: string, acc: string): string =>
    `  ${storeC({ by: 'store_c', at, place: placeOf(entry), acc, checks: checksOf(entry) })}`;
  const store = wideResult
    ? storeAt('row', '(c_first + row) / 4u', 'sums')
    : repeat(MATVEC_EACH, (i) => storeAt(`row + ${i}u`, `c_first + (row + ${i}u) * u.c_step`, `sums[${i}]`));
  return { functions: storeFunction(output, wideResult, epilogue?.spec), loads: '', store };
}
