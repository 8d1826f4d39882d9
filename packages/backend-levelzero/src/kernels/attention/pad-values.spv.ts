import { groupIndex } from '../grid.ts';
import { defineKernel, type Kernel } from '../kernel.ts';

/** Work-items in a group. */
export const PAD_LANES = 64;
/** Columns of the rows that come out. */
export const PADDED_COLUMNS = 16;

/** Lays out V for `wide` where its rows are shorter than a vector: zeros after each. One work-item per element. */
export const padValues: Kernel = defineKernel({
  name: 'attention/pad-values',
  parameters: { v: 'f32*', padded: 'f32*', rows: 'u64', head_dim: 'u64' },
  groupSize: [PAD_LANES, 1, 1],
  write: (k, { module, args }) => {
    const index = k.add(k.mul(groupIndex(k), PAD_LANES), k.localId(0));
    const row = k.udiv(index, PADDED_COLUMNS);
    const d = k.umod(index, PADDED_COLUMNS);
    k.when(k.ult(row, args.rows), () => {
      const [value] = k.ifElse(
        k.ult(d, args.head_dim),
        () => [k.load(k.at(args.v, k.add(k.mul(row, args.head_dim), d)))],
        () => [k.constant(module.float(32), 0)],
      );
      k.store(k.at(args.padded, index), value as NonNullable<typeof value>);
    });
  },
});
