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

/** Vectors of each row per iteration of the loop: those of binary16 are half as long. */
const UNROLL = { f32: 2, f16: 4 };

/**
 * `y = alpha M x + beta y` where the neighbours of a row of M are neighbours in memory: a gemm with n = 1, or with m = 1 and
 * B transposed.
 *
 * A team of invocations computes four rows, so that it reads x once for them. Its members take turns along k, by vectors
 * of four if `wide`, so that they read neighbouring memory. The sums of the team are then combined in workgroup memory, the
 * four rows as one vector. On a device where barriers are dear a team is a single invocation.
 */
export const matvecRows: (params: MatvecParams) => Kernel = variants((params: MatvecParams) =>
  matvecRowsKernel(params),
);

/** {@link matvecRows} with an epilogue in it. */
export function matvecRowsWith(params: MatvecParams, epilogue: MatvecEpilogue): Kernel {
  const { spec, isRow } = epilogue;
  return kernelOfGraph('gemm/matvec-rows', { ...spec, ...params, isRow }, () => matvecRowsKernel(params, epilogue));
}

function matvecRowsKernel(params: MatvecParams, epilogue?: MatvecEpilogue): Kernel {
  const { input, output, wide, wideResult, group } = params;
  const { lanes, team } = group;
  const { functions, loads, store } = storeEntries(params, epilogue);
  const unroll = UNROLL[input];
  const type = wide ? 'vec4f' : 'f32';
  const perUnit = wide ? ' / 4u' : '';
  const add = (t: number): string => {
    const at = `p + ${t * team}u`;
    return `    {
      let x = read_b(x_first + ${wide ? at : `(${at}) * u.b_step`});
${repeat(MATVEC_EACH, (i) => `      sum${i} += read_a(row${i} + ${at}) * x;`)}
    }`;
  };
  const total = (i: number): string => (wide ? `(sum${i}.x + sum${i}.y) + (sum${i}.z + sum${i}.w)` : `sum${i}`);
  return defineKernel(
    withEpilogue(epilogue?.spec, {
      name: `gemm/matvec-rows ${matvecName(params)}`,
      storage: {
        a: { access: 'read', type: inputType(input, wide) },
        b: { access: 'read', type: inputType(input, wide) },
        c: { access: 'read_write', type: outputType(output, wideResult) },
      },
      uniforms: MATVEC_UNIFORMS,
      features: featuresFor(output, wideResult),
      code: /* wgsl */ `
${readFunction('a', input, wide)}
${readFunction('b', input, wide)}
${functions}
${combineMemory(group)}

@compute @workgroup_size(${lanes * team})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
${MATVEC_PLACE}
  let member = lane % ${team}u;
  let row = (tile * ${lanes}u + lane / ${team}u) * ${MATVEC_EACH}u;
${repeat(MATVEC_EACH, (i) => `  let row${i} = (a_first + min(row + ${i}u, u.rows - 1u) * u.a_ld)${perUnit};`)}
${repeat(MATVEC_EACH, (i) => `  var sum${i} = ${type}();`)}
${loads}
  let x_first = b_first${perUnit};
  let last = end${perUnit};
  var p = begin${perUnit} + member;
  for (; p + ${(unroll - 1) * team}u < last; p += ${unroll * team}u) {
${repeat(unroll, add)}
  }
  for (; p < last; p += ${team}u) {
${add(0)}
  }
  var sums = vec4f(${[0, 1, 2, 3].map(total).join(', ')});
${combine(group, 1)}
${store}
}`,
    }),
  );
}
