import { ofType } from '@concord/variants';
import type { Value } from '@concord/spirv-builder';
import type { FloatDType } from '@concord/backend-core';
import { gridOf, groupIndex } from '../work.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import {
  FORMATS,
  formatsOf,
  GROUPS_EACH,
  inTime,
  ITEMS_EACH,
  operands,
  placeOf,
  type ProductTable,
  SPLIT_PARAMETERS,
  splitsFor,
  steps,
} from './table.ts';
import { loadElement, storeResult } from './storage.ts';
import { multiplyAddsOf } from './product.ts';

/** Storage of the operands of a product. */
export interface OperandFormats {
  readonly input: FloatDType;
  readonly output: FloatDType;
}

/** Work-items of a group. */
const DIRECT_GROUP = 64;

/**
 * `C = alpha op(A) op(B) + beta C`, one work-item for each entry of each matrix of the batch: for products that are too
 * small for anything else. Entry (i, j) of the flat batch is a row of op(A) times a column of op(B), read with whatever
 * steps they have.
 */
const direct: (params: OperandFormats) => Kernel = variants(({ input, output }: OperandFormats) =>
  defineKernel({
    name: `gemm/direct ${input}-${output}`,
    parameters: {
      a: `${input}*`,
      b: `${input}*`,
      c: `${output}*`,
      ...ofType('u64', 'n entries all a_line a_term b_line b_term a_stride b_stride c_ld'),
      ...SPLIT_PARAMETERS,
      ...ofType('f32', 'alpha beta'),
    },
    groupSize: [DIRECT_GROUP, 1, 1],
    write: (k, { args }) => {
      const index = k.add(k.mul(groupIndex(k), DIRECT_GROUP), k.localId(0));
      k.when(k.ult(index, args.all), () => {
        const entry = k.umod(index, args.entries);
        const [row, column] = [k.udiv(entry, args.n), k.umod(entry, args.n)];
        const { batch, begin, end, c } = placeOf(k, k.udiv(index, args.entries), args);
        const line = (pointer: Value, stride: Value, at: Value, step: Value, term: Value): Value =>
          k.at(pointer, k.add(k.add(k.mul(batch, stride), k.mul(at, step)), k.mul(begin, term)));
        const a = line(args.a, args.a_stride, row, args.a_line, args.a_term);
        const b = line(args.b, args.b_stride, column, args.b_line, args.b_term);
        const zero = k.constant(args.alpha.type, 0);
        const [sum] = k.forLoop({ from: begin, to: end }, [zero, a, b], (_, carried) => {
          const [before, x, y] = carried as [Value, Value, Value];
          const next = k.fma(loadElement(k, input, x), loadElement(k, input, y), before);
          return [next, k.at(x, args.a_term), k.at(y, args.b_term)];
        });
        const result = k.at(args.c, k.add(c, k.add(k.mul(row, args.c_ld), column)));
        storeResult(k, output, result, { sum: sum as Value, alpha: args.alpha, beta: args.beta });
      });
    },
  }),
);

/** The number of rows or columns below which a tile of a GPU is mostly empty. */
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
      groups: gridOf(Math.ceil(all / DIRECT_GROUP), recorder.traits),
      multiplyAdds: multiplyAddsOf(product),
      variant: id,
    });
  },
};
