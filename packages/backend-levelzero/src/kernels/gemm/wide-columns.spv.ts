import type { Value } from '@concord/spirv-builder';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { flatGroupId } from './flat-groups.ts';
import { formatsName, type MatvecFormats, matvecParameters } from './matvec.ts';
import { placeOf } from './splits.ts';
import { loadElement, storeResult } from './storage.ts';
import { LANES } from './wide-shape.ts';

/** Parameters of {@link wideColumns}. */
export interface WideColumnsParams extends MatvecFormats {
  /** Vectors of 16 rows that one work-item sums. */
  readonly vectors: 1 | 4 | 16;
}

/**
 * y = M x for processors, where M lies column by column: the entries of a column are neighbours. A work-item, which is
 * a separate group, has a strip of `16 * vectors` rows and goes through the columns. There must be as many rows: the
 * last strip begins early and computes some rows once more, which it does not write.
 */
export const wideColumns: (params: WideColumnsParams) => Kernel = variants((params: WideColumnsParams) =>
  defineKernel({
    name: `gemm/wide-columns ${formatsName(params)} ${params.vectors}`,
    parameters: matvecParameters(params),
    groupSize: [1, 1, 1],
    write: (k, { module, args }) => {
      const f32 = module.float(32);
      const lanes = module.vector(f32, LANES);
      const width = params.vectors * LANES;
      const { batch, begin, end, c } = placeOf(k, k.groupId(2), args);
      const wanted = k.mul(flatGroupId(k), width);
      const row = k.math('u_min', wanted, k.sub(args.rows, width));
      const start = k.add(k.mul(batch, args.matrix_stride), k.add(row, k.mul(begin, args.matrix_ld)));
      const vectorStart = k.add(k.mul(batch, args.vector_stride), k.mul(begin, args.vector_step));
      const zeros = Array.from({ length: params.vectors }, () => k.constant(lanes, 0));
      const carried = [...zeros, k.at(args.matrix, start), k.at(args.vector, vectorStart)];
      const results = k.forLoop({ from: begin, to: end }, carried, (_, before) => {
        const column = before[params.vectors] as Value;
        const element = before[params.vectors + 1] as Value;
        const x = k.splat(lanes, loadElement(k, params.vector, element));
        const sums = zeros.map((_none, v) =>
          k.fma(loadElement(k, params.matrix, k.at(column, v * LANES), LANES), x, before[v] as Value),
        );
        return [...sums, k.at(column, args.matrix_ld), k.at(element, args.vector_step)];
      });
      // C may have gaps between its entries.
      const strip = k.privateArray(f32, width);
      zeros.forEach((_, v) => k.storeVector(k.at(strip, v * LANES), results[v] as Value));
      const skipped = k.sub(wanted, row);
      k.forLoop({ from: skipped, to: k.constant(module.int(64), width) }, [], (i) => {
        const entry = k.at(args.c, k.add(c, k.mul(k.add(row, i), args.c_step)));
        storeResult(k, params.output, entry, { sum: k.load(k.at(strip, i)), alpha: args.alpha, beta: args.beta });
      });
    },
  }),
);
