import { f16BitsToF32, f32ToBf16Bits, f32ToF16Bits, fromBf16Array } from '@concord/backend-core';
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
  /** The same of bf16. */
  readonly toBf16Bits?: (x: number) => number;
  /** Applied to a sum before alpha is. */
  readonly round?: (sum: number) => number;
  /** Sums from the last term to the first. */
  readonly backwards?: boolean;
}

/** A plain triple loop with replaceable arithmetic, for bugs in arithmetic. */
export function naiveProduct(call: ResolvedGemm<ArrayBuffer>, arithmetic: Arithmetic): void {
  const { input = (x) => x, add = (sum, term) => sum + term, toF16Bits = f32ToF16Bits, backwards } = arithmetic;
  const { round = Math.fround, toBf16Bits = f32ToBf16Bits } = arithmetic;
  const { m, n, k, transA, transB, lda, ldb, ldc, alpha, beta, dtype } = call;
  const read = { f16: f16BitsToF32, bf16: fromBits, f32: (x: number) => x }[dtype];
  const stored = { f16: toF16Bits, bf16: toBf16Bits, f32: (x: number) => x }[dtype];
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
        c[at] = stored(alpha * round(sum) + old);
      }
    }
  }
}

const fromBits = (bits: number): number => fromBf16Array(Uint16Array.of(bits))[0] as number;

/** A bug in the product, but where B has a type of its own. */
export const inPlainProduct = (bug: (call: ResolvedGemm<ArrayBuffer>) => void): Mutant['wrap'] =>
  inKernel('gemm', (call, run) => (call.dtypeB === undefined ? bug(call) : run(call)));
