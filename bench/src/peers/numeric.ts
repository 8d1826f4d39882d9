import numeric from 'numeric';
import { packageVersion } from '../machine.ts';
import { type Peer, pick, plainProduct } from '../peer.ts';

/** numeric: arrays of arrays of doubles. Old, and still the fastest of the pure JavaScript ones that were tried. */
export const numericJs: Peer = {
  name: 'numeric',
  role: 'peer',
  version: packageVersion('numeric'),
  async prepare(limitCase) {
    const { n, k, a, b } = plainProduct(limitCase);
    const left = rows(a, k);
    const right = rows(b, n);
    let c: number[][] = [];
    return {
      run: () => {
        c = numeric.dotMMbig(left, right);
      },
      entries: async (indices) => pick(c.flat(), limitCase, indices),
    };
  },
};

function rows(data: Float32Array, length: number): number[][] {
  return Array.from({ length: data.length / length }, (_, i) => [...data.subarray(i * length, (i + 1) * length)]);
}
