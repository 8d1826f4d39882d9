import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { repeat } from '../wgsl/repeat.ts';
import { passInterface, passWgsl, type Source } from './pass.wgsl.ts';
import { SORT_SIZE, sortWgsl } from './sort.wgsl.ts';

/** Elements that an invocation looks at in one step. */
const WAYS = 8;

/** Entries in the memory of a workgroup, by how many of them may be the best so far. */
export const SELECT_SIZES: readonly (readonly [mostK: number, size: number])[] = [
  [16, 256],
  [64, 512],
  [256, 1024],
];

/**
 * Selects the best of a part of any length by a workgroup that reads it once. The k best so far are at the start of an
 * array in workgroup memory; what is better than the worst of them is put after them, wherever there is room, and when there
 * is none the whole array is sorted. Of elements in random order few come that far.
 */
export const select: (params: { source: Source; size: number }) => Kernel = variants(({ source, size }) =>
  defineKernel({
    name: `top-k/select ${source} ${size}`,
    ...passInterface(source),
    code: /* wgsl */ `
${passWgsl(source)}
${sortWgsl(size, size)}
var<workgroup> filled: atomic<u32>;
var<workgroup> wanted: u32;

@compute @workgroup_size(${SORT_SIZE})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let group = group_index(id, grid);
  if (group >= u.group_count) { return; }
  let part = part_of(group);
  let last = part.count - 1u;
  let room = ${size}u - u.k;
  var worst = vec2u(0u);
  // Workgroup memory starts as zeros: no entries.
  for (var start = 0u; start < part.count; start += ${SORT_SIZE * WAYS}u) {
${repeat(WAYS, (i) => `    let at${i} = start + lane + ${i * SORT_SIZE}u;`)}
${repeat(WAYS, (i) => `    let key${i} = select(0u, key_at(part.first + min(at${i}, last)), at${i} <= last);`)}
    var pending = 0u;
${repeat(WAYS, (i) => `    pending |= select(0u, ${1 << i}u, is_ahead(vec2u(key${i}, at${i}), worst));`)}
    loop {
      if (pending != 0u) {
        var slot = u.k + atomicAdd(&filled, countOneBits(pending));
${repeat(WAYS, (i) => `        if ((pending & ${1 << i}u) != 0u && slot < ${size}u) { entries[slot] = vec2u(key${i}, at${i}); slot++; pending ^= ${1 << i}u; }`)}
      }
      workgroupBarrier();
      if (lane == 0u) { wanted = atomicLoad(&filled); }
      if (workgroupUniformLoad(&wanted) <= room) { break; }
      sort_entries(lane);
      worst = entries[u.k - 1u];
      for (var slot = u.k + lane; slot < ${size}u; slot += ${SORT_SIZE}u) { entries[slot] = vec2u(0u); }
      if (lane == 0u) { atomicStore(&filled, 0u); }
      workgroupBarrier();
${repeat(WAYS, (i) => `      if (!is_ahead(vec2u(key${i}, at${i}), worst)) { pending &= ~${1 << i}u; }`)}
    }
  }
  sort_entries(lane);
  for (var rank = lane; rank < min(u.k, part.count); rank += ${SORT_SIZE}u) { store(part, rank, entries[rank].y); }
}`,
  }),
);
