import { ofType } from '@concord/variants';
import type { FloatDType } from '@concord/backend-core';
import { mainOf, type UniformType } from '../kernel.ts';
import type { RunSpec } from '../run/run-spec.ts';
import { repeat, storeC } from '../wgsl/snippets.ts';
import {
  type OutputFormat,
  productBindings,
  readFunction,
  storeFunction,
  type StoreInPlace,
  storeInPlace,
} from './storage-formats.ts';
import { type ProductKernel, productKernel } from './product-kernel.ts';

/** The parameters that distinguish the kernels of a product of a matrix and a vector. */
interface MatvecParams {
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
interface MatvecEpilogue extends RunSpec {
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
  ...ofType('u32', 'rows k a_ld b_step c_step a_start b_start c_start a_stride b_stride c_stride batches'),
  // Terms of a sum in each split, and elements between the results of two splits.
  ...ofType('u32', 'depth c_split'),
  // Workgroups for all rows of one matrix.
  tiles: 'u32',
  ...ofType('f32', 'alpha beta'),
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
function matvecName({ input, output, wide, wideResult, group }: MatvecParams): string {
  const formats = input === output ? input : `${input}-${output}`;
  const fours = wide ? ' wide' : '';
  return `${formats} ${group.lanes}x${group.team}${fours}${wideResult ? ' to fours' : ''}`;
}

/** WGSL: the workgroup memory of {@link combine}. */
function combineMemory({ lanes, team }: MatvecGroup): string {
  return team > 1 ? `var<workgroup> partial: array<vec4f, ${lanes * team}>;` : '';
}

/** Sums that a member adds up in the first of two steps; the members that are left then are added up by one. */
const FIRST_STEP = 8;

/**
 * WGSL: adds up `sums` of a team and leaves the result with its first member. Two steps, because barriers take longer than sums:
 * a member adds what it alone reads afterwards, so nothing has to wait between the reads and the write.
 *
 * @param stride - places in the workgroup between one member and the next
 */
function combine({ team }: MatvecGroup, stride: number): string {
  if (team === 1) return '';
  const left = team / FIRST_STEP;
  const total = (count: number, step: number): string =>
    inPairs(Array.from({ length: count }, (_, i) => `partial[lane + ${i * step * stride}u]`));
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
export function inPairs(terms: readonly string[]): string {
  const half = terms.length / 2;
  return terms.length === 1
    ? (terms[0] as string)
    : `(${inPairs(terms.slice(0, half))} + ${inPairs(terms.slice(half))})`;
}

/** WGSL: how the first member of each team stores its sums, for kernels that call their first entry `row`. */
function storeEntries({ output, wideResult }: MatvecParams, epilogue: MatvecEpilogue | undefined): StoreInPlace {
  const checksOf = (entry: string): readonly string[] => ['member == 0u', `${entry} < u.rows`];
  if (wideResult && epilogue !== undefined) {
    const { functions, loads, store } = storeInPlace(output, true, epilogue, {
      place: ['batch', '0u', 'stored_row'],
    });
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
  return { functions: storeFunction(output, wideResult, epilogue), loads: '', store };
}

/** Vectors of each row per iteration of the loop: those of binary16 are half as long. */
const UNROLL = { f32: 2, f16: 4 };

/**
 * `y = alpha M x + beta y` where the neighbours of a row of M are neighbours in memory: a gemm with n = 1, or with m = 1 and
 * B transposed.
 *
 * A team of invocations computes four rows, so that it reads x once for them. Its members take turns along k, by vectors
 * of four if `wide`, so that they read neighbouring memory. The sums of the team are then combined in workgroup memory, the
 * four rows as one vector. On a device where barriers are expensive a team is a single invocation.
 */
export const matvecRows: ProductKernel<MatvecParams, MatvecEpilogue> = productKernel(
  'gemm/matvec-rows',
  (params, epilogue) => {
    const { input, output, wide, wideResult, group } = params;
    const { lanes, team } = group;
    const { functions, loads, store } = storeEntries(params, epilogue);
    const unroll = UNROLL[input];
    const type = wide ? 'vec4f' : 'f32';
    const perUnit = wide ? ' / 4u' : '';
    const add = (t: number): string => {
      const at = `p + ${t * team}u`;
      return `    {
      let x = read_b(x_first + ${wide ? at : `(${at}) * u.b_step`});
${repeat(MATVEC_EACH, (i) => `      sum${i} += read_a(row${i} + ${at}) * x;`)}
    }`;
    };
    const total = (i: number): string => (wide ? `(sum${i}.x + sum${i}.y) + (sum${i}.z + sum${i}.w)` : `sum${i}`);
    return {
      name: `gemm/matvec-rows ${matvecName(params)}`,
      ...productBindings(input, output, [wide, wide, wideResult]),
      uniforms: MATVEC_UNIFORMS,
      code: /* wgsl */ `
${readFunction('a', input, wide)}
${readFunction('b', input, wide)}
${functions}
${combineMemory(group)}

${mainOf(lanes * team)}
${MATVEC_PLACE}
  let member = lane % ${team}u;
  let row = (tile * ${lanes}u + lane / ${team}u) * ${MATVEC_EACH}u;
${repeat(MATVEC_EACH, (i) => `  let row${i} = (a_first + min(row + ${i}u, u.rows - 1u) * u.a_ld)${perUnit};`)}
${repeat(MATVEC_EACH, (i) => `  var sum${i} = ${type}();`)}
${loads}
  let x_first = b_first${perUnit};
  let last = end${perUnit};
  var p = begin${perUnit} + member;
  for (; p + ${(unroll - 1) * team}u < last; p += ${unroll * team}u) {
${repeat(unroll, add)}
  }
  for (; p < last; p += ${team}u) {
${add(0)}
  }
  var sums = vec4f(${[0, 1, 2, 3].map(total).join(', ')});
${combine(group, 1)}
${store}
}`,
    };
  },
);

/** The parameters that distinguish these kernels. */
export interface MatvecColumnsParams extends MatvecParams {
  /** Terms of an invocation that are on their way at once. */
  readonly atOnce: 4 | 8 | 12;
}

/**
 * `y = alpha M x + beta y` where the neighbours of a *column* of M are neighbours in memory (`a` holds M by columns): a gemm
 * with m = 1, or with n = 1 and A transposed.
 *
 * An invocation has four neighbouring entries of y and goes down k; the lanes of a workgroup lie beside each other, so
 * that they read neighbouring memory. The members of a team take turns along k, and their sums are combined in workgroup
 * memory. On a device where barriers are expensive a team is a single invocation.
 */
export const matvecColumns: ProductKernel<MatvecColumnsParams, MatvecEpilogue> = productKernel(
  'gemm/matvec-columns',
  (params, epilogue) => {
    const { input, output, wide, wideResult, group, atOnce } = params;
    const { lanes, team } = group;
    const { functions, loads, store } = storeEntries(params, epilogue);
    const unit = wide ? 4 : 1;
    const perUnit = wide ? ' / 4u' : '';
    const read = (at: string): string => {
      const numbers = [0, 1, 2, 3].map((i) => `read_a(${at} + entry${i})`);
      return wide ? `read_a(${at} + entry0)` : `vec4f(${numbers.join(', ')})`;
    };
    const add = (p: number): string =>
      `    sums += ${read(`at + ${p * team}u * a_line`)} * read_b(b_first + (p + ${p * team}u) * u.b_step);`;
    // Beyond the end the last term is read again, and not used.
    const readLast = (p: number): string => `    let p${p} = min(p + ${p * team}u, end - 1u);
    let entries${p} = ${read(`a_first${perUnit} + p${p} * a_line`)};
    let term${p} = read_b(b_first + p${p} * u.b_step);`;
    const addLast = (p: number): string =>
      `    sums += select(vec4f(), entries${p} * term${p}, p + ${p * team}u < end);`;
    return {
      name: `gemm/matvec-columns ${matvecName(params)} by ${atOnce}`,
      ...productBindings(input, output, [wide, false, wideResult]),
      uniforms: MATVEC_UNIFORMS,
      code: /* wgsl */ `
${readFunction('a', input, wide)}
${readFunction('b', input, false)}
${functions}
${combineMemory(group)}

${mainOf(lanes * team)}
${MATVEC_PLACE}
  let member = lane / ${lanes}u;
  let row = (tile * ${lanes}u + lane % ${lanes}u) * ${MATVEC_EACH}u;
${repeat(wide ? 1 : 4, (i) => `  let entry${i} = min(row + ${i}u, u.rows - ${unit}u)${perUnit};`)}
${loads}
  let a_line = u.a_ld${perUnit};
  var p = begin + member;
  var at = a_first${perUnit} + p * a_line;
  var sums = vec4f();
  for (; p + ${(atOnce - 1) * team}u < end; p += ${atOnce * team}u) {
${repeat(atOnce, add)}
    at += ${atOnce * team}u * a_line;
  }
  for (; p < end; p += ${atOnce * team}u) {
${repeat(atOnce, readLast)}
${repeat(atOnce, addLast)}
  }
${combine(group, lanes)}
${store}
}`,
    };
  },
);
