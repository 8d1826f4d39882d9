// @ts-check
// What Intel's GPUs have: blocks of memory of a sub-group, and the built-ins of matrix engines. Several sub-groups a group.
import { moduleText } from './module.mjs';
import { fromHalf, toHalf } from './values.mjs';

const SUBGROUPS = 3;
const DEPTH = 16;
const blocks = {
  capabilities: ['SubgroupDispatch', 'SubgroupBufferBlockIOINTEL'],
  extensions: ['SPV_INTEL_subgroups'],
};
const ramp = (/** @type {number} */ count) => Array.from({ length: count }, (_, at) => at);
const vector = (/** @type {string} */ type, /** @type {number} */ count) => (count === 1 ? type : `v${count}${type}`);

/** A pointer to the share of this sub-group: that many elements for each. */
const share = (
  /** @type {string} */ name,
  /** @type {string} */ type,
  /** @type {number} */ at,
  /** @type {number} */ each,
) => `
      %${name}_first = OpIMul %i32 %subgroup #i32:${each}
      %${name} = OpInBoundsPtrAccessChain %pg_${type} %p${at} %${name}_first`;

/** @param {number} lanes @param {string} type @param {number} count */
function copy(lanes, type, count) {
  const length = lanes * count;
  const values = ramp(SUBGROUPS * length).map((at) => at + 100);
  const own = `v = OpSubgroupBlockReadINTEL %${vector(type, count)} %from`;
  return {
    name: `blocks of ${count} x ${type} in sub-groups of ${lanes}`,
    version: '1.1',
    text: moduleText({
      ...blocks,
      parameters: [`pg_${type}`, `pg_${type}`],
      modes: `OpExecutionMode %main SubgroupSize ${lanes}`,
      // Doubled, so that memory shows more than that it was moved.
      body: `
      %subgroup = OpLoad %i32 %builtin_SubgroupId ${share('from', type, 0, length)} ${share('to', type, 1, length)}
      %${own}
      %twice = OpIAdd %${vector(type, count)} %v %v
      OpSubgroupBlockWriteINTEL %to %twice`,
    }),
    args: [
      { type, values },
      { type, values: values.map(() => 0) },
    ],
    groups: [1, 1, 1],
    size: [SUBGROUPS * lanes, 1, 1],
    expected: [{ arg: 1, values: values.map((value) => 2 * value) }],
  };
}

/** Sums of products of these are rounded, and differ with the order of the additions. */
const rough = [1.5, -0.0999755859375, 3072, 0.00006103515625, -7.25, 0, 2 ** -24, -1023.5, 100.0625];
const limits = [65504, -65504, 2 ** -14, -(2 ** -24), 1, -0, 0.5, 3];
const special = [1, 2, Infinity, 0, -1, NaN, -Infinity, 4, 8, 16, 32];

const TYPES = {
  8: { 1: 'iDv8_if', 2: 'Dv2_iDv8_iDv2_f', 4: 'Dv4_iDv8_iDv4_f', 8: 'Dv8_iS_Dv8_f' },
  16: { 1: 'sDv8_if', 2: 'Dv2_sDv8_iDv2_f', 4: 'Dv4_sDv8_iDv4_f', 8: 'Dv8_sDv8_iDv8_f' },
};

/** Parts of a module that has a built-in. @param {8 | 16} lanes @param {1 | 2 | 4 | 8} rows */
export function importOf(lanes, rows) {
  const [a, c] = [vector(lanes === DEPTH ? 'i16' : 'i32', rows), vector('f32', rows)];
  const name = `_Z38intel_sub_group_f16_f16_matrix_mad_k16${TYPES[lanes][rows]}`;
  return {
    name,
    types: { a, c },
    declare: `%multiply_type = OpTypeFunction %${c} %${a} %v8i32 %${c}`,
    decorate: `OpDecorate %multiply LinkageAttributes "${name}" Import`,
    functions: `
      %multiply = OpFunction %${c} None %multiply_type
      %multiply_a = OpFunctionParameter %${a}
      %multiply_b = OpFunctionParameter %v8i32
      %multiply_c = OpFunctionParameter %${c}
      OpFunctionEnd`,
    modes: `OpExecutionMode %main SubgroupSize ${lanes}\nOpName %multiply_a "a"`,
  };
}

/** @param {8 | 16} lanes @param {1 | 2 | 4 | 8} rows @param {string} what @param {number[]} numbers */
function multiply(lanes, rows, what, numbers) {
  const { types, ...parts } = importOf(lanes, rows);
  const counts = { a: rows * DEPTH, b: DEPTH * lanes, c: rows * lanes };
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
    name: `matrices of ${what}: ${rows} rows, sub-groups of ${lanes}`,
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
      %own_a = OpSubgroupBlockReadINTEL %${types.a} %from_a
      %own_b = OpSubgroupBlockReadINTEL %v8i32 %from_b
      %bits_c = OpSubgroupBlockReadINTEL %${vector('i32', rows)} %from_c
      %own_c = OpBitcast %${types.c} %bits_c
      %once = OpFunctionCall %${types.c} %multiply %own_a %own_b %own_c
      %result = OpFunctionCall %${types.c} %multiply %own_a %own_b %once
      %bits = OpBitcast %${vector('i32', rows)} %result
      OpSubgroupBlockWriteINTEL %from_c %bits`,
    }),
    args: [
      { type: 'f16', values: a },
      { type: 'f16', values: b },
      { type: 'f32', values: c },
    ],
    groups: [1, 1, 1],
    size: [SUBGROUPS * lanes, 1, 1],
    expected: [{ arg: 2, values: sums }],
  };
}

const unused = importOf(16, 4);

export const intel = [
  copy(8, 'i32', 4),
  copy(16, 'i16', 8),
  copy(32, 'i16', 1),
  copy(32, 'i32', 2),
  ...[8, 16].flatMap((lanes) =>
    [1, 2, 4, 8].map((rows) =>
      multiply(/** @type {8 | 16} */ (lanes), /** @type {1 | 2 | 4 | 8} */ (rows), 'rounded sums', rough),
    ),
  ),
  multiply(8, 8, 'large and small halves', limits),
  multiply(16, 8, 'large and small halves', limits),
  multiply(8, 4, 'infinities', special),
  multiply(16, 2, 'infinities', special),
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
    groups: [1, 1, 1],
    size: [16, 1, 1],
    expected: [{ arg: 0, values: [7] }],
  },
];
