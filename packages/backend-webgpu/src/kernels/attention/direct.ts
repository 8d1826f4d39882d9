import { shapeOf } from '@concord/variants';
import { direct, DIRECT_LANES, MAX_QUERIES } from './direct.wgsl.ts';
import { type AttentionTable, formsOf, groupsOf, rowsOfFloats } from './table.ts';

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
