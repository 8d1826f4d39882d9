import ndarray from 'ndarray';
import { packageVersion } from '../machine.ts';
import { type Peer, type Prepared, unexpected } from '../peer.ts';
import type { Work } from '../work.ts';

type Multiply = (c: ndarray.NdArray, a: ndarray.NdArray, b: ndarray.NdArray) => void;

/** ndarray-gemm: blocked loops over ndarrays, here of float32. */
export const ndarrayGemm: Peer = {
  name: 'ndarray-gemm',
  version: packageVersion('ndarray-gemm'),
  ops: ['gemm'],
  async prepare(work: Work): Promise<Prepared> {
    if (work.op !== 'gemm') return unexpected(work);
    // Published without types.
    const name: string = 'ndarray-gemm';
    const { default: multiply } = (await import(name)) as { default: Multiply };
    const { m, n, k } = work;
    const data = new Float32Array(m * n);
    const [a, b, c] = [ndarray(work.a, [m, k]), ndarray(work.b, [k, n]), ndarray(data, [m, n])];
    return { run: () => multiply(c, a, b), result: async () => data };
  },
};
