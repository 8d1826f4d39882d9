import type { FloatDType } from '@concord/backend-core';
import { loadElement, storeElement } from '../gemm/storage.ts';
import { groupIndex } from '../grid.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';

/** Work-items in a group. */
export const RELAYOUT_LANES = 64;

/** The parameters that distinguish the kernels. */
export interface RelayoutParams {
  readonly dtype: FloatDType;
  /** From an operand to packed float32, or back. */
  readonly to: 'packed' | 'operand';
}

/**
 * Lays rows of an operand out as packed float32, `[batch, heads, rows, head_dim]`, or packed ones as those of an operand. One
 * work-item per element.
 */
export const relayout: (params: RelayoutParams) => Kernel = variants(({ dtype, to }: RelayoutParams) =>
  defineKernel({
    name: `attention/relayout ${dtype} to ${to}`,
    parameters: {
      operand: dtype === 'f16' ? 'f16*' : 'f32*',
      packed: 'f32*',
      elements: 'u64',
      head_dim: 'u64',
      rows: 'u64',
      heads: 'u64',
      batch_stride: 'u64',
      head_stride: 'u64',
      row_stride: 'u64',
    },
    groupSize: [RELAYOUT_LANES, 1, 1],
    write: (k, { args }) => {
      const index = k.add(k.mul(groupIndex(k), RELAYOUT_LANES), k.localId(0));
      k.when(k.ult(index, args.elements), () => {
        const row = k.udiv(index, args.head_dim);
        const head = k.udiv(row, args.rows);
        const batch = k.udiv(head, args.heads);
        const place = [
          k.mul(batch, args.batch_stride),
          k.mul(k.umod(head, args.heads), args.head_stride),
          k.mul(k.umod(row, args.rows), args.row_stride),
        ].reduce((sum, each) => k.add(sum, each), k.umod(index, args.head_dim));
        const [operand, packed] = [k.at(args.operand, place), k.at(args.packed, index)];
        if (to === 'packed') k.store(packed, loadElement(k, dtype, operand));
        else storeElement(k, dtype, operand, k.load(packed));
      });
    },
  }),
);
