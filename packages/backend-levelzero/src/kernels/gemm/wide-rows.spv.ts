import type { Value } from '@concord/spirv-builder';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { formatsName, type MatvecFormats, matvecParameters } from './matvec.ts';
import { placeOf } from './splits.ts';
import { loadElement, storeResult } from './storage.ts';
import { sumOfComponents } from './sum-of-components.ts';
import { LANES } from './wide-shape.ts';

/** Rows of one work-item. */
export const WIDE_ROWS = 4;

/**
 * y = M x for processors, where M lies row by row along k and x without gaps (`vector_step` 1). A work-item, which is a group of its
 * own, has four rows at a time and 16 terms of each in a turn: x is read once for four rows. Rows beyond the last are the last one
 * again, and not written.
 */
export const wideRows: (formats: MatvecFormats) => Kernel = variants((formats: MatvecFormats) =>
  defineKernel({
    name: `gemm/wide-rows ${formatsName(formats)}`,
    parameters: matvecParameters(formats),
    groupSize: [1, 1, 1],
    write: (k, { module, args }) => {
      const lanes = module.vector(module.float(32), LANES);
      const { batch, begin, end, c } = placeOf(k, k.groupId(2), args);
      const row = k.mul(k.groupId(0), WIDE_ROWS);
      const last = k.sub(args.rows, 1);
      const matrix = k.at(args.matrix, k.add(k.mul(batch, args.matrix_stride), begin));
      const vector = k.at(args.vector, k.add(k.mul(batch, args.vector_stride), begin));
      const indices = Array.from({ length: WIDE_ROWS }, (_, i) => k.math('u_min', k.add(row, i), last));
      const lines = indices.map((index) => k.at(matrix, k.mul(index, args.matrix_ld)));
      const terms = k.sub(end, begin);
      const whole = k.mul(k.udiv(terms, LANES), LANES);
      const zeros = lines.map(() => k.constant(lanes, 0));
      const vectorSums = k.forLoop({ to: whole, step: LANES }, zeros, (p, before) => {
        const x = loadElement(k, formats.vector, k.at(vector, p), LANES);
        return lines.map((line, i) => k.fma(loadElement(k, formats.matrix, k.at(line, p), LANES), x, before[i] as Value));
      });
      const sums = k.forLoop(
        { from: whole, to: terms },
        vectorSums.map((sum) => sumOfComponents(k, sum)),
        (p, before) => {
          const x = loadElement(k, formats.vector, k.at(vector, p));
          return lines.map((line, i) => k.fma(loadElement(k, formats.matrix, k.at(line, p)), x, before[i] as Value));
        },
      );
      sums.forEach((sum, i) => {
        const index = k.add(row, i);
        k.when(k.ult(index, args.rows), () => {
          const entry = k.at(args.c, k.add(c, k.mul(index, args.c_step)));
          storeResult(k, formats.output, entry, { sum, alpha: args.alpha, beta: args.beta });
        });
      });
    },
  }),
);
