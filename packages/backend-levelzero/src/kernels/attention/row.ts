import { row } from './row.spv.ts';
import { isPlain } from './packed-call.ts';
import { hasSubgroupKernels, subgroupTable } from './subgroup.ts';
import { attend, type AttentionTable, FEW_QUERIES, splitsFor, WAYS } from './table.ts';
import { LANES } from './wide.ts';

/** Attention with a group for each query: for few of them, and for GPUs without sub-groups. */
export const rowTable: AttentionTable = {
  ids: ['attention/row'],
  kernelsFor: (traits) => (hasSubgroupKernels(traits) ? [] : WAYS.map(row)),
  candidates: (sizes, traits) => {
    const { heads, queries, headDim } = sizes;
    if (headDim < LANES || subgroupTable.candidates(sizes, traits) !== undefined) return undefined;
    const variant = { id: 'attention/row', splits: splitsFor(heads * queries, sizes, traits) };
    return { variants: [variant], preferred: variant, rank: queries <= FEW_QUERIES ? 1 : -1 };
  },
  launch: (call, variant, recorder) => {
    const heads = call.batch * call.heads;
    const attending = {
      kernel: (partial: boolean) => row({ any: !isPlain(call), partial }),
      args: { k: call.k, v: call.v },
      groups: heads * call.seqQ,
    };
    attend(call, { first: 0, count: heads }, variant, attending, recorder);
  },
};
