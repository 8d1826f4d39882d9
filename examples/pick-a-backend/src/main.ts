import { download, formatAttempts, selectBackend, withBuffers } from '@concord/backend-core';
import { cpu } from '@concord/backend-cpu';
import { levelZero } from '@concord/backend-levelzero';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';

const { backend, attempts } = await selectBackend([levelZero(), webgpu(), wasm(), cpu()]);
console.log(formatAttempts(attempts));
const product = await withBuffers(backend, (scope) => {
  const [a, b, c] = [scope.upload([1, 2, 3, 4, 5, 6]), scope.upload([7, 8, 9, 10, 11, 12]), scope.alloc(4 * 4)];
  backend.gemm({ m: 2, n: 2, k: 3, a, b, c });
  return download(backend, c, 4);
});
console.log(`(1 2 3; 4 5 6) x (7 8; 9 10; 11 12) = ${product.join(' ')}`);
await backend.dispose();
