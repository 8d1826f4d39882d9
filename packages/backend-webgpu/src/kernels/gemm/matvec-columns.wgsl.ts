import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { repeat } from '../wgsl/repeat.ts';
import {
  combine,
  combineMemory,
  MATVEC_EACH,
  MATVEC_PLACE,
  MATVEC_UNIFORMS,
  matvecName,
  type MatvecParams,
  STORE_ENTRIES,
} from './matvec-kernel.ts';
import { featuresFor, inputType, outputType, readFunction, storeFunction } from './storage-formats.ts';

/** Terms per iteration of the loop: so many reads are under way at once. */
const UNROLL = 8;

/**
 * `y = alpha M x + beta y` where the neighbours of a *column* of M are neighbours in memory (`a` holds M by columns): a gemm
 * with m = 1, or with n = 1 and A transposed.
 *
 * An invocation has four neighbouring entries of y and goes down k; the lanes of a workgroup lie beside each other, so
 * that they read neighbouring memory. The members of a team take turns along k, and their sums are combined in workgroup
 * memory. On a device where barriers are dear a team is a single invocation.
 */
export const matvecColumns: (params: MatvecParams) => Kernel = variants((params: MatvecParams) => {
  const { input, output, wide, group } = params;
  const { lanes, team } = group;
  const unit = wide ? 4 : 1;
  const perUnit = wide ? ' / 4u' : '';
  const read = (p: number): string => {
    const at = `at + ${p * team}u * a_line`;
    const numbers = [0, 1, 2, 3].map((i) => `read_a(${at} + entry${i})`);
    return wide ? `read_a(${at} + entry0)` : `vec4f(${numbers.join(', ')})`;
  };
  const add = (p: number): string => `    sums += ${read(p)} * read_b(b_first + (p + ${p * team}u) * u.b_step);`;
  return defineKernel({
    name: `gemm/matvec-columns ${matvecName(params)}`,
    storage: {
      a: { access: 'read', type: inputType(input, wide) },
      b: { access: 'read', type: inputType(input, false) },
      c: { access: 'read_write', type: outputType(output, false) },
    },
    uniforms: MATVEC_UNIFORMS,
    features: featuresFor(output, false),
    code: /* wgsl */ `
${readFunction('a', input, wide)}
${readFunction('b', input, false)}
${storeFunction(output, false)}
${combineMemory(group)}

@compute @workgroup_size(${lanes * team})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
${MATVEC_PLACE}
  let member = lane / ${lanes}u;
  let row = (tile * ${lanes}u + lane % ${lanes}u) * ${MATVEC_EACH}u;
${repeat(wide ? 1 : 4, (i) => `  let entry${i} = min(row + ${i}u, u.rows - ${unit}u)${perUnit};`)}
  let a_line = u.a_ld${perUnit};
  var p = begin + member;
  var at = a_first${perUnit} + p * a_line;
  var sums = vec4f();
  for (; p + ${(UNROLL - 1) * team}u < end; p += ${UNROLL * team}u) {
${repeat(UNROLL, add)}
    at += ${UNROLL * team}u * a_line;
  }
  for (; p < end; p += ${team}u) {
${add(0)}
    at += ${team}u * a_line;
  }
${combine(group, lanes)}
${STORE_ENTRIES}
}`,
  });
});
