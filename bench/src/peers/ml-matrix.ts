import { Matrix } from 'ml-matrix';
import { packageVersion } from '../machine.ts';
import { type Peer, type Prepared, unexpected } from '../peer.ts';
import type { Work } from '../work.ts';

/** ml-matrix: rows of float64, a new matrix per product. */
export const mlMatrix: Peer = {
  name: 'ml-matrix',
  version: packageVersion('ml-matrix'),
  ops: ['gemm'],
  async prepare(work: Work): Promise<Prepared> {
    if (work.op !== 'gemm') return unexpected(work);
    const a = Matrix.from1DArray(work.m, work.k, work.a);
    const b = Matrix.from1DArray(work.k, work.n, work.b);
    let c = new Matrix(0, 0);
    return {
      run: () => {
        c = a.mmul(b);
      },
      result: async () => c.to1DArray(),
    };
  },
};
