import { defineKernel, type Kernel, variants } from '../kernel.ts';
import type { Fold } from './fold.wgsl.ts';
import { foldRunWgsl, rowsInterface } from './fold-run.wgsl.ts';

/** Invocations of one workgroup. */
export const ROWS_LANE_SIZE = 64;

/**
 * Reduces rows of contiguous elements; each invocation takes one part of one row. For short rows, and for devices where
 * invocations that work together are dear.
 *
 * Input `[rows, length]` from element `offset` on; output `[rows, parts]` from `result` on, where part p covers `chunk`
 * elements of the row from `p * chunk` on. `items` is rows times parts. The input is bound twice: as quads, for the
 * aligned middle of a part, and as single elements for what is left at each end.
 *
 * The parts of a long row are summed by another launch, so that it is summed in blocks of blocks (N. J. Higham, "The
 * accuracy of floating point summation", SIAM J. Sci. Comput. 14, 1993: pairwise summation, with larger leaves).
 */
export const rowsLane: (params: { fold: Fold }) => Kernel = variants(({ fold }) =>
  defineKernel({
    name: `reduce/rows-lane ${fold}`,
    ...rowsInterface(fold),
    code: /* wgsl */ `
${foldRunWgsl(fold, 1)}

@compute @workgroup_size(${ROWS_LANE_SIZE})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let item = group_index(id, grid) * ${ROWS_LANE_SIZE}u + lane;
  if (item >= u.items) { return; }
  output[u.result + item] = lower(fold_run(item, 0u));
}`,
  }),
);
