import { shapeOf } from '@concord/variants';
import { defineKernel, type Kernel, mainOf, variants } from '../kernel.ts';
import { repeat } from '../wgsl/snippets.ts';
import {
  attentionFunctions,
  attentionInterface,
  elementAt,
  type Form,
  formName,
  headOf,
  rowOf,
  sightArgument,
  sightOfHead,
  storageOf,
  totalOf,
  uniformsOf,
} from './form.wgsl.ts';
import { type AttentionTable, formsOf, groupsOf, rowsOfFloats } from './table.ts';

/** The parameters that distinguish the `direct` kernels. */
interface DirectParams {
  /** Neighbouring queries that an invocation computes, at most {@link MAX_QUERIES}. */
  readonly queries: number;
  /** Always true of a form that is not `plain`. */
  readonly causal: boolean;
  /** `f16` only where records are written. */
  readonly form: Form;
  /** Writes records for `combine` instead of rows of O. */
  readonly partial: boolean;
}

/** Invocations in a workgroup. */
const DIRECT_LANES = 16;

/** Largest block of queries. */
const MAX_QUERIES = 8;

/** Keys per iteration of the loop. */
const KEYS = 8;

/**
 * The maximum number of keys for which the loops of a block take at most that many iterations; less than 1 if there are none.
 *
 * @param columns - of Q or of V, whichever has more
 */
export function directKeys(columns: number, iterations: number): number {
  const iterationsPerColumns = columns + 1;
  // The end of the loop over the keys, and the loops that finish the rows.
  const others = 3 + MAX_QUERIES * iterationsPerColumns;
  return KEYS * Math.floor((iterations - others) / (1 + 2 * iterationsPerColumns));
}

/**
 * softmax(scale * Q K^T) V for a block of neighbouring queries of one head per invocation, without workgroup memory: for
 * devices whose shaders run on the CPU, where barriers and loads are expensive.
 *
 * Q and O are `[heads, queries, head_dim]`, K and V `[heads, keys, head_dim]`, as far as the window reaches; any head_dim.
 * Blocks are numbered by head and block of queries, {@link DIRECT_LANES} to a workgroup. Per iteration of the loop, a block
 * meets 8 keys: a tile of scores in registers, then the online softmax, then for each column of O the sum of the 8
 * weighted values is added to what O holds, which is the sum over the keys before. So O is scaled to the largest score so
 * far until the end, when it is divided by the sum of the weights.
 */
