import type { WeightForm } from '@concord/variants';
import { type FloatDType, WEIGHT_BITS } from '@concord/backend-core';
import { mainOf } from '../kernel.ts';
import { repeat, storeC } from '../wgsl/snippets.ts';
import { SUBGROUP, UNIT, VECTOR } from './matrix-tile.ts';
import { MATVEC_PLACE } from './matvec.wgsl.ts';
import { type ProductKernel, productKernel } from './product-kernel.ts';
import { outputType, storeFunction } from './storage-formats.ts';
import { decodedWord, integerConstants, scaledWeight } from './integer-words.wgsl.ts';
import { blockFunctions, blockStorage, WEIGHT_UNIFORMS } from './weight-rows.wgsl.ts';

/** The parameters that distinguish the kernels of few rows on matrix units. A is f16. */
export interface WeightUnitsParams extends WeightForm {
  readonly weights: 'u8' | 'u4';
  readonly output: FloatDType;
  /** Subgroups of a workgroup, which take turns along k. */
  readonly subgroups: 2 | 8;
}

/** Elements of a row of B that an invocation decodes at a time, and terms of a step of a subgroup. */
export const UNITS_EACH = 32;
export const UNITS_STEP: number = 2 * UNITS_EACH;
/** Vectors of a row of a step in workgroup memory: one is free, so that rows begin in different banks. */
const LINE = UNITS_STEP / VECTOR + 1;
/** Bytes of workgroup memory. */
export const unitsBytes = (subgroups: number): number => 2 * subgroups * UNIT * LINE * 16;

/**
 * `C = alpha A B^T + beta C` for up to {@link UNIT} rows of A in f16 and integers as B, on the matrix units of the GPU. A workgroup
 * computes {@link UNIT} columns. Each of its subgroups decodes its share of k, {@link UNITS_STEP} terms at a time, to f16 in workgroup
 * memory, and brings A there too; what comes next is read from memory meanwhile. The subgroups' sums are added up at the end.
 */
export const weightUnits: ProductKernel<WeightUnitsParams> = productKernel('gemm/weight-units', (params, epilogue) => {
  const { weights, scales, zeros, output, subgroups } = params;
  const invocations = subgroups * SUBGROUP;
  const bits = WEIGHT_BITS[weights];
  const vectors = (UNITS_EACH * bits) / 128;
  const words = UNITS_EACH / VECTOR;
  /** Vector `v` of eight elements of what was read. */
  const eight = (v: number): string => {
    const zero = zeros === 'own' ? 'z' : 'u.zero_of_all';
    const word = (at: number): string => `next${Math.floor(at / 4)}[${at % 4}]`;
    const own = weights === 'u4' ? [word(v)] : [word(2 * v), word(2 * v + 1)];
    const [low, high] = own.flatMap((each) => decodedWord(weights, each, zero));
    return `      {
        let low = ${scaledWeight(zeros, low as string)};
        let high = ${scaledWeight(zeros, high as string)};
        strips[subgroup][at + ${v}u] = vec4u(pack2x16float(low.xy), pack2x16float(low.zw), pack2x16float(high.xy), pack2x16float(high.zw));
      }`;
  };
  const read = /* wgsl */ `
${repeat(vectors, (v) => `    next${v} = a[row_at + p * ${vectors}u + ${v}u];`)}
    s = scales_at(s_row + (p >> u.block_shift) * u.s_block);
${zeros === 'one' ? '' : '    z = zeros_at(z_row + (p >> u.block_shift) * u.z_block);'}
${repeat(words, (v) => `    x${v} = b[x_at + p * ${words}u + ${v}u];`)}`;
  const place = epilogue === undefined ? [] : ['batch', 'line', 'column'];
  const checks = ['line < u.lines', 'column < u.rows'];
  return {
    name: `gemm/weight-units f16-${output} ${weights} ${scales} ${zeros} by ${subgroups}`,
    storage: {
      a: { access: 'read', type: 'array<vec4u>' },
      b: { access: 'read', type: 'array<vec4u>' },
      ...blockStorage(params),
      c: { access: 'read_write', type: outputType(output, false) },
    },
    uniforms: WEIGHT_UNIFORMS,
    features: ['f16', 'subgroups', 'chromium_experimental_subgroup_matrix'],
    silenced: ['chromium.subgroup_matrix_uniformity'],
    code: /* wgsl */ `
${storeFunction(output, false, epilogue)}
${blockFunctions(params)}
// Of each subgroup the columns of B, then those of all the rows of A.
var<workgroup> strips: array<array<vec4u, ${UNIT * LINE}>, ${2 * subgroups}>;

${mainOf(invocations)}
${MATVEC_PLACE}
  let subgroup = lane / ${SUBGROUP}u;
  let own = (lane % ${SUBGROUP}u) / 2u;
  let half = lane % 2u;
  let row = min(tile * ${UNIT}u + own, u.rows - 1u);
  let row_at = a_first * ${vectors}u + row * u.a_ld * ${vectors}u;
  let s_row = u.s_start + batch * u.s_batch + row * u.s_row;
${zeros === 'one' ? '' : '  let z_row = u.z_start + batch * u.z_batch + row * u.z_row;'}
  let x_at = (b_first + min(own, u.lines - 1u) * u.b_ld) / ${VECTOR}u;
  let at = own * ${LINE}u + half * ${words}u;
  var sums = subgroup_matrix_result<f32, ${UNIT}, ${UNIT}>();
${repeat(vectors, (v) => `  var next${v}: vec4u;`)}
${repeat(words, (v) => `  var x${v}: vec4u;`)}
  var s: f32;
${zeros === 'one' ? '' : '  var z: f32;'}
${integerConstants(weights)}
  let first_step = begin / ${UNITS_STEP}u;
  let last_step = end / ${UNITS_STEP}u;
  var p = 2u * min(first_step + subgroup, last_step - 1u) + half;
  {
${read}
  }
  for (var step = first_step; step < last_step; step += ${subgroups}u) {
${repeat(words, eight)}
${repeat(words, (v) => `    strips[${subgroups}u + subgroup][at + ${v}u] = x${v};`)}
    p = 2u * min(step + ${subgroups}u + subgroup, last_step - 1u) + half;
${read}
    workgroupBarrier();
    if (step + subgroup < last_step) {
${repeat(UNITS_STEP / UNIT, (q) => {
  const load = (side: 'left' | 'right', major: 'row' | 'col', strip: string): string =>
    `subgroupMatrixLoad<subgroup_matrix_${side}<f16, ${UNIT}, ${UNIT}>, ${major}_major>(&strips[${strip}], ${2 * q}u, ${LINE}u)`;
  return `      sums = subgroupMatrixMultiplyAccumulate(${load('left', 'row', `${subgroups}u + subgroup`)}, ${load('right', 'col', 'subgroup')}, sums);`;
})}
    }
    workgroupBarrier();
  }
  subgroupMatrixStore<row_major>(&strips[subgroup], 0u, sums, ${UNIT / 4}u);
  workgroupBarrier();
  for (var entry = lane; entry < ${UNIT * UNIT}u; entry += ${invocations}u) {
    let line = entry / ${UNIT}u;
    let column = tile * ${UNIT}u + entry % ${UNIT}u;
    let total = ${Array.from({ length: subgroups }, (_, each) => `bitcast<vec4f>(strips[${each}u][entry / 4u])[entry % 4u]`).join(' + ')};
    ${storeC({ by: 'store_c', at: 'c_first + line * u.c_ld + column', place, acc: 'total', checks })}
  }
}`,
  };
});
