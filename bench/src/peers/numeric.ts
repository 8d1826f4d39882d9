import numeric from 'numeric';
import { packageVersion } from '../machine.ts';
import { type Peer, type Prepared, unexpected } from '../peer.ts';
import type { Work } from '../work.ts';

/** numeric: arrays of arrays of doubles. Old, and still the fastest of the pure JavaScript ones that were tried. */
export const numericJs: Peer = {
  name: 'numeric',
  version: packageVersion('numeric'),
  ops: ['gemm'],
  async prepare(work: Work): Promise<Prepared> {
    if (work.op !== 'gemm') return unexpected(work);
    const a = rows(work.a, work.k);
    const b = rows(work.b, work.n);
    let c: number[][] = [];
    return {
      run: () => {
        c = numeric.dotMMbig(a, b);
      },
      result: async () => c.flat(),
    };
  },
};

function rows(data: Float32Array, length: number): number[][] {
  return Array.from({ length: data.length / length }, (_, i) => [...data.subarray(i * length, (i + 1) * length)]);
}
