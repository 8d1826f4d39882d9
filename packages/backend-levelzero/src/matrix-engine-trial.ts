import { faultOf, trialCall, type TrialMultiply, wrongProduct } from '@concord/variants';
import { LevelZeroClient } from './device/level-zero-client.ts';
import type { LevelZeroOptions } from './device/options.ts';
import { matrixId } from './kernels/gemm/matrix.ts';
import { planGemm } from './kernels/gemm/plan.ts';
import type { Variant } from './kernels/gemm/table.ts';
import type { Span } from './kernels/recorder.ts';

// Matrix engines are reached through built-ins of the driver's compiler that no standard describes: before the first product
// on those of a device, one of small integers has to come out right.

/** Sizes of the product that is tried: neither whole tiles nor whole blocks. */
const SIZES = { m: 131, n: 67, k: 130 } as const;
/** Ranges of k that it is computed in: with more than one, sums are written in float32 and added up. */
const SPLITS: readonly number[] = [1, 2];
/** The time after which an engine is taken to hang. */
const TIMEOUT_MS = 10_000;

/**
 * Tries the matrix engines of a client's device, and excludes their variants where a product does not come out right.
 *
 * @param options - those that the client was opened with
 */
export async function tryMatrixEngines(client: LevelZeroClient, options: LevelZeroOptions): Promise<void> {
  const lanes = client.traits.matrixEngine;
  if (lanes === undefined) return;
  for (const splits of SPLITS) {
    const variant = { id: matrixId(lanes), splits };
    const multiply: TrialMultiply = (a, b) => multiplyOn(options, variant, a, b);
    const fault = await faultOf('the matrix engines', () => wrongProduct(SIZES, multiply));
    if (fault === undefined) continue;
    client.tuning.exclude('gemm/matrix-*', fault);
    return;
  }
}

/** Multiplies with a separate client, so that a failure harms nothing else. */
async function multiplyOn(
  options: LevelZeroOptions,
  variant: Variant,
  a: Uint16Array,
  b: Uint16Array,
): Promise<Uint16Array> {
  const client = await LevelZeroClient.open(options);
  const place = (bytes: number): Span => ({ buffer: client.allocate(bytes), byteOffset: 0, byteLength: bytes });
  const upload = (bits: Uint16Array): Span => {
    const span = place(bits.byteLength);
    client.write(span, new Uint8Array(bits.buffer));
    return span;
  };
  try {
    const operands = { a: upload(a), b: upload(b), c: place(SIZES.m * SIZES.n * 2) };
    client.record('gemmF16', (recorder) => planGemm({ ...trialCall(SIZES), ...operands }, recorder, () => variant));
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
