import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { passInterface, passWgsl, type Source } from './pass.wgsl.ts';

/** Invocations of one workgroup. */
export const SORT_SIZE = 256;
/** Elements in the memory of a workgroup. */
export const SORT_ENTRIES = 1024;
/** Elements that are sorted together: one part has room in it. */
export const SORT_ROOMS: readonly number[] = [16, 64, 256, 1024];

/**
 * WGSL: `sort_entries(lane)`, by a workgroup: of `size` entries in workgroup memory each `room` neighbours are sorted, the
 * best first (K. E. Batcher, "Sorting networks and their applications", AFIPS 1968: the bitonic network, in the form in
 * which the first step of each size compares mirror images, so that all runs are in one direction). Barriers come before
 * each step and at the end.
 */
export function sortWgsl(size: number, room: number): string {
  return /* wgsl */ `
var<workgroup> entries: array<vec2u, ${size}>;

fn sort_entries(lane: u32) {
  for (var run = 2u; run <= ${room}u; run *= 2u) {
    for (var stride = run / 2u; stride > 0u; stride /= 2u) {
      workgroupBarrier();
      for (var pair = lane; pair < ${size / 2}u; pair += ${SORT_SIZE}u) {
        let a = 2u * pair - (pair & (stride - 1u));
        let b = select(a + stride, a ^ (run - 1u), 2u * stride == run);
        let x = entries[a];
        let y = entries[b];
        if (is_ahead(y, x)) {
          entries[a] = y;
          entries[b] = x;
        }
      }
    }
  }
  workgroupBarrier();
}`;
}

/** Selects the best of short parts: a workgroup sorts as many of them as its memory has room for. */
export const sort: (params: { source: Source; room: number }) => Kernel = variants(({ source, room }) =>
  defineKernel({
    name: `top-k/sort ${source} ${room}`,
    ...passInterface(source),
    code: /* wgsl */ `
${passWgsl(source)}
${sortWgsl(SORT_ENTRIES, room)}

@compute @workgroup_size(${SORT_SIZE})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let group = group_index(id, grid);
  if (group >= u.group_count) { return; }
  let first_item = group * ${SORT_ENTRIES / room}u;
  for (var slot = lane; slot < ${SORT_ENTRIES}u; slot += ${SORT_SIZE}u) {
    let item = first_item + slot / ${room}u;
    let at = slot % ${room}u;
    var entry = vec2u(0u);
    if (item < u.items) {
      let part = part_of(item);
      if (at < part.count) { entry = vec2u(key_at(part.first + at), at); }
    }
    entries[slot] = entry;
  }
  sort_entries(lane);
  for (var slot = lane; slot < ${SORT_ENTRIES}u; slot += ${SORT_SIZE}u) {
    let item = first_item + slot / ${room}u;
    let rank = slot % ${room}u;
    if (item < u.items && rank < u.k) {
      let part = part_of(item);
      if (rank < part.count) { store(part, rank, entries[slot].y); }
    }
  }
}`,
  }),
);
