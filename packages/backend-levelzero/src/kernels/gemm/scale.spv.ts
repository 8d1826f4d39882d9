import type { FloatDType } from '@concord/backend-core';
import { type Kernel, variants } from '../kernel.ts';
import { defineEntriesKernel } from './entries.ts';
import { loadElement } from './storage.ts';

/** `C = beta * C`; zeros, and C is not read, where beta is 0. What is left of a product with k = 0 or alpha = 0. */
export const scale: (params: { readonly output: FloatDType }) => Kernel = variants(({ output }) =>
  defineEntriesKernel({
    name: `gemm/scale ${output}`,
    output,
    parameters: { beta: 'f32' },
    value: (k, { beta }, _, entry) => {
      const [value] = k.ifElse(
        k.ne(beta, 0),
        () => [k.mul(beta, loadElement(k, output, entry))],
        () => [k.constant(beta.type, 0)],
      );
      return value as typeof beta;
    },
  }),
);
