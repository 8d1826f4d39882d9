import sgemm from '@stdlib/blas-base-sgemm';
import { packageVersion } from '../machine.ts';
import { type Peer, pick, plainProduct } from '../peer.ts';

/** stdlib's sgemm: the reference BLAS in JavaScript, rounding to float32 at every step. */
export const stdlib: Peer = {
  name: 'stdlib sgemm',
  role: 'peer',
  version: packageVersion('@stdlib/blas-base-sgemm'),
  async prepare(limitCase) {
    const { m, n, k, a, b } = plainProduct(limitCase);
    const c = new Float32Array(m * n);
    return {
      run: () => {
        sgemm('row-major', 'no-transpose', 'no-transpose', m, n, k, 1, a, k, b, n, 0, c, n);
      },
      entries: async (indices) => pick(c, limitCase, indices),
    };
  },
};
