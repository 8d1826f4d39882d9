import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { type Fold, FOLD_UNIFORMS } from './fold.wgsl.ts';
import { columnsStorage, foldStrideWgsl, vectorType } from './fold-stride.wgsl.ts';

/** Invocations of one workgroup. */
export const COLUMNS_TEAM_SIZE = 256;

/**
 * Reduces along a strided axis; a team of `team` invocations walks down one part of one column, or of four neighbouring
 * columns with `width` 4. For few columns, and for narrow ones.
 *
 * Input, output and parts are those of `columns-lane`. The columns are cut into `tiles` of `tile`, the last one perhaps
 * narrower; a block is one part of one tile, `blocks` is outer times parts times tiles, and a workgroup of 256 takes as
 * many blocks of `tile` times `team` invocations as fit. Neighbours read neighbouring columns, then the next row: a
 * tile of all columns is read as contiguous memory. The totals of a team meet in a tree in workgroup memory, for any
 * `team`.
 */
export const columnsTeam: (params: { fold: Fold; width: 1 | 4 }) => Kernel = variants(({ fold, width }) => {
  const s = width === 1 ? '' : '4';
  return defineKernel({
    name: `reduce/columns-team ${fold} x${width}`,
    storage: columnsStorage(fold, width),
    uniforms: {
      blocks: 'u32',
      parts: 'u32',
      tiles: 'u32',
      tile: 'u32',
      team: 'u32',
      length: 'u32',
      columns: 'u32',
      chunk: 'u32',
      offset: 'u32',
      result: 'u32',
      ...FOLD_UNIFORMS,
    },
    code: /* wgsl */ `
${foldStrideWgsl(fold, width)}
var<workgroup> totals: array<${vectorType(fold, width)}, ${COLUMNS_TEAM_SIZE}>;

fn fold_share(item: u32, column: u32, mate: u32) -> ${vectorType(fold, width)} {
  let top = item / u.parts * u.length;
  let first = item % u.parts * u.chunk;
  let last = min(first + u.chunk, u.length);
  let base = u.offset + column;
  return fold_stride(
    base + (top + first + mate) * u.columns,
    base + (top + last) * u.columns,
    u.team * u.columns,
  );
}

@compute @workgroup_size(${COLUMNS_TEAM_SIZE})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let group = group_index(id, grid);
  if (group >= u.group_count) { return; }
  let size = u.tile * u.team;
  let per_group = ${COLUMNS_TEAM_SIZE}u / size;
  let block = group * per_group + lane / size;
  let item = block / u.tiles;
  let column = block % u.tiles * u.tile + lane % u.tile;
  let mate = lane % size / u.tile;
  let works = lane < per_group * size && block < u.blocks && column < u.columns;
  if (works) { totals[lane] = fold_share(item, column, mate); }
  for (var left = u.team; left > 1u; ) {
    let half = (left + 1u) / 2u;
    workgroupBarrier();
    if (works && mate + half < left) {
      totals[lane] = fold${s}(totals[lane], totals[lane + half * u.tile]);
    }
    left = half;
  }
  if (works && mate == 0u) { output[u.result + item * u.columns + column] = lower${s}(totals[lane]); }
}`,
  });
});
