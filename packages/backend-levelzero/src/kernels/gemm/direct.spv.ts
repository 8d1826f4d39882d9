import type { FloatDType } from '@concord/backend-core';
import type { Value } from '@concord/spirv-builder';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { flatGroupId } from './flat-groups.ts';
import { placeOf, SPLIT_PARAMETERS } from './splits.ts';
import { loadElement, storeResult } from './storage.ts';

/** Storage of the operands of a product. */
export interface OperandFormats {
  readonly input: FloatDType;
  readonly output: FloatDType;
}

/** Work-items of a group. */
export const DIRECT_GROUP = 64;

/**
 * `C = alpha op(A) op(B) + beta C`, one work-item for each entry of each matrix of the batch: for products that are too
 * small for anything else. Entry (i, j) of the flat batch is a row of op(A) times a column of op(B), read with whatever
 * steps they have.
 */
export const direct: (params: OperandFormats) => Kernel = variants(({ input, output }: OperandFormats) =>
  defineKernel({
    name: `gemm/direct ${input}-${output}`,
    parameters: {
      a: `${input}*`,
      b: `${input}*`,
      c: `${output}*`,
      n: 'u64',
      entries: 'u64',
      all: 'u64',
      a_line: 'u64',
      a_term: 'u64',
      b_line: 'u64',
      b_term: 'u64',
      a_stride: 'u64',
      b_stride: 'u64',
      c_ld: 'u64',
      ...SPLIT_PARAMETERS,
      alpha: 'f32',
      beta: 'f32',
    },
    groupSize: [DIRECT_GROUP, 1, 1],
    write: (k, { args }) => {
      const index = k.add(k.mul(flatGroupId(k), DIRECT_GROUP), k.localId(0));
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
