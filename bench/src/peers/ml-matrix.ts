import { Matrix } from 'ml-matrix';
import { packageVersion } from '../machine.ts';
import { type Peer, pick, plainProduct } from '../peer.ts';

/** ml-matrix: rows of float64, a new matrix per product. */
export const mlMatrix: Peer = {
  name: 'ml-matrix',
  role: 'peer',
  version: packageVersion('ml-matrix'),
  async prepare(limitCase) {
    const { m, n, k, a, b } = plainProduct(limitCase);
    const left = Matrix.from1DArray(m, k, a);
    const right = Matrix.from1DArray(k, n, b);
    let c = new Matrix(0, 0);
    return {
      run: () => {
        c = left.mmul(right);
      },
      entries: async (indices) => pick(c.to1DArray(), limitCase, indices),
    };
  },
};