const direct: (params: DirectParams) => Kernel = variants((params: DirectParams) => {
  const { queries, causal, form, partial } = params;
  const isPlain = form === 'plain';
  const s = sightArgument(form);
  // Without the mask, only keys beyond the last are hidden, and from all queries alike.
  const isVisible = (i: number, j: number): string => {
    if (!isPlain) return `(key + ${j}u >= first${i}) & (key + ${j}u < visible${i})`;
    return `key + ${j}u < ${causal ? `visible${i}` : 'end'}`;
  };
  const score = (i: number, j: number): string =>
    isPlain ? `u.scale * w${i}_${j}` : `finish_score(u.scale * w${i}_${j}, mask_row${i}, key + ${j}u)`;
  const kRow = isPlain ? (j: number): string => `row${j}` : (j: number): string => `k_row${j}`;
  const start = isPlain ? '0u' : 'begin';
  const terms = (i: number): string => Array.from({ length: KEYS }, (_, j) => `w${i}_${j} * v${j}`).join(' + ');

  const scores = `
${repeat(queries, (i) => repeat(KEYS, (j) => `    var w${i}_${j} = 0.0;`))}
    for (var d = 0u; d < head_dim; d++) {
${repeat(queries, (i) => `      let q${i} = ${elementAt(form, 'q', `q${i}_at + d`)};`)}
${repeat(KEYS, (j) => `      let k${j} = ${elementAt(form, 'k', `k_head + ${kRow(j)} + d`)};`)}
${repeat(queries, (i) => repeat(KEYS, (j) => `      w${i}_${j} += q${i} * k${j};`))}
    }`;

  const weights = repeat(
    queries,
    (i) => `    var now${i} = largest${i};
${repeat(
  KEYS,
  (j) => `    w${i}_${j} = select(LOWEST, ${score(i, j)}, ${isVisible(i, j)});
    now${i} = larger(now${i}, w${i}_${j});`,
)}
    let factor${i} = exponential(largest${i} - now${i});
    largest${i} = now${i};
    total${i} *= factor${i};
${repeat(
  KEYS,
  (j) => `    w${i}_${j} = select(0.0, exponential(w${i}_${j} - now${i}), ${isVisible(i, j)});
    total${i} += w${i}_${j};`,
)}`,
  );

  // A hidden value may be infinite or NaN, and then a weight of 0 does not hide it.
  const values = causal
    ? `
${repeat(KEYS, (j) => `      let v${j} = ${elementAt(form, 'v', `v_head + row${j} + d`)};`)}
${repeat(
  queries,
  (i) => `      var o${i} = select(o[o${i}_at + d] * factor${i}, 0.0, key == ${start});
${repeat(KEYS, (j) => `      o${i} += select(0.0, w${i}_${j} * v${j}, ${isVisible(i, j)});`)}`,
)}`
    : `
${repeat(KEYS, (j) => `      let v${j} = select(0.0, v[v_head + row${j} + d], ${isVisible(0, j)});`)}
${repeat(queries, (i) => `      let o${i} = select(o[o${i}_at + d] * factor${i}, 0.0, key == 0u) + (${terms(i)});`)}`;

  // Rows of O have separate places, records are packed.
  const isOwn = !isPlain && !partial;
  const finish = partial
    ? (i: number) => `
    if (${isPlain ? 'end == 0u' : 'begin >= end'}) {
      for (var d = 0u; d < value_dim; d++) { o[o${i}_at + d] = 0.0; }
    }
    o[o${i}_at + u.value_dim] = largest${i};
    o[o${i}_at + u.value_dim + 1u] = total${i};`
    : (i: number) => `${
        isPlain
          ? ''
          : `
    let last${i} = ${totalOf(form, `total${i}`, `query${i}`)};`
      }
    for (var d = 0u; d < value_dim; d++) { o[o${i}_at + d] = quotient(o[o${i}_at + d], ${isPlain ? `total${i}` : `last${i}`}); }`;

  return defineKernel({
    name: `attention/direct ${queries}x${KEYS}${causal && isPlain ? ' causal' : ''}${formName(form, partial)}`,
    ...attentionInterface(form, false),
    uniforms: uniformsOf(form),
    code: /* wgsl */ `
${attentionFunctions(form)}

${mainOf(DIRECT_LANES)}
  let number = group_index(id, grid);
  if (number >= u.group_count) { return; }
  let blocks_per_head = (u.queries + ${queries - 1}u) / ${queries}u;
  let block = number * ${DIRECT_LANES}u + lane;
  let head = block / blocks_per_head;
  // A bound of loops that is not a uniform alone: see is-set.wgsl.ts for why.
  let head_dim = min(u.head_dim, ${form === 'f16' ? '2u * ' : ''}arrayLength(&q));
  let value_dim = min(u.value_dim, ${storageOf(form, 'v') === 'f32' ? '' : '2u * '}arrayLength(&v));
  if (head >= u.heads) { return; }
  let query = block % blocks_per_head * ${queries}u;
  let k_head = ${headOf(form, 'k')};
  let v_head = ${headOf(form, 'v')};${sightOfHead(form)}${isPlain ? '' : '\n  let q_head = q_start(head);'}

  // What is computed beyond the last query, a copy of it, is not stored.
${repeat(
  queries,
  (i) => `  let query${i} = min(query + ${i}u, u.queries - 1u);
  let q${i}_at = ${isPlain ? `u.q_at + (head * u.queries + query${i}) * u.head_dim` : `q_head + query${i} * u.q_row`};
  let o${i}_at = ${isOwn ? `o_start(head) + query${i} * u.o_row` : `u.o_at + (head * u.queries + query${i}) * u.o_row`};
  let visible${i} = visible_keys(${s}query${i});${isPlain ? '' : `\n  let first${i} = first_visible(sight, query${i});\n  let mask_row${i} = mask_row(head, query${i});`}
  var largest${i} = LOWEST;
  var total${i} = 0.0;`,
)}

  let end = visible${queries - 1};
${isPlain ? '' : `  let begin = first0 / ${KEYS}u * ${KEYS}u;\n`}  for (var key = ${start}; key < end; key += ${KEYS}u) {
${repeat(KEYS, (j) => `    let row${j} = min(key + ${j}u, end - 1u) * ${rowOf(form, 'v')};`)}${isPlain ? '' : `\n${repeat(KEYS, (j) => `    let k_row${j} = min(key + ${j}u, end - 1u) * u.k_row;`)}`}
${scores}
${weights}
    for (var d = 0u; d < value_dim; d++) {${values}
${repeat(queries, (i) => `      if (query + ${i}u < u.queries) { o[o${i}_at + d] = o${i}; }`)}
    }
  }
${repeat(queries, (i) => `  if (query + ${i}u < u.queries) {${finish(i)}\n  }`)}
}`,
  });
});

/** Queries of an invocation, by id. */
const QUERIES_OF: ReadonlyMap<string, number> = new Map(
  [1, MAX_QUERIES].map((queries) => [`attention/direct-${queries}`, queries]),
);

/** Attention without workgroup memory: for software devices. */
export const directTable: AttentionTable = {
  ids: [...QUERIES_OF.keys()],
  kernelsFor: ({ isSoftware }) =>
    [...(isSoftware ? QUERIES_OF.values() : [])].flatMap((queries) =>
      formsOf(rowsOfFloats).flatMap((way) =>
        (way.form === 'plain' ? [false, true] : [true]).map((causal) => direct({ queries, causal, ...way })),
      ),
    ),
  candidates: ({ queries }, { isSoftware }) => {
    if (!isSoftware) return undefined;
    const variants = directTable.ids.map((id) => ({ id, splits: 1 }));
    const preferred = variants[queries === 1 ? 0 : 1];
    return preferred && { variants, preferred };
  },
  splitKeys: () => 1,
  writesRows: rowsOfFloats,
  launch: (work, variant, recorder) => {
    const { causal, form } = work.sizes;
    const queries = shapeOf(QUERIES_OF, variant);
    const kernel = direct({ queries, causal: causal || form !== 'plain', form, partial: work.partial });
    const groups = Math.ceil(groupsOf(work, queries) / DIRECT_LANES);
    recorder.launch({ ...work.launch, kernel, groups, variant: variant.id });
  },
};
