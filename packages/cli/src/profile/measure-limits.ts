import { type ComputeBackend, type DevicePtr, isBackendError, withBuffers } from '@concord/backend-core';
import { type DeviceLimits, profile } from '@concord/backend-core/profile';

/** Beyond the caches of devices. */
const ADDED = 2 ** 24;
const TIMES = 4;
/** A product that takes this long has shown what the device can. */
const ENOUGH_MS = 20;
const LARGEST = 4_096;

/** What a device reaches: the memory's speed in additions of long vectors, and float32 operations in products. */
export async function measureLimits(backend: ComputeBackend, signal: AbortSignal): Promise<DeviceLimits> {
  const added = await best(backend, signal, ADDED, (n, [a, b, c]) => backend.binary({ op: 'add', n, a, b, output: c }));
  let gflops: number | undefined;
  for (let n = 256; n <= LARGEST && !signal.aborted; n *= 2) {
    const product = await best(backend, signal, n * n, (_, [a, b, c]) => backend.gemm({ m: n, n, k: n, a, b, c }));
    if (product === undefined) break;
    gflops = Math.max(gflops ?? 0, product.gflops);
    if (product.ms >= ENOUGH_MS) break;
  }
  return { ...(added === undefined ? {} : { gbs: added.gbs }), ...(gflops === undefined ? {} : { gflops }) };
}

type Pointers = readonly [a: DevicePtr, b: DevicePtr, c: DevicePtr];

/** The fastest of some calls on vectors of `n` floats, if they can be made here and something times them. */
async function best(
  backend: ComputeBackend,
  signal: AbortSignal,
  n: number,
  call: (n: number, pointers: Pointers) => void,
): Promise<{ readonly ms: number; readonly gbs: number; readonly gflops: number } | undefined> {
  try {
    return await withBuffers(backend, async (scope) => {
      const pointers = [scope.alloc(4 * n), scope.alloc(4 * n), scope.alloc(4 * n)] as const;
      for (const pointer of pointers) backend.fill(pointer, 0, 4 * n);
      const { launches, result } = await profile(
        backend,
        () => Array.from({ length: TIMES }, () => call(n, pointers)),
        { signal },
      );
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
