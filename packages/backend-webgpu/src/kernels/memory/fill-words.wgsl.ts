import { defineKernel, type Kernel } from '../kernel.ts';

/** Words that one workgroup writes. */
export const FILL_WORDS: number = 256 * 4;

/** Sets `count` words from `first` on to `value`. Each invocation writes 4, 256 apart. */
export const fillWords: Kernel = defineKernel({
  name: 'memory/fill-words',
  storage: { words: { access: 'read_write', type: 'array<u32>' } },
  uniforms: { first: 'u32', count: 'u32', value: 'u32' },
  code: /* wgsl */ `
@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let start = group_index(id, grid) * ${FILL_WORDS}u + lane;
  for (var i = 0u; i < 4u; i++) {
    let index = start + i * 256u;
    if (index < u.count) { words[u.first + index] = u.value; }
  }
}`,
});
