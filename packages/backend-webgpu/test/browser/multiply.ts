import { download, upload } from '@concord/backend-core';
import { WebGpuBackend } from '@concord/backend-webgpu';

/** A product of two 2 x 2 matrices on its own backend. */
export async function multiply(): Promise<number[]> {
  const backend = new WebGpuBackend();
  await backend.init();
  const a = upload(backend, [1, 2, 3, 4]);
  const b = upload(backend, [5, 6, 7, 8]);
  const c = backend.alloc(4 * 4);
  backend.gemm({ m: 2, n: 2, k: 2, a, b, c });
  const product = await download(backend, c, 4);
  await backend.dispose();
  return [...product];
}
