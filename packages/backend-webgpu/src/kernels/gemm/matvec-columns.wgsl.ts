import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { repeat } from '../wgsl/repeat.ts';
import { MATVEC_PLACE, MATVEC_UNIFORMS, type MatvecParams } from './matvec-kernel.ts';
import { featuresFor, inputType, outputType, readFunction, storeFunction } from './storage-formats.ts';

/** Invocations of a workgroup that lie beside each other along the rows of M. */
export const MATVEC_COLUMNS_GROUP = 64;
/** Entries of the result that one invocation computes. */
export const MATVEC_COLUMNS_EACH = 4;

/** Terms per turn of the loop: so many reads are under way at once. */
const TURN = 4;

/**
 * `y = alpha M x + beta y` where the neighbours of a *column* of M are neighbours in memory (`a` holds M by columns): a gemm
 * with m = 1, or with n = 1 and A transposed.
 *
 * An invocation has four neighbouring entries of y and goes down k; 64 of them read 256 neighbours at a time. A team of
 * rows of 64 invocations takes turns along k and adds up its sums in workgroup memory. A team of one needs none.
 */
export const matvecColumns: (params: MatvecParams) => Kernel = variants((params: MatvecParams) => {
  const { input, output, wide, team } = params;
  const unit = wide ? 4 : 1;
  const read = (p: number): string => {
    const at = `at + ${p * team}u * a_line`;
    const numbers = [0, 1, 2, 3].map((i) => `read_a(${at} + entry${i})`);
    return wide ? `read_a(${at} + entry0)` : `vec4f(${numbers.join(', ')})`;
  };
  const add = (p: number): string => `    sums += ${read(p)} * read_b(x_first + (p + ${p * team}u) * u.b_step);`;
  return defineKernel({
    name: `gemm/matvec-columns ${input}-${output} team ${team}${wide ? ' wide' : ''}`,
    storage: {
      a: { access: 'read', type: inputType(input, wide) },
      b: { access: 'read', type: inputType(input, false) },
      c: { access: 'read_write', type: outputType(output, false) },
    },
    uniforms: MATVEC_UNIFORMS,
    features: featuresFor(output),
    code: /* wgsl */ `
${readFunction('a', input, wide)}
${readFunction('b', input, false)}
${storeFunction(output, false)}
${team > 1 ? `var<workgroup> partial: array<vec4f, ${MATVEC_COLUMNS_GROUP * team}>;` : ''}

@compute @workgroup_size(${MATVEC_COLUMNS_GROUP * team})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
${MATVEC_PLACE}
  let member = lane / ${MATVEC_COLUMNS_GROUP}u;
  let row = (tile * ${MATVEC_COLUMNS_GROUP}u + lane % ${MATVEC_COLUMNS_GROUP}u) * ${MATVEC_COLUMNS_EACH}u;
${repeat(wide ? 1 : 4, (i) => `  let entry${i} = min(row + ${i}u, u.rows - ${unit}u) / ${unit}u;`)}
  let a_line = u.a_ld / ${unit}u;
  var at = a_first / ${unit}u + (begin + member) * a_line;
  let x_first = b_first;
  var sums = vec4f();
  var p = begin + member;
  for (; p + ${(TURN - 1) * team}u < end; p += ${TURN * team}u) {
${repeat(TURN, add)}
    at += ${TURN * team}u * a_line;
  }
  for (; p < end; p += ${team}u) {
${add(0)}
    at += ${team}u * a_line;
  }
${team > 1 ? meet(team) : ''}
${repeat(
  MATVEC_COLUMNS_EACH,
  (i) => `  if (member == 0u && row + ${i}u < u.rows) { store_c(c_first + (row + ${i}u) * u.c_step, sums[${i}]); }`,
)}
}`,
  });
});

/** Leaves the team's sums with its first member. */
const meet = (team: number): string => /* wgsl */ `
  partial[lane] = sums;
  workgroupBarrier();
  for (var other = 1u; other < ${team}u && member == 0u; other++) {
    sums += partial[lane + other * ${MATVEC_COLUMNS_GROUP}u];
  }`;
