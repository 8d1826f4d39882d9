import { direct, DIRECT_GROUP } from './direct.spv.ts';
import { flatGroups } from './flat-groups.ts';
import { multiplyAddsOf } from './product.ts';
import {
  FORMATS,
  formatsOf,
  GROUPS_EACH,
  inTime,
  ITEMS_EACH,
  operands,
  type ProductTable,
  splitsFor,
  steps,
} from './table.ts';

/** Fewer rows or columns than these leave a tile of a GPU mostly empty. */
const FEW_LINES = 8;

/** Products with one work-item for each entry. */
export const directTable: ProductTable = {
  ids: ['gemm/direct'],
  kernelsFor: () => FORMATS.map(direct),
  candidates: ({ m, n, k, batchCount }, { isCpuLike, computeUnits }) => {
    const wanted = (isCpuLike ? ITEMS_EACH : GROUPS_EACH) * computeUnits;
    const groups = Math.ceil((m * n * batchCount) / DIRECT_GROUP);
    const variant = { id: 'gemm/direct', splits: splitsFor(groups, k, wanted) };
    return { variants: [variant], preferred: variant, rank: !isCpuLike && Math.min(m, n) < FEW_LINES ? 4 : 1 };
  },
  mostAtOnce: (product, _variant, _splits, traits) =>
    traits.isCpuLike ? product : { ...inTime(product, 1, traits), n: product.n },
  launch: ({ product, splits }, { id }, recorder) => {
    const { m, n, batchCount } = product;
    const all = m * n * batchCount * splits.count;
    recorder.launch({
      kernel: direct(formatsOf(product)),
      args: { ...operands(product, splits), ...steps(product), n, entries: m * n, all },
      groups: [...flatGroups(Math.ceil(all / DIRECT_GROUP), recorder.traits), 1],
      multiplyAdds: multiplyAddsOf(product),
      variant: id,
    });
  },
};
