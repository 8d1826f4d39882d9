import { log } from '@concord/kernel';
import { ofType, type KernelTable } from '@concord/variants';
import { wgslFunction } from '../arithmetic/wgsl-arithmetic.ts';
import { defineKernel, type Kernel, mainOf, type UniformType, variants } from '../kernel.ts';
import type { DeviceTraits } from '../recorder.ts';
import { halfBits } from '../wgsl/half.wgsl.ts';
import { isSet, repeat } from '../wgsl/snippets.ts';
import {
  anySoftmaxFunctions,
  formName,
  type OutputForm,
  paramsOf,
  partsOf,
  PLACES,
  sightFunctions,
  sightUniforms,
} from './form.wgsl.ts';
import { softmaxFunctions } from './softmax.wgsl.ts';

/** Invocations in a workgroup. */
export const COMBINE_LANES = 64;

/** The parameters that distinguish the `combine` kernels. */
export interface CombineParams {
  readonly form: 'plain' | OutputForm;
  /** Writes records again; `plain` only. */
  readonly partial: boolean;
  /** True if the logarithms of the sums of exp(score) are written too; not `plain`. */
  readonly lse: boolean;
  /** Slots that are read at a time: what is on its way at once. 8 are all; always 16 for `plain`, which reads one after the other. */
  readonly atOnce: 8 | 16;
}

const UNIFORMS: Readonly<Record<string, UniformType>> = {
  ...ofType('u32', 'slots rows value_dim records_at o_at o_row'),
};
const ANY_UNIFORMS: Readonly<Record<string, UniformType>> = {
  ...UNIFORMS,
  ...ofType('u32', 'queries batch_heads o_batch o_head'),
  // Workgroups of a row.
  row_groups: 'u32',
  ...sightUniforms,
};

const LSE_UNIFORMS: Readonly<Record<string, UniformType>> = { lse_at: 'u32', lse_batch: 'u32', lse_head: 'u32' };

/**
 * Merges the outcomes of attention over parts of the keys. Each part left a record per query: the sums of weighted values,
 * the largest score, and the sum of the weights. Relative to the largest score of all parts, sums and weights add up
 * (Milakov and Gimelshein, 2018, section 3.1).
 *
 * `records` is `[slots, rows, value_dim + 2]`. The output is rows of O, or records again if `partial`. One invocation per
 * sum; where O is f16 per word of a row, of which the first and the last may hold an element of another row, too, or what
 * is none of O's: of those only the own bits are written.
 */
export const combine: (params: CombineParams) => Kernel = variants(({ form, partial, lse, atOnce }: CombineParams) =>
  defineKernel({
    name: `attention/combine${formName(form, partial)}${lse ? ' with sums' : ''}${atOnce === 8 ? ' of few' : ''}`,
    storage: {
      records: { access: 'read', type: 'array<f32>' },
      ...(form === 'plain' ? {} : PLACES),
      ...(lse ? { lse: { access: 'read_write', type: 'array<f32>' } as const } : {}),
      o: { access: 'read_write', type: form === 'f16' ? 'array<atomic<u32>>' : 'array<f32>' },
    },
    uniforms: form === 'plain' ? UNIFORMS : lse ? { ...ANY_UNIFORMS, ...LSE_UNIFORMS } : ANY_UNIFORMS,
    params: paramsOf(form),
    code:
      form === 'plain' ? plainCode(partial) : form === 'f32' ? codeOfElements(atOnce, lse) : codeOfWords(atOnce, lse),
  }),
);

/** This many slots are read all at once. */
const FEW = 8;

/** The number of slots, of a given number, that `combine` reads at a time. */
export const slotsAtOnce = (form: CombineParams['form'], slots: number): 8 | 16 =>
  form !== 'plain' && slots <= FEW ? FEW : 16;

const START = /* wgsl */ `
${mainOf(COMBINE_LANES)}
  let group = group_index(id, grid);`;

/** WGSL: the row of a workgroup, and which of its numbers or words is the invocation's; the last ones may have none. */
const PLACE_IN_ROW = /* wgsl */ `
  let row = parts_of(group, u.row_groups);
  let place = (group - row * u.row_groups) * ${COMBINE_LANES}u + lane;
  if (row >= u.rows) { return; }`;

const LARGEST = /* wgsl */ `
  var largest = LOWEST;
  for (var slot = 0u; slot < u.slots; slot++) {
    largest = larger(largest, records[u.records_at + (slot * u.rows + row) * record + u.value_dim]);
  }`;

/**
 * WGSL: `total` and the sums of some columns, each declared before, for rows of any call: `atOnce` slots at a time, and
 * online as the softmax is. Beyond the last slot it is the last again, with weight 0.
 */
