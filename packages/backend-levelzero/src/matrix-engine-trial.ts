import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import { LevelZeroClient } from './device/level-zero-client.ts';
import type { LevelZeroOptions } from './device/options.ts';
import { named, type Variant } from './kernels/gemm/choose-variant.ts';
import { MATRIX_LANES } from './kernels/gemm/matrix-engine.ts';
import { planGemm } from './kernels/gemm/plan.ts';
import type { Span } from './kernels/recorder.ts';

// Matrix engines are reached through built-ins of the driver's compiler that no standard describes: before the first product
// on those of a device, one of small integers has to come out right.

/** Sizes of the product that is tried: neither whole tiles nor whole blocks. */
const TRIAL = { m: 131, n: 67, k: 130 } as const;
/** Ranges of k that it is computed in: with more than one, sums are written in float32 and added up. */
const SPLITS: readonly number[] = [1, 2];
/** After so long an engine is taken to hang. */
const TIMEOUT_MS = 10_000;

/**
 * Tries the matrix engines of a client's device, and leaves their variants out where a product does not come out right.
 *
 * @param options - those that the client was opened with
 */
export async function tryMatrixEngines(client: LevelZeroClient, options: LevelZeroOptions): Promise<void> {
  const lanes = client.traits.matrixEngine;
  if (lanes === undefined) return;
  for (const splits of SPLITS) {
    const fault = await faultOf((a, b) => multiplyOn(options, named({ kind: 'matrix', lanes }, splits), a, b));
    if (fault === undefined) continue;
    for (const each of MATRIX_LANES) client.tuning.leaveOut(named({ kind: 'matrix', lanes: each }, 1).id, fault);
    return;
  }
}

/** Multiplies two packed matrices, {@link TRIAL}'s, of binary16. */
export type TrialMultiply = (a: Uint16Array, b: Uint16Array) => Promise<Uint16Array>;

/** The fault in `multiply`, by a product whose sums every order of summation gives exactly. */
export async function faultOf(
  multiply: TrialMultiply,
): Promise<{ readonly reason: string; readonly log?: string } | undefined> {
  const { m, n, k } = TRIAL;
  const [a, b] = [smallIntegers(m * k, 1), smallIntegers(k * n, 2)];
  let got: Uint16Array;
  try {
    got = await multiply(Uint16Array.from(a, f32ToF16Bits), Uint16Array.from(b, f32ToF16Bits));
  } catch (error) {
    return { reason: 'the trial of the matrix engines failed', log: (error as Error).message };
  }
  for (let row = 0; row < m; row++) {
    for (let column = 0; column < n; column++) {
      let want = 0;
      for (let p = 0; p < k; p++) want += (a[row * k + p] as number) * (b[p * n + column] as number);
      const bits = got[row * n + column];
      const value = bits === undefined ? NaN : f16BitsToF32(bits);
      if (value === want) continue;
      const place = `row ${row}, column ${column}`;
      return { reason: `the trial of the matrix engines gave ${value} instead of ${want} at ${place}` };
    }
  }
  return undefined;
}

/** From -3 to 3, without a pattern that a transposed or shifted matrix would share: sums of 130 products are at most 1,170. */
function smallIntegers(length: number, seed: number): number[] {
  return Array.from({ length }, (_, i) => ((Math.imul(i + 1, Math.imul(seed, 0x9e3779b1)) >>> 16) % 7) - 3);
}

/** With a separate client, so that a failure harms nothing else. */
async function multiplyOn(
  options: LevelZeroOptions,
  variant: Variant,
  a: Uint16Array,
  b: Uint16Array,
): Promise<Uint16Array> {
  const { m, n, k } = TRIAL;
  const client = await LevelZeroClient.open(options);
  const place = (bytes: number): Span => ({ buffer: client.allocate(bytes), byteOffset: 0, byteLength: bytes });
  const upload = (bits: Uint16Array): Span => {
    const span = place(bits.byteLength);
    client.write(span, new Uint8Array(bits.buffer));
    return span;
  };
  try {
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
    client.record('gemmF16', (recorder) =>
      planGemm({ ...plain, ...sizes, ...operands, operands: [] }, recorder, () => variant),
    );
    let c: Uint16Array | undefined;
    const deadline = performance.now() + TIMEOUT_MS;
    const isWanted = (): boolean => performance.now() < deadline;
    await client.read(operands.c, (bytes) => void (c = new Uint16Array(bytes.slice().buffer)), isWanted);
    if (c === undefined) throw new Error(`it did not end within ${TIMEOUT_MS / 1000} s`);
    return c;
  } finally {
    await client.dispose();
  }
}
