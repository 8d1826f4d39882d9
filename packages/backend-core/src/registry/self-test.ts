import type { ComputeBackend } from '../contract/backend.ts';
import { BackendError } from '../errors/backend-error.ts';
import { download, upload } from '../host/transfer.ts';

/**
 * Adds three numbers on the device. A driver that starts and then computes nonsense is found here instead of in the
 * user's results.
 *
 * @throws {BackendError} DEVICE_ERROR when the sum is wrong, or whatever the backend throws
 */
export async function selfTest(backend: ComputeBackend): Promise<void> {
  const a = upload(backend, [1, 2, 3], { label: 'self test' });
  const b = upload(backend, [10, 20, 30], { label: 'self test' });
  try {
    // Of a backend that runs some kernels, the sum of two may not be one.
    const adds = backend.supports('binary', { op: 'add', n: 3 }).ok;
    if (adds) backend.binary({ op: 'add', a, b, output: b, n: 3 });
    else backend.copyDtod(b, a, 12);
    const want = adds ? '11,22,33' : '1,2,3';
    const got = String(await download(backend, b, 3, { timeoutMs: 30_000 }));
    if (got !== want) {
      throw new BackendError('DEVICE_ERROR', `self test gave [${got}] instead of [${want}]`, {
        backend: backend.name,
      });
    }
  } finally {
    backend.free(a);
    backend.free(b);
  }
}
