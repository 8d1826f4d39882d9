import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { softmaxFunctions } from './softmax.wgsl.ts';

/** Invocations in a workgroup. */
export const COMBINE_LANES = 64;

/**
 * Merges the outcomes of attention over parts of the keys. Each part left a record per query: the sums of weighted values,
 * the largest score, and the sum of the weights. Relative to the largest score of all parts, sums and weights add up
 * (Milakov and Gimelshein, 2018, section 3.1).
 *
 * `records` is `[slots, rows, head_dim + 2]`. The output is rows of O, or records again if `partial`. One invocation per
 * sum.
 */
export const combine: (params: { readonly partial: boolean }) => Kernel = variants(
  ({ partial }: { readonly partial: boolean }) =>
    defineKernel({
      name: `attention/combine${partial ? ' partial' : ''}`,
      storage: {
        records: { access: 'read', type: 'array<f32>' },
        o: { access: 'read_write', type: 'array<f32>' },
      },
      uniforms: { slots: 'u32', rows: 'u32', head_dim: 'u32', records_at: 'u32', o_at: 'u32', o_row: 'u32' },
      code: /* wgsl */ `
${softmaxFunctions}

@compute @workgroup_size(${COMBINE_LANES})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = group_index(id, grid) * ${COMBINE_LANES}u + lane;
  let row = index / u.head_dim;
  let d = index % u.head_dim;
  if (row >= u.rows) { return; }
  let record = u.head_dim + 2u;

  var largest = LOWEST;
  for (var slot = 0u; slot < u.slots; slot++) {
    largest = larger(largest, records[u.records_at + (slot * u.rows + row) * record + u.head_dim]);
  }
  var sum = 0.0;
  var total = 0.0;
  for (var slot = 0u; slot < u.slots; slot++) {
    let at = u.records_at + (slot * u.rows + row) * record;
    let factor = exponential(records[at + u.head_dim] - largest);
    sum += factor * records[at + d];
    total += factor * records[at + u.head_dim + 1u];
  }

  let at = u.o_at + row * u.o_row;
  ${
    partial
      ? `o[at + d] = sum;
  if (d == 0u) {
    o[at + u.head_dim] = largest;
    o[at + u.head_dim + 1u] = total;
  }`
      : 'o[at + d] = quotient(sum, total);'
  }
}`,
    }),
);
