import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { passInterface, passWgsl, type Source } from './pass.wgsl.ts';

/** A kernel of {@link lane}. */
export interface LaneForm {
  /** Entries that an invocation has room for. */
  readonly room: number;
  /** Invocations of one workgroup. */
  readonly size: number;
  /** Whose memory they are in. Lavapipe compiles a large array of an invocation for many seconds, SwiftShader one of a workgroup for some. */
  readonly memory: 'private' | 'workgroup';
}

/** Every {@link LaneForm}, small ones first. */
export const LANE_FORMS: readonly LaneForm[] = [
  { room: 16, size: 64, memory: 'private' },
  { room: 256, size: 8, memory: 'workgroup' },
];

/**
 * Selects the best of a part by one invocation, which keeps them in a heap with the worst on top: most elements cost
 * a comparison with it. For devices on which barriers are dear.
 */
export const lane: (params: { source: Source; form: LaneForm }) => Kernel = variants(
  ({ source, form: { room, size: lanes, memory } }) =>
    defineKernel({
      name: `top-k/lane ${source} ${room}`,
      ...passInterface(source),
      code: /* wgsl */ `
${passWgsl(source)}
// How far the entries of one heap are apart.
const STRIDE = ${memory === 'private' ? 1 : lanes}u;
var<${memory}> heaps: array<vec2u, ${memory === 'private' ? room : room * lanes}>;

// Puts an entry into the place of the worst of the first size, and the worst of those on top.
fn replace_worst(heap: u32, entry: vec2u, size: u32) {
  var at = 0u;
  for (var child = 1u; child < size; child = 2u * at + 1u) {
    let other = min(child + 1u, size - 1u);
    let worse = select(child, other, is_ahead(heaps[child * STRIDE + heap], heaps[other * STRIDE + heap]));
    if (is_ahead(heaps[worse * STRIDE + heap], entry)) { break; }
    heaps[at * STRIDE + heap] = heaps[worse * STRIDE + heap];
    at = worse;
  }
  heaps[at * STRIDE + heap] = entry;
}

@compute @workgroup_size(${lanes})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let item = group_index(id, grid) * ${lanes}u + lane;
  if (item >= u.items) { return; }
  let part = part_of(item);
  let size = min(u.k, part.count);
  let heap = ${memory === 'private' ? '0u' : 'lane'};
  var worst = 0u;
  for (var at = 0u; at < part.count; at++) {
    let key = key_at(part.first + at);
    if (key > worst) {
      replace_worst(heap, vec2u(key, at), size);
      worst = heaps[heap].x;
    }
  }
  for (var left = size; left > 0u; left--) {
    store(part, left - 1u, heaps[heap].y);
    replace_worst(heap, heaps[(left - 1u) * STRIDE + heap], left - 1u);
  }
}`,
    }),
);

/** Loop iterations of an invocation of {@link lane} for a part of one element more, at most. */
export function lanePerElement(k: number): number {
  return Math.floor(Math.log2(k)) + 3;
}
