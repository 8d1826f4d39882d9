import { type ComputeBackend, type DevicePtr, isBackendError, withBuffers } from '@concord/backend-core';
import { type DeviceLimits, profile } from '@concord/backend-core/profile';

const TIMES = 4;
/** A call that takes this long has shown what the device can. */
const ENOUGH_MS = 20;
/** Elements of a vector: from what is beyond the caches of a processor to what is beyond a GPU's. */
const VECTORS = [2 ** 20, 2 ** 22, 2 ** 24];
const PRODUCTS = [256, 512, 1_024, 2_048, 4_096];

/** What a device reaches: the memory's speed in additions of long vectors, and float32 operations in products. */
export async function measureLimits(backend: ComputeBackend, signal: AbortSignal): Promise<DeviceLimits> {
  const added = await measure(VECTORS, signal, (n) =>
    best(backend, signal, n, ([a, b, c]) => backend.binary({ op: 'add', n, a, b, output: c })),
  );
  const products = await measure(PRODUCTS, signal, (n) =>
    best(backend, signal, n * n, ([a, b, c]) => backend.gemm({ m: n, n, k: n, a, b, c })),
  );
  const gbs = added.at(-1)?.gbs;
  const gflops = products.length === 0 ? undefined : Math.max(...products.map((product) => product.gflops));
  return { ...(gbs === undefined ? {} : { gbs }), ...(gflops === undefined ? {} : { gflops }) };
}

interface Speed {
  readonly ms: number;
  readonly gbs: number;
  readonly gflops: number;
}

/** The speeds of ever larger calls, until one takes long enough or cannot be made. */
async function measure(
  sizes: readonly number[],
  signal: AbortSignal,
  speedOf: (size: number) => Promise<Speed | undefined>,
): Promise<readonly Speed[]> {
  const speeds: Speed[] = [];
  for (const size of sizes) {
    const speed = signal.aborted ? undefined : await speedOf(size);
    if (speed !== undefined) speeds.push(speed);
    if (speed === undefined || speed.ms >= ENOUGH_MS) break;
  }
  return speeds;
}

type Pointers = readonly [a: DevicePtr, b: DevicePtr, c: DevicePtr];

/** The fastest of some calls on vectors of `n` floats, if they can be made here and something times them. */
async function best(
  backend: ComputeBackend,
  signal: AbortSignal,
  n: number,
  call: (pointers: Pointers) => void,
): Promise<Speed | undefined> {
  try {
    return await withBuffers(backend, async (scope) => {
      const pointers = [scope.alloc(4 * n), scope.alloc(4 * n), scope.alloc(4 * n)] as const;
      for (const pointer of pointers) backend.fill(pointer, 0, 4 * n);
      const { launches, result } = await profile(backend, () => Array.from({ length: TIMES }, () => call(pointers)), {
        signal,
      });
      if (result.status === 'rejected') throw result.reason;
      const times = launches.flatMap(({ ms }) => ms ?? []);
      const [{ bytes = 0, operations = 0 } = {}] = launches;
      const ms = Math.min(...times);
      return ms > 0 && ms < Infinity ? { ms, gbs: bytes / ms / 1e6, gflops: operations / ms / 1e6 } : undefined;
    });
  } catch (error) {
    if (isBackendError(error, 'UNSUPPORTED') || isBackendError(error, 'OUT_OF_MEMORY') || signal.aborted)
      return undefined;
    throw error;
  }
}
