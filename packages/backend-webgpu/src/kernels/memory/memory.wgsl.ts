import { defineKernel, type Kernel } from '../kernel.ts';

/** Words that one workgroup writes. */
export const COPY_WORDS = 256;

/**
 * Copies bytes between offsets that are not multiples of 4. Each invocation makes one word of the destination out of
 * the two words of the source that its bytes lie in.
 *
 * Byte j of the destination, counted from the start of its first word, comes from byte j + shift of the source; `shift`
 * may be negative. Bytes `begin .. end - 1` are copied, the others keep their value.
 */
export const copyBytes: Kernel = defineKernel({
  name: 'memory/copy-bytes',
  storage: {
    src: { access: 'read', type: 'array<u32>' },
    dst: { access: 'read_write', type: 'array<u32>' },
  },
  uniforms: { begin: 'u32', end: 'u32', shift: 'i32' },
  code: /* wgsl */ `
fn source_word(index: i32) -> u32 {
  return select(0u, src[u32(max(index, 0))], index >= 0 && index < i32(arrayLength(&src)));
}

@compute @workgroup_size(${COPY_WORDS})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let word = group_index(id, grid) * ${COPY_WORDS}u + lane;
  let first = word * 4u;
  if (first >= u.end || first + 4u <= u.begin) { return; }
  let place = i32(first) + u.shift;
  let index = place >> 2u;
  let bits = u32(place & 3) * 8u;
  var value = source_word(index) >> bits;
  if (bits != 0u) { value |= source_word(index + 1) << (32u - bits); }
  let low = 0xffffffffu << (8u * (max(u.begin, first) - first));
  let high = 0xffffffffu >> (8u * (first + 4u - min(u.end, first + 4u)));
  let mask = low & high;
  dst[word] = (dst[word] & ~mask) | (value & mask);
}`,
});

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

/**
 * Replaces the bits of `mask` in one 32-bit word, for the bytes at the ends of a range that begins or ends inside a word.
 * One invocation.
 */
export const mergeWord: Kernel = defineKernel({
  name: 'memory/merge-word',
  storage: { words: { access: 'read_write', type: 'array<u32>' } },
  uniforms: { index: 'u32', mask: 'u32', value: 'u32' },
  code: /* wgsl */ `
@compute @workgroup_size(1)
fn main() {
  words[u.index] = (words[u.index] & ~u.mask) | (u.value & u.mask);
}`,
});

/** Every kernel of memory operations. */
export const MEMORY_KERNELS: readonly Kernel[] = [copyBytes, fillWords, mergeWord];
