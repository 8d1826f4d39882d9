import { withEpilogue } from '../epilogue/epilogue-code.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { kernelOfGraph } from '../run/kernels-of-graph.ts';
import { repeat } from '../wgsl/repeat.ts';
import {
  combine,
  combineMemory,
  MATVEC_EACH,
  MATVEC_PLACE,
  MATVEC_UNIFORMS,
  type MatvecEpilogue,
  matvecName,
  type MatvecParams,
  storeEntries,
} from './matvec-kernel.ts';
import { featuresFor, inputType, outputType, readFunction } from './storage-formats.ts';

/** The parameters that distinguish these kernels. */
export interface MatvecColumnsParams extends MatvecParams {
  /** Terms of an invocation that are on their way at once. */
  readonly atOnce: 4 | 8 | 12;
}

/**
 * `y = alpha M x + beta y` where the neighbours of a *column* of M are neighbours in memory (`a` holds M by columns): a gemm
 * with m = 1, or with n = 1 and A transposed.
 *
 * An invocation has four neighbouring entries of y and goes down k; the lanes of a workgroup lie beside each other, so
 * that they read neighbouring memory. The members of a team take turns along k, and their sums are combined in workgroup
 * memory. On a device where barriers are dear a team is a single invocation.
 */
export const matvecColumns: (params: MatvecColumnsParams) => Kernel = variants((params: MatvecColumnsParams) =>
  matvecColumnsKernel(params),
);

/** {@link matvecColumns} with an epilogue in it. */
export function matvecColumnsWith(params: MatvecColumnsParams, epilogue: MatvecEpilogue): Kernel {
  const { spec, isRow } = epilogue;
  return kernelOfGraph('gemm/matvec-columns', { ...spec, ...params, isRow }, () =>
    matvecColumnsKernel(params, epilogue),
  );
}

function matvecColumnsKernel(params: MatvecColumnsParams, epilogue?: MatvecEpilogue): Kernel {
  const { input, output, wide, wideResult, group, atOnce } = params;
  const { lanes, team } = group;
  const { functions, loads, store } = storeEntries(params, epilogue);
  const unit = wide ? 4 : 1;
  const perUnit = wide ? ' / 4u' : '';
  const read = (at: string): string => {
    const numbers = [0, 1, 2, 3].map((i) => `read_a(${at} + entry${i})`);
    return wide ? `read_a(${at} + entry0)` : `vec4f(${numbers.join(', ')})`;
  };
  const add = (p: number): string =>
    `    sums += ${read(`at + ${p * team}u * a_line`)} * read_b(b_first + (p + ${p * team}u) * u.b_step);`;
  // Beyond the end the last term is read again, and not used.
  const readLast = (p: number): string => `    let p${p} = min(p + ${p * team}u, end - 1u);
    let entries${p} = ${read(`a_first${perUnit} + p${p} * a_line`)};
    let term${p} = read_b(b_first + p${p} * u.b_step);`;
  const addLast = (p: number): string => `    sums += select(vec4f(), entries${p} * term${p}, p + ${p * team}u < end);`;
  return defineKernel(
    withEpilogue(epilogue?.spec, {
      name: `gemm/matvec-columns ${matvecName(params)} by ${atOnce}`,
      storage: {
        a: { access: 'read', type: inputType(input, wide) },
        b: { access: 'read', type: inputType(input, false) },
        c: { access: 'read_write', type: outputType(output, wideResult) },
      },
      uniforms: MATVEC_UNIFORMS,
      features: featuresFor(output, wideResult),
      code: /* wgsl */ `
${readFunction('a', input, wide)}
${readFunction('b', input, false)}
${functions}
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
${loads}
  let a_line = u.a_ld${perUnit};
  var p = begin + member;
  var at = a_first${perUnit} + p * a_line;
  var sums = vec4f();
  for (; p + ${(atOnce - 1) * team}u < end; p += ${atOnce * team}u) {
${repeat(atOnce, add)}
    at += ${atOnce * team}u * a_line;
  }
  for (; p < end; p += ${atOnce * team}u) {
${repeat(atOnce, readLast)}
${repeat(atOnce, addLast)}
  }
${combine(group, lanes)}
${store}
}`,
    }),
  );
}
