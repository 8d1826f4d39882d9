import { defineKernel, type Kernel } from '../kernel.ts';

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
