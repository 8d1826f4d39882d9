import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { elementType, type Fold } from './fold.wgsl.ts';
import { foldRunWgsl, rowsInterface } from './fold-run.wgsl.ts';

/** Invocations of one workgroup. */
export const ROWS_TEAM_SIZE = 256;
/** Invocations that work on one row together. */
export type RowTeam = 8 | 32 | 256;
/** Every {@link RowTeam}. */
export const ROW_TEAMS: readonly RowTeam[] = [8, 32, 256];

/**
 * Reduces rows of contiguous elements; a team of 8, 32 or 256 invocations takes one part of one row, and a workgroup of
 * 256 has room for as many teams.
 *
 * Input, output and parts are those of `rows-lane`. Neighbours in a team read neighbouring quads. Their totals meet in
 * a tree in workgroup memory (M. Harris, "Optimizing Parallel Reduction in CUDA", 2007: sequential addressing, several
 * elements per invocation).
 */
export const rowsTeam: (params: { fold: Fold; team: RowTeam }) => Kernel = variants(({ fold, team }) =>
  defineKernel({
    name: `reduce/rows-team ${fold} ${team}`,
    ...rowsInterface(fold),
    code: /* wgsl */ `
${foldRunWgsl(fold, team)}
var<workgroup> totals: array<${elementType(fold)}, ${ROWS_TEAM_SIZE}>;

@compute @workgroup_size(${ROWS_TEAM_SIZE})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let group = group_index(id, grid);
  if (group >= u.group_count) { return; }
  let item = group * ${ROWS_TEAM_SIZE / team}u + lane / TEAM;
  let mate = lane % TEAM;
  if (item < u.items) { totals[lane] = fold_run(item, mate); }
  for (var half = TEAM / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (mate < half) { totals[lane] = fold(totals[lane], totals[lane + half]); }
  }
  if (mate == 0u && item < u.items) { output[u.result + item] = lower(totals[lane]); }
}`,
  }),
);