function sumSlots(atOnce: number, columns: readonly { readonly sum: string; readonly column: string }[]): string {
  const sums = (line: (sum: string, column: string) => string): string =>
    columns.map(({ sum, column }) => line(sum, column)).join('\n');
  const all = atOnce === FEW;
  const read = repeat(
    atOnce,
    (i) => `    let at${i} = u.records_at + (min(slot + ${i}u, u.slots - 1u) * u.rows + row) * record;
    let largest${i} = records[at${i} + u.value_dim];
    let total${i} = records[at${i} + u.value_dim + 1u];
${sums((sum, column) => `    let ${sum}${i} = records[at${i} + ${column}];`)}`,
  );
  const rescale = `    let factor = exponential(largest - now);
    largest = now;
    total *= factor;
${sums((sum) => `    ${sum} *= factor;`)}`;
  return /* wgsl */ `
  var largest = LOWEST;
  var total = 0.0;
${all ? '  {\n    const slot = 0u;' : `  for (var slot = 0u; slot < u.slots; slot += ${atOnce}u) {`}
${read}
    var now = largest;
${repeat(atOnce, (i) => `    now = larger(now, largest${i});`)}
${all ? '    largest = now;' : rescale}
${repeat(
  atOnce,
  // No branches: these exponentials are computed side by side.
  (i) => `    let is_slot${i} = slot + ${i}u < u.slots;
    let factor${i} = exponential(largest${i} - now);
    total += select(0.0, factor${i} * total${i}, is_slot${i});
${sums((sum) => `    ${sum} += select(0.0, factor${i} * ${sum}${i}, is_slot${i});`)}`,
)}
  }`;
}

/** WGSL: where a row of O begins. */
const ROW_START = /* wgsl */ `
  let head = parts_of(row, u.queries);
  let query = row - head * u.queries;
  let batch = parts_of(head, u.batch_heads);
  let at = u.o_at + batch * u.o_batch + (head - batch * u.batch_heads) * u.o_head + query * u.o_row;`;

/** WGSL: the function that {@link storeLse} needs, and the store by the first invocation of a row. */
const lseFunction = (lse: boolean): string => (lse ? wgslFunction('natural_logarithm', log) : '');
const storeLse = (lse: boolean): string =>
  lse
    ? `
  if (place == 0u) {
    let lse_row = u.lse_at + batch * u.lse_batch + (head - batch * u.batch_heads) * u.lse_head + query;
    lse[lse_row] = largest + natural_logarithm(total);
  }`
    : '';

const plainCode = (partial: boolean): string => /* wgsl */ `
${softmaxFunctions}
${START}
  let index = group * ${COMBINE_LANES}u + lane;
  let row = index / u.value_dim;
  let d = index % u.value_dim;
  if (row >= u.rows) { return; }
  let record = u.value_dim + 2u;
${LARGEST}
  var sum = 0.0;
  var total = 0.0;
  for (var slot = 0u; slot < u.slots; slot++) {
    let at = u.records_at + (slot * u.rows + row) * record;
    let factor = exponential(records[at + u.value_dim] - largest);
    sum += factor * records[at + d];
    total += factor * records[at + u.value_dim + 1u];
  }

  let at = u.o_at + row * u.o_row;
  ${
    partial
      ? `o[at + d] = sum;
  if (d == 0u) {
    o[at + u.value_dim] = largest;
    o[at + u.value_dim + 1u] = total;
  }`
      : 'o[at + d] = quotient(sum, total);'
  }
}`;

const codeOfElements = (atOnce: number, lse: boolean): string => /* wgsl */ `
${anySoftmaxFunctions('f32')}
${lseFunction(lse)}
${isSet}
${partsOf}
${sightFunctions}
${START}
${PLACE_IN_ROW}
  let d = place;
  if (d >= u.value_dim) { return; }
  let record = u.value_dim + 2u;
  var sum = 0.0;${sumSlots(atOnce, [{ sum: 'sum', column: 'd' }])}
${ROW_START}${storeLse(lse)}
  o[at + d] = quotient(sum, finished_total(sight_of(head), total, query));
}`;

const codeOfWords = (atOnce: number, lse: boolean): string => /* wgsl */ `
${anySoftmaxFunctions('f32')}
${lseFunction(lse)}
${halfBits}
${isSet}
${partsOf}
${sightFunctions}
${START}
${PLACE_IN_ROW}
  let record = u.value_dim + 2u;
${ROW_START}
  let word = at / 2u + place;
  // Columns of the two halves; the first of a row may begin with the upper one.
  let low = i32(2u * word) - i32(at);
  let has_low = (low >= 0) & (low < i32(u.value_dim));
  let has_high = low + 1 < i32(u.value_dim);
  if (!(has_low | has_high)) { return; }
  let low_at = select(0u, u32(low), has_low);
  let high_at = select(0u, u32(low + 1), has_high);
  var low_sum = 0.0;
  var high_sum = 0.0;${sumSlots(atOnce, [
    { sum: 'low_sum', column: 'low_at' },
    { sum: 'high_sum', column: 'high_at' },
  ])}
${storeLse(lse).slice(1)}
  let finished = finished_total(sight_of(head), total, query);
  let low_bits = half_bits(quotient(low_sum, finished), u.zero);
  let high_bits = half_bits(quotient(high_sum, finished), u.zero) << 16u;
  if (has_low & has_high) {
    atomicStore(&o[word], low_bits | high_bits);
  } else if (has_low) {
    atomicAnd(&o[word], 0xffff0000u);
    atomicOr(&o[word], low_bits);
  } else {
    atomicAnd(&o[word], 0xffffu);
    atomicOr(&o[word], high_bits);
  }
}`;

/** {@link combine}, for records of every table. */
export const combineTable: KernelTable<DeviceTraits, Kernel> = {
  ids: [],
  kernelsFor: () => [
    combine({ form: 'plain', partial: true, lse: false, atOnce: 16 }),
    ...(['plain', 'f32', 'f16'] as const).flatMap((form) =>
      (form === 'plain' ? [false] : [false, true]).flatMap((lse) =>
        [16 as const, slotsAtOnce(form, 1)].map((atOnce) => combine({ form, partial: false, lse, atOnce })),
      ),
    ),
  ],
};
