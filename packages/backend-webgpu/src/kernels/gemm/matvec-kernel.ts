import type { FloatDType } from '@concord/backend-core';
import type { UniformType } from '../kernel.ts';
import { storeC } from '../wgsl/store-c.ts';
import type { OutputFormat } from './storage-formats.ts';

/** What the kernels of a product of a matrix and a vector differ in. */
export interface MatvecParams {
  /** Storage of the matrix and of the vector. */
  readonly input: FloatDType;
  /** Storage of the result, or of the sums that stand in for it. */
  readonly output: Exclude<OutputFormat, 'half-words'>;
  /** The matrix, and a vector that is read along its rows, are read by fours. */
  readonly wide: boolean;
  readonly group: MatvecGroup;
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
  let tile = group % u.tiles;
  let batch = (group / u.tiles) % u.batches;
  let split = group / u.tiles / u.batches;
  let begin = split * u.depth;
  let end = min(begin + u.depth, u.k);
  let a_first = u.a_start + batch * u.a_stride;
  let b_first = u.b_start + batch * u.b_stride;
  let c_first = u.c_start + batch * u.c_stride + split * u.c_split;
`;

/** Parameters in a kernel's name. */
export function matvecName({ input, output, wide, group }: MatvecParams): string {
  return `${input === output ? input : `${input}-${output}`} ${group.lanes}x${group.team}${wide ? ' wide' : ''}`;
}

/** WGSL: the workgroup memory of {@link combine}. */
export function combineMemory({ lanes, team }: MatvecGroup): string {
  return team > 1 ? `var<workgroup> partial: array<vec4f, ${lanes * team}>;` : '';
}

/**
 * WGSL: adds up `sums` of a team in a tree and leaves the result with its first member.
 *
 * @param apart - places in the workgroup between one member and the next
 */
export function combine({ team }: MatvecGroup, apart: number): string {
  if (team === 1) return '';
  return /* wgsl */ `
  for (var half = ${team / 2}u; half > 0u; half /= 2u) {
    partial[lane] = sums;
    workgroupBarrier();
    if (member < half) { sums += partial[lane + half * ${apart}u]; }
    workgroupBarrier();
  }`;
}

/** WGSL: the first member of each team stores its sums. */
export const STORE_ENTRIES: string = /* wgsl */ `
  for (var i = 0u; i < ${MATVEC_EACH}u; i++) {
    ${storeC({
      by: 'store_c',
      at: 'c_first + (row + i) * u.c_step',
      acc: 'sums[i]',
      checks: ['member == 0u', 'row + i < u.rows'],
    })}
  }`;
