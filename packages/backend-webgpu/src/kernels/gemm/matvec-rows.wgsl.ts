import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { repeat } from '../wgsl/repeat.ts';
import { MATVEC_PLACE, MATVEC_UNIFORMS, type MatvecParams } from './matvec-kernel.ts';
import { featuresFor, inputType, outputType, readFunction, storeFunction } from './storage-formats.ts';

/** Invocations of a workgroup. */
export const MATVEC_ROWS_GROUP = 64;
/** Rows that a team computes together, so that the vector is read once for them. */
export const MATVEC_ROWS_EACH = 4;

/**
 * `y = alpha M x + beta y` where the neighbours of a row of M are neighbours in memory: a gemm with n = 1, or with m = 1 and
 * B transposed.
 *
 * A team of invocations computes four rows. Its members take turns along k, by vectors of four if `wide`, so that they read
 * neighbouring memory, and keep a sum for each row; the sums of the team then meet in a tree in workgroup memory,
 * the four rows as one vector. A team of one, for devices where barriers are dear, needs none of that.
 */
export const matvecRows: (params: MatvecParams) => Kernel = variants((params: MatvecParams) => {
  const { input, output, wide, team } = params;
  const unit = wide ? 4 : 1;
  const teams = MATVEC_ROWS_GROUP / team;
  const type = wide ? 'vec4f' : 'f32';
  const total = (i: number): string => (wide ? `(sum${i}.x + sum${i}.y) + (sum${i}.z + sum${i}.w)` : `sum${i}`);
  return defineKernel({
    name: `gemm/matvec-rows ${input}-${output} team ${team}${wide ? ' wide' : ''}`,
    storage: {
      a: { access: 'read', type: inputType(input, wide) },
      b: { access: 'read', type: inputType(input, wide) },
      c: { access: 'read_write', type: outputType(output, false) },
    },
    uniforms: MATVEC_UNIFORMS,
    features: featuresFor(output),
    code: /* wgsl */ `
${readFunction('a', input, wide)}
${readFunction('b', input, wide)}
${storeFunction(output, false)}
${team > 1 ? `var<workgroup> partial: array<vec4f, ${MATVEC_ROWS_GROUP}>;` : ''}

@compute @workgroup_size(${MATVEC_ROWS_GROUP})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
${MATVEC_PLACE}
  let member = lane % ${team}u;
  let row = (tile * ${teams}u + lane / ${team}u) * ${MATVEC_ROWS_EACH}u;
${repeat(MATVEC_ROWS_EACH, (i) => `  let row${i} = (a_first + min(row + ${i}u, u.rows - 1u) * u.a_ld) / ${unit}u;`)}
${repeat(MATVEC_ROWS_EACH, (i) => `  var sum${i} = ${type}();`)}
  let x_first = b_first / ${unit}u;
  for (var p = begin / ${unit}u + member; p < end / ${unit}u; p += ${team}u) {
    let x = read_b(x_first + p${wide ? '' : ' * u.b_step'});
${repeat(MATVEC_ROWS_EACH, (i) => `    sum${i} += read_a(row${i} + p) * x;`)}
  }
  var sums = vec4f(${[0, 1, 2, 3].map(total).join(', ')});
${team > 1 ? meet(team) : ''}
${repeat(
  MATVEC_ROWS_EACH,
  (i) => `  if (member == 0u && row + ${i}u < u.rows) { store_c(c_first + (row + ${i}u) * u.c_step, sums[${i}]); }`,
)}
}`,
  });
});

/** Leaves the team's sums with its first member. */
const meet = (team: number): string => /* wgsl */ `
  for (var half = ${team / 2}u; half > 0u; half /= 2u) {
    partial[lane] = sums;
    workgroupBarrier();
    if (member < half) { sums += partial[lane + half]; }
    workgroupBarrier();
  }`;
