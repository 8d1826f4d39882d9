import type { FloatDType } from '@concord/backend-core';
import type { Value } from '@concord/spirv-builder';
import { type Kernel, variants } from '../kernel.ts';
import { defineEntriesKernel } from './entries.ts';
import { resultOf } from './storage.ts';

/**
 * `C = alpha (sum of partial sums) + beta C`, after a product whose k was cut into ranges: the packed sums of range s
 * begin `s * split_stride` elements on. C is not read where beta is 0.
 */
export const finish: (params: { readonly output: FloatDType }) => Kernel = variants(({ output }) =>
  defineEntriesKernel({
    name: `gemm/finish ${output}`,
    output,
    parameters: { sums: 'f32*', splits: 'u64', split_stride: 'u64', alpha: 'f32', beta: 'f32' },
    value: (k, { sums, splits, split_stride, alpha, beta }, index, entry) => {
      const zero = k.constant(alpha.type, 0);
      const [sum] = k.forLoop({ to: splits }, [zero, k.at(sums, index)], (_, [before, place]) => [
        k.add(before as Value, k.load(place as Value)),
        k.at(place as Value, split_stride),
      ]);
      return resultOf(k, output, entry, { sum: sum as Value, alpha, beta });
    },
  }),
);
