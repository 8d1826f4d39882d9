import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import type { WebGpuClient } from './client/webgpu-client.ts';
import type { WebGpuOptions } from './client/webgpu-options.ts';
import { matrixUnitsTiles } from './kernels/gemm/matrix-units.ts';
import { planGemm } from './kernels/gemm/plan.ts';
import { withTrialClient } from './trial-client.ts';

// Matrix units are an experiment of Dawn's: before the first product on those of a device, one of small integers has to
// come out right.

/** Multiplies two packed matrices, {@link TRIAL}'s, of binary16. */
export type TrialMultiply = (a: Uint16Array, b: Uint16Array) => Promise<Uint16Array>;

/** Sizes of the product that is tried. */
export const TRIAL = { m: 128, n: 128, k: 64 } as const;

/** The results, by device: backends share devices. */
const faults = new WeakMap<GPUDevice, Promise<string | undefined>>();

/**
 * Why the matrix units of a client's device are not to be used; undefined where there are none, or where they multiply
 * right. Never rejects.
 *
 * @param options - those that the client was opened with
 */
export function matrixUnitsFault(client: WebGpuClient, options: WebGpuOptions): Promise<string | undefined> {
  let fault = faults.get(client.device);
  if (fault === undefined) {
    const hasNone = matrixUnitsTiles(client.traits).length === 0;
    fault = hasNone ? Promise.resolve(undefined) : faultOf((a, b) => multiplyOn(options, a, b));
    faults.set(client.device, fault);
  }
  return fault;
}

/** The fault in `multiply`, by a product whose sums every order of summation gives exactly. */
export async function faultOf(multiply: TrialMultiply): Promise<string | undefined> {
  const { m, n, k } = TRIAL;
  const a = smallIntegers(m * k, 1);
  const b = smallIntegers(k * n, 2);
  let got: Uint16Array;
  try {
    got = await multiply(Uint16Array.from(a, f32ToF16Bits), Uint16Array.from(b, f32ToF16Bits));
  } catch (error) {
    return `the matrix units do not work: ${(error as Error).message}`;
  }
  for (let row = 0; row < m; row++) {
    for (let column = 0; column < n; column++) {
      let want = 0;
      for (let p = 0; p < k; p++) want += (a[row * k + p] as number) * (b[p * n + column] as number);
      const bits = got[row * n + column];
      const value = bits === undefined ? NaN : f16BitsToF32(bits);
      if (value !== want) return `the matrix units gave ${value} instead of ${want} at row ${row}, column ${column}`;
    }
  }
  return undefined;
}

/** From -4 to 4, without a pattern that a transposed or shifted matrix would share; 64 products of two make at most 1,024. */
function smallIntegers(length: number, seed: number): number[] {
  return Array.from({ length }, (_, i) => ((Math.imul(i + 1, Math.imul(seed, 0x9e3779b1)) >>> 16) % 9) - 4);
}

/** By the variant that is chosen for such a product. */
function multiplyOn(options: WebGpuOptions, a: Uint16Array, b: Uint16Array): Promise<Uint16Array> {
  const { m, n, k } = TRIAL;
  return withTrialClient(options, async ({ client, place, upload, read }) => {
    const operands = { a: upload(a), b: upload(b), c: place(m * n * 2) };
    const sizes = { m, n, k, lda: k, ldb: n, ldc: n, batchCount: 1, strideA: 0, strideB: 0, strideC: 0 };
    const plain = {
      opName: 'gemmF16',
      dtype: 'f16',
      transA: false,
      transB: false,
      alpha: 1,
      beta: 0,
      epilogue: undefined,
    } as const;
    client.record('gemmF16', (recorder) => planGemm({ ...plain, ...sizes, ...operands, operands: [] }, recorder));
    return new Uint16Array(await read(operands.c));
  });
}
