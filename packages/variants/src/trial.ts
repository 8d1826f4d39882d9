import { f16BitsToF32, f32ToF16Bits, type ExcludedVariant } from '@concord/backend-core';
import type { ResolvedGemm } from '@concord/backend-core/implement';

/** The fault that a trial of a part of a device found: a few words, and what a compiler said. */
export type Fault = Omit<ExcludedVariant, 'id'>;

/**
 * Tries a part of a device before it is relied on. Never rejects: a trial that fails has found a fault.
 *
 * @param what - as messages call it: `the matrix units`
 * @param trial - gives what went wrong, such as `gave 3 instead of 4`
 */
export async function faultOf(what: string, trial: () => Promise<string | undefined>): Promise<Fault | undefined> {
  try {
    const wrong = await trial();
    return wrong === undefined ? undefined : { reason: `the trial of ${what} ${wrong}` };
  } catch (error) {
    return { reason: `the trial of ${what} failed`, log: (error as Error).message };
  }
}

/** Sizes of a product. */
export interface TrialSizes {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** Multiplies two packed matrices of binary16. */
export type TrialMultiply = (a: Uint16Array, b: Uint16Array) => Promise<Uint16Array>;

/** The first wrong number of `multiply`, by a product whose sums every order of summation gives exactly: k is at most 200. */
export async function wrongProduct({ m, n, k }: TrialSizes, multiply: TrialMultiply): Promise<string | undefined> {
  const [a, b] = [smallIntegers(m * k, 1), smallIntegers(k * n, 2)];
  const got = await multiply(Uint16Array.from(a, f32ToF16Bits), Uint16Array.from(b, f32ToF16Bits));
  for (let row = 0; row < m; row++) {
    for (let column = 0; column < n; column++) {
      let want = 0;
      for (let p = 0; p < k; p++) want += (a[row * k + p] as number) * (b[p * n + column] as number);
      const bits = got[row * n + column];
      const value = bits === undefined ? NaN : f16BitsToF32(bits);
      if (value !== want) return `gave ${value} instead of ${want} at row ${row}, column ${column}`;
    }
  }
  return undefined;
}

/** A call of such a product without its operands. */
export type TrialCall = Omit<ResolvedGemm<never>, 'a' | 'b' | 'c'>;

/** The call of such a product, without its operands. */
export function trialCall({ m, n, k }: TrialSizes): TrialCall {
  const sizes = { m, n, k, lda: k, ldb: n, ldc: n, batchCount: 1, strideA: 0, strideB: 0, strideC: 0 };
  const plain = {
    dtype: 'f16',
    transA: false,
    transB: false,
    alpha: 1,
    beta: 0,
    epilogue: undefined,
  } as const;
  return { opName: 'gemmF16', ...sizes, ...plain, operands: [] };
}

/** Integers from -3 to 3, without a pattern that a transposed or shifted matrix would share. */
function smallIntegers(length: number, seed: number): number[] {
  return Array.from({ length }, (_, i) => ((Math.imul(i + 1, Math.imul(seed, 0x9e3779b1)) >>> 16) % 7) - 3);
}
