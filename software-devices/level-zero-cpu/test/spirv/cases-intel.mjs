// @ts-check
// The built-ins of Intel's matrix engines where sums are rounded, in several sub-groups a group. That each is there, and blocks of
// memory, is what the features of spirv-builder show.
import { moduleText } from './module.mjs';
import { fromHalf, toHalf } from './values.mjs';

const SUBGROUPS = 3;
const DEPTH = 16;
const ROWS = 8;
const blocks = {
  capabilities: ['SubgroupDispatch', 'SubgroupBufferBlockIOINTEL'],
  extensions: ['SPV_INTEL_subgroups'],
};
const ramp = (/** @type {number} */ count) => Array.from({ length: count }, (_, at) => at);

/** A pointer to the share of this sub-group: that many elements for each. */
const share = (
  /** @type {string} */ name,
  /** @type {string} */ type,
  /** @type {number} */ at,
  /** @type {number} */ each,
) => `
      %${name}_first = OpIMul %i32 %subgroup #i32:${each}
      %${name} = OpInBoundsPtrAccessChain %pg_${type} %p${at} %${name}_first`;

/** Sums of products of these are rounded, and differ with the order of the additions. */
const rough = [1.5, -0.0999755859375, 3072, 0.00006103515625, -7.25, 0, 2 ** -24, -1023.5, 100.0625];
const limits = [65504, -65504, 2 ** -14, -(2 ** -24), 1, -0, 0.5, 3];
const special = [1, 2, Infinity, 0, -1, NaN, -Infinity, 4, 8, 16, 32];

/** Parts of a module that has a built-in. @param {8 | 16} lanes */
export function importOf(lanes) {
  const a = lanes === DEPTH ? 'v8i16' : 'v8i32';
  const name = `_Z38intel_sub_group_f16_f16_matrix_mad_k16${lanes === DEPTH ? 'Dv8_sDv8_iDv8_f' : 'Dv8_iS_Dv8_f'}`;
  return {
    name,
    declare: `%multiply_type = OpTypeFunction %v8f32 %${a} %v8i32 %v8f32`,
    decorate: `OpDecorate %multiply LinkageAttributes "${name}" Import`,
    functions: `
      %multiply = OpFunction %v8f32 None %multiply_type
      %multiply_a = OpFunctionParameter %${a}
      %multiply_b = OpFunctionParameter %v8i32
      %multiply_c = OpFunctionParameter %v8f32
      OpFunctionEnd`,
    modes: `OpExecutionMode %main SubgroupSize ${lanes}\nOpName %multiply_a "a"`,
  };
}

/** @param {8 | 16} lanes @param {string} what @param {number[]} numbers */
function multiply(lanes, what, numbers) {
  const parts = importOf(lanes);
  const counts = { a: ROWS * DEPTH, b: DEPTH * lanes, c: ROWS * lanes };
  const draw = (/** @type {number} */ at) => fromHalf(toHalf(numbers[at % numbers.length] ?? 0));
  const a = ramp(SUBGROUPS * counts.a).map((at) => draw(5 * at + Math.floor(at / 7)));
  // Two rows side by side.
  const b = ramp(SUBGROUPS * counts.b).map((at) => draw(3 * at + Math.floor(at / 5)));
  const c = ramp(SUBGROUPS * counts.c).map((at) => at / 8 - 9);
  const sums = c.map((start, at) => {
    const subgroup = Math.floor(at / counts.c);
    const [row, column] = [Math.floor((at % counts.c) / lanes), at % lanes];
    const products = ramp(DEPTH).map((k) => {
      const factor = a[subgroup * counts.a + row * DEPTH + k] ?? 0;
      return factor * (b[subgroup * counts.b + Math.floor(k / 2) * 2 * lanes + 2 * column + (k % 2)] ?? 0);
    });
    return [...products, ...products].reduce((sum, product) => Math.fround(sum + product), start);
  });
  const width = lanes === DEPTH ? 'i16' : 'i32';
  return {
    name: `matrices of ${what}: sub-groups of ${lanes}`,
    version: '1.1',
    text: moduleText({
      ...blocks,
      ...parts,
      parameters: [`pg_${width}`, 'pg_i32', 'pg_i32'],
      body: `
      %subgroup = OpLoad %i32 %builtin_SubgroupId
      ${share('from_a', width, 0, lanes === DEPTH ? counts.a : counts.a / 2)}
      ${share('from_b', 'i32', 1, counts.b / 2)}
      ${share('from_c', 'i32', 2, counts.c)}
      %own_a = OpSubgroupBlockReadINTEL %v8${width} %from_a
      %own_b = OpSubgroupBlockReadINTEL %v8i32 %from_b
      %bits_c = OpSubgroupBlockReadINTEL %v8i32 %from_c
      %own_c = OpBitcast %v8f32 %bits_c
      %once = OpFunctionCall %v8f32 %multiply %own_a %own_b %own_c
      %result = OpFunctionCall %v8f32 %multiply %own_a %own_b %once
      %bits = OpBitcast %v8i32 %result
      OpSubgroupBlockWriteINTEL %from_c %bits`,
    }),
    args: [
      { type: 'f16', values: a },
      { type: 'f16', values: b },
      { type: 'f32', values: c },
    ],
    size: [SUBGROUPS * lanes, 1, 1],
    expected: [{ arg: 2, values: sums }],
  };
}

const unused = importOf(16);

export const intel = [
  multiply(8, 'rounded sums', rough),
  multiply(16, 'rounded sums', rough),
  multiply(8, 'large and small halves', limits),
  multiply(16, 'infinities', special),
  {
    name: 'an import that is never called',
    version: '1.1',
    text: moduleText({
      ...unused,
      functions: unused.functions.slice(0, unused.functions.indexOf('OpFunctionEnd') + 'OpFunctionEnd'.length),
      capabilities: ['SubgroupDispatch'],
      parameters: ['pg_i32'],
      body: 'OpStore %p0 #i32:7 Aligned 4',
    }),
    args: [{ type: 'i32', values: [0] }],
    size: [16, 1, 1],
    expected: [{ arg: 0, values: [7] }],
  },
];
