import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import type { ResolvedGemm } from '@concord/backend-core/implement';
import { inKernel, type Mutant, storage } from './mutant.ts';

/** Faults in the computation of a product; the rest is correct. */
export interface Arithmetic {
  /** Applied to every element of A and B as it is read. */
  readonly input?: (x: number) => number;
  /** Adds one term to a sum. */
  readonly add?: (sum: number, term: number) => number;
  /** Turns a result into bits of f16. */
  readonly toF16Bits?: (x: number) => number;
  /** Applied to a sum before alpha is. */
  readonly round?: (sum: number) => number;
  /** Sums from the last term to the first. */
  readonly backwards?: boolean;
}

/** A plain triple loop with replaceable arithmetic, for bugs in arithmetic. */
export function naiveProduct(call: ResolvedGemm<ArrayBuffer>, arithmetic: Arithmetic): void {
  const { input = (x) => x, add = (sum, term) => sum + term, toF16Bits = f32ToF16Bits, backwards } = arithmetic;
  const { round = Math.fround } = arithmetic;
  const { m, n, k, transA, transB, lda, ldb, ldc, alpha, beta, dtype } = call;
  const read = dtype === 'f16' ? f16BitsToF32 : (x: number) => x;
  const [a, b, c] = [storage(call.a, dtype), storage(call.b, dtype), storage(call.c, dtype)];
  for (let batch = 0; batch < call.batchCount; batch++) {
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        let sum = 0;
        for (let step = 0; step < k; step++) {
          const p = backwards === true ? k - 1 - step : step;
          const x = a[batch * call.strideA + (transA ? p * lda + i : i * lda + p)] as number;
          const y = b[batch * call.strideB + (transB ? j * ldb + p : p * ldb + j)] as number;
          sum = add(sum, input(read(x)) * input(read(y)));
        }
        const at = batch * call.strideC + i * ldc + j;
        const old = beta === 0 ? 0 : beta * read(c[at] as number);
        const result = alpha * round(sum) + old;
        c[at] = dtype === 'f16' ? toF16Bits(result) : result;
      }
    }
  }
}

/** A bug in the product, but where B has a type of its own. */
export const inPlainProduct = (bug: (call: ResolvedGemm<ArrayBuffer>) => void): Mutant['wrap'] =>
  inKernel('gemm', (call, run) => (call.dtypeB === undefined ? bug(call) : run(call)));
