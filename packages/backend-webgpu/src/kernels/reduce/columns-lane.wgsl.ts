import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { type Fold, FOLD_UNIFORMS } from './fold.wgsl.ts';
import { columnsStorage, foldStrideWgsl } from './fold-stride.wgsl.ts';

/** Invocations of one workgroup. */
export const COLUMNS_LANE_SIZE = 64;

/**
 * Reduces along a strided axis; each invocation walks down one part of one column, or of four neighbouring columns with
 * `width` 4. For enough columns to keep a device busy, and for devices where invocations that work together are dear.
 *
 * Input `[outer, length, columns]` of vectors of `width` elements, from vector `offset` on; output `[outer, parts,
 * columns]` from `result` on, where part p covers `chunk` rows from `p * chunk` on. `items` is outer times parts times
 * columns. Neighbouring invocations read neighbouring columns. With one column this reduces rows.
 */
export const columnsLane: (params: { fold: Fold; width: 1 | 4 }) => Kernel = variants(({ fold, width }) =>
  defineKernel({
    name: `reduce/columns-lane ${fold} x${width}`,
    storage: columnsStorage(fold, width),
    uniforms: {
      items: 'u32',
      parts: 'u32',
      length: 'u32',
      columns: 'u32',
      chunk: 'u32',
      offset: 'u32',
      result: 'u32',
      ...FOLD_UNIFORMS,
    },
    code: /* wgsl */ `
${foldStrideWgsl(fold, width)}

@compute @workgroup_size(${COLUMNS_LANE_SIZE})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let item = group_index(id, grid) * ${COLUMNS_LANE_SIZE}u + lane;
  if (item >= u.items) { return; }
  let column = item % u.columns;
  let rest = item / u.columns;
  let top = rest / u.parts * u.length;
  let first = rest % u.parts * u.chunk;
  let last = min(first + u.chunk, u.length);
  let base = u.offset + column;
  let total = fold_stride(base + (top + first) * u.columns, base + (top + last) * u.columns, u.columns);
  output[u.result + item] = lower${width === 1 ? '' : '4'}(total);
}`,
  }),
);
