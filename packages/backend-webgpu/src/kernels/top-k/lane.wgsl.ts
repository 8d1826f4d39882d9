import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { passInterface, passWgsl, type Source } from './pass.wgsl.ts';

/** Invocations of one workgroup, by how many entries each of them has room for in its memory: 16 KiB at most. */
export const LANE_SIZES: readonly (readonly [room: number, size: number])[] = [
  [16, 64],
  [256, 8],
];

/**
 * Selects the best of a part by one invocation, which keeps them in a heap with the worst on top: most elements cost
 * a comparison with it. For devices on which barriers are dear. Lavapipe compiles a heap of 256 in private memory for many
 * seconds, so each invocation has its own in workgroup memory.
 */
export const lane: (params: { source: Source; room: number; size: number }) => Kernel = variants(
  ({ source, room, size: lanes }) =>
    defineKernel({
      name: `top-k/lane ${source} ${room}`,
      ...passInterface(source),
      code: /* wgsl */ `
${passWgsl(source)}
const LANES = ${lanes}u;
var<workgroup> heaps: array<vec2u, ${room * lanes}>;

// Puts an entry into the place of the worst of the first size, and the worst of those on top.
fn replace_worst(lane: u32, entry: vec2u, size: u32) {
  var at = 0u;
  for (var child = 1u; child < size; child = 2u * at + 1u) {
    let other = min(child + 1u, size - 1u);
    let worse = select(child, other, is_ahead(heaps[child * LANES + lane], heaps[other * LANES + lane]));
    if (is_ahead(heaps[worse * LANES + lane], entry)) { break; }
    heaps[at * LANES + lane] = heaps[worse * LANES + lane];
    at = worse;
  }
  heaps[at * LANES + lane] = entry;
}

@compute @workgroup_size(${lanes})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let item = group_index(id, grid) * LANES + lane;
  if (item >= u.items) { return; }
  let part = part_of(item);
  let size = min(u.k, part.count);
  var worst = 0u;
  for (var at = 0u; at < part.count; at++) {
    let key = key_at(part.first + at);
    if (key > worst) {
      replace_worst(lane, vec2u(key, at), size);
      worst = heaps[lane].x;
    }
  }
  for (var left = size; left > 0u; left--) {
    store(part, left - 1u, heaps[lane].y);
    replace_worst(lane, heaps[(left - 1u) * LANES + lane], left - 1u);
  }
}`,
    }),
);

/** Loop iterations of an invocation of {@link lane} for a part of one element more, at most. */
export function lanePerElement(k: number): number {
  return Math.floor(Math.log2(k)) + 3;
}
