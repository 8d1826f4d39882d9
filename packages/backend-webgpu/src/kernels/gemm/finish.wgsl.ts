import { entriesTable, type EntriesTable } from './entries.ts';

/**
 * `C = alpha * (sum over splits) + beta * C`: the second half of a product whose first half left float32 sums, packed as
 * `[split, batch, m, n]`. For products that are split along k, and for binary16 without `f16`, where two entries
 * share a word. Splits are added in order, so that equal calls give equal bits.
 */
export const finish: EntriesTable = entriesTable({
  name: 'gemm/finish',
  storage: { sums: { access: 'read', type: 'array<f32>' } },
  uniforms: { splits: 'u32', split_stride: 'u32', alpha: 'f32', beta: 'f32' },
  value: /* wgsl */ `
fn entry_value(index: u32, old: f32) -> f32 {
  var sum = sums[index];
  let end = index + u.splits * u.split_stride;
  for (var at = index + u.split_stride; at < end; at += u.split_stride) { sum += sums[at]; }
  let product = u.alpha * sum;
  if (u.reads_c == 0u) { return product; }
  return product + u.beta * old;
}`,
});
