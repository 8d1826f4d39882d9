import sgemm from '@stdlib/blas-base-sgemm';
import { packageVersion } from '../machine.ts';
import { type Peer, type Prepared, unexpected } from '../peer.ts';
import type { Work } from '../work.ts';

/** stdlib's sgemm: the reference BLAS in JavaScript, rounding to float32 at every step. */
export const stdlib: Peer = {
  name: 'stdlib sgemm',
  version: packageVersion('@stdlib/blas-base-sgemm'),
  ops: ['gemm'],
  async prepare(work: Work): Promise<Prepared> {
    if (work.op !== 'gemm') return unexpected(work);
    const { m, n, k, a, b } = work;
    const c = new Float32Array(m * n);
    return {
      run: () => {
        sgemm('row-major', 'no-transpose', 'no-transpose', m, n, k, 1, a, k, b, n, 0, c, n);
      },
      result: async () => c,
    };
  },
};
