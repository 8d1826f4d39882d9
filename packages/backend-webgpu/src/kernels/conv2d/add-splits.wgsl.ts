import { defineKernel, type Kernel } from '../kernel.ts';

/** Invocations of a workgroup, each of which adds one entry. */
export const ADD_SPLITS_GROUP = 256;

/**
 * The second half of a convolution whose taps were split into ranges: output[i] = sum over ranges of sums[range, i]. Ranges
 * are added in order, so that equal calls give equal bits.
 */
export const addSplits: Kernel = defineKernel({
  name: 'conv2d/add-splits',
  storage: {
    sums: { access: 'read', type: 'array<f32>' },
    output: { access: 'read_write', type: 'array<f32>' },
  },
  uniforms: { entries: 'u32', splits: 'u32', output_at: 'u32', accumulate: 'u32' },
  code: /* wgsl */ `
@compute @workgroup_size(${ADD_SPLITS_GROUP})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let group = group_index(id, grid);
  let entry = group * ${ADD_SPLITS_GROUP}u + lane;
  if (group >= u.group_count || entry >= u.entries) { return; }
  var sum = sums[entry];
  for (var split = 1u; split < u.splits; split++) { sum += sums[split * u.entries + entry]; }
  if (u.accumulate == 1u) { sum += output[u.output_at + entry]; }
  output[u.output_at + entry] = sum;
}`,
});
