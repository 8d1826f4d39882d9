import { type ComputeBackend, type DevicePtr, isBackendError, withBuffers } from '@concord/backend-core';
import { type DeviceLimits, type LaunchSum, profile, sumLaunches } from '@concord/backend-core/profile';

const TIMES = 4;
/** A call that takes this long has shown what the device can. */
const ENOUGH_MS = 20;
/** Elements of a vector: from what is beyond the caches of a processor to what is beyond a GPU's. */
const VECTORS = [2 ** 20, 2 ** 22, 2 ** 24];
const PRODUCTS = [256, 512, 1_024, 2_048, 4_096];

type Call = (n: number, a: DevicePtr, b: DevicePtr, c: DevicePtr) => void;

/**
 * Measures what a device reaches: bytes per second in additions of long vectors, and float32 operations in products.
 */
export async function measureLimits(backend: ComputeBackend, signal: AbortSignal): Promise<DeviceLimits> {
  const add: Call = (n, a, b, c) => backend.binary({ op: 'add', n, a, b, output: c });
  const multiply: Call = (n, a, b, c) => backend.gemm({ m: n, n, k: n, a, b, c });
  const added = await speedsOf(backend, signal, VECTORS, 1, add);
  const products = await speedsOf(backend, signal, PRODUCTS, 2, multiply);
  const [gbs, gflops] = [added.at(-1)?.gbs, Math.max(...products.map((product) => product.gflops ?? 0))];
  return { ...(gbs === undefined ? {} : { gbs }), ...(gflops > 0 ? { gflops } : {}) };
}

/** The fastest of some calls on operands of `n ** power` floats, for ever larger `n` until one takes long or cannot be made. */
async function speedsOf(
  backend: ComputeBackend,
  signal: AbortSignal,
  sizes: readonly number[],
  power: number,
  call: Call,
): Promise<readonly LaunchSum[]> {
  const speeds: LaunchSum[] = [];
  for (const n of sizes) {
    const bytes = 4 * n ** power;
    const work = withBuffers(backend, async (scope) => {
      const [a, b, c] = [scope.alloc(bytes), scope.alloc(bytes), scope.alloc(bytes)] as const;
      for (const ptr of [a, b]) backend.fill(ptr, 0, bytes);
      return profile(backend, () => Array.from({ length: TIMES }, () => call(n, a, b, c)), { signal });
    });
    const { launches, result } = await work.catch((reason: unknown) => ({
      launches: [],
      result: { status: 'rejected' as const, reason },
    }));
    if (result.status === 'rejected') {
      if (
        signal.aborted ||
        isBackendError(result.reason, 'UNSUPPORTED') ||
        isBackendError(result.reason, 'OUT_OF_MEMORY')
      )
        break;
      throw result.reason;
    }
    // Sums of one each; those that took longest come first.
    const speed = sumLaunches(launches, (launch) => `${launch.startMs}`).at(-1);
    if (speed?.ms === undefined) break;
    speeds.push(speed);
    if (speed.ms >= ENOUGH_MS) break;
  }
  return speeds;
}
