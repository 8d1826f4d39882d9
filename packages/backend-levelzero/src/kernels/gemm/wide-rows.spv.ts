import type { Value } from '@concord/spirv-builder';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { flatGroupId } from './flat-groups.ts';
import { formatsName, type MatvecFormats, matvecParameters } from './matvec.ts';
import { placeOf } from './splits.ts';
import { loadElement, storeResult } from './storage.ts';
import { sumOfComponents } from './sum-of-components.ts';
import { LANES } from './wide-shape.ts';

/** Parameters of {@link wideRows}. */
export interface WideRowsParams extends MatvecFormats {
  /** Vectors at a time. */
  readonly each: 1 | 4;
}

/** Rows of one work-item. */
export const WIDE_ROWS = 4;

/**
 * Y = M X for processors, for one x or a few, where M lies row by row along k and so does each x (`vector_step` 1),
 * `vector_ld` after the one before. Nothing is packed: M is read from memory once.
 *
 * A work-item, which is a separate group, has four rows, and takes `each` vectors at a time through them, 16 terms in
 * an iteration. Rows and vectors beyond the last are the last one again, and not written.
 */
export const wideRows: (params: WideRowsParams) => Kernel = variants((params: WideRowsParams) => {
  const { each, matrix: matrixType, vector: vectorType, output } = params;
  return defineKernel({
    name: `gemm/wide-rows ${formatsName(params)} ${each}`,
    parameters: { ...matvecParameters(params), vectors: 'u64', vector_ld: 'u64', c_line: 'u64' },
    groupSize: [1, 1, 1],
    write: (k, { module, args }) => {
      const lanes = module.vector(module.float(32), LANES);
      const { batch, begin, end, c } = placeOf(k, k.groupId(2), args);
      const row = k.mul(flatGroupId(k), WIDE_ROWS);
      const matrix = k.at(args.matrix, k.add(k.mul(batch, args.matrix_stride), begin));
      const vector = k.at(args.vector, k.add(k.mul(batch, args.vector_stride), begin));
      const linesOf = (start: Value, ld: Value, first: Value, count: Value, lines: number): Value[] =>
        Array.from({ length: lines }, (_, i) =>
          k.at(start, k.mul(k.math('u_min', k.add(first, i), k.sub(count, 1)), ld)),
        );
      const rows = linesOf(matrix, args.matrix_ld, row, args.rows, WIDE_ROWS);
      const terms = k.sub(end, begin);
      const whole = k.mul(k.udiv(terms, LANES), LANES);
      const zeros = Array.from({ length: WIDE_ROWS * each }, () => k.constant(lanes, 0));

      k.forLoop({ to: args.vectors, step: each, unroll: 'dont-unroll' }, [], (first) => {
        const vectors = linesOf(vector, args.vector_ld, first, args.vectors, each);
        const added = (p: Value, count: 1 | 16, before: readonly Value[]): Value[] => {
          const xs = vectors.map((line) => loadElement(k, vectorType, k.at(line, p), count));
          return rows.flatMap((line, i) => {
            const values = loadElement(k, matrixType, k.at(line, p), count);
            return xs.map((x, j) => k.fma(values, x, before[i * each + j] as Value));
          });
        };
        const wide = k.forLoop({ to: whole, step: LANES }, zeros, (p, before) => added(p, LANES, before));
        const sums = k.forLoop(
          { from: whole, to: terms },
          wide.map((sum) => sumOfComponents(k, sum)),
          (p, before) => added(p, 1, before),
        );
        sums.forEach((sum, index) => {
          const [i, j] = [k.add(row, Math.floor(index / each)), k.add(first, index % each)];
          k.when(k.and(k.ult(i, args.rows), k.ult(j, args.vectors)), () => {
            const entry = k.at(args.c, k.add(c, k.add(k.mul(i, args.c_step), k.mul(j, args.c_line))));
            storeResult(k, output, entry, { sum, alpha: args.alpha, beta: args.beta });
          });
        });
      });
    },
  });
});
