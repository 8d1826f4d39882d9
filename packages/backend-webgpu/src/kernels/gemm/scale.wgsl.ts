import { entriesFamily, type EntriesFamily } from './entries.ts';

/** `C = beta * C`; zeros, and C is not read, where beta is 0. What is left of a product with k = 0 or alpha = 0. */
export const scale: EntriesFamily = entriesFamily({
  name: 'gemm/scale',
  uniforms: { beta: 'f32' },
  value: /* wgsl */ `
fn entry_value(index: u32, old: f32) -> f32 {
  if (u.reads_c == 0u) { return 0.0; }
  return u.beta * old;
}`,
});
