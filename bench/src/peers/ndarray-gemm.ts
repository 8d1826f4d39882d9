import ndarray from 'ndarray';
import { packageVersion } from '../machine.ts';
import { type Peer, pick, plainProduct } from '../peer.ts';

type Multiply = (c: ndarray.NdArray, a: ndarray.NdArray, b: ndarray.NdArray) => void;

/** ndarray-gemm: blocked loops over ndarrays, here of float32. */
export const ndarrayGemm: Peer = {
  name: 'ndarray-gemm',
  role: 'peer',
  version: packageVersion('ndarray-gemm'),
  async prepare(limitCase) {
    const { m, n, k, a, b } = plainProduct(limitCase);
    // Published without types.
    const name: string = 'ndarray-gemm';
    const { default: multiply } = (await import(name)) as { default: Multiply };
    const data = new Float32Array(m * n);
    const [x, y, z] = [ndarray(a, [m, k]), ndarray(b, [k, n]), ndarray(data, [m, n])];
    return { run: () => multiply(z, x, y), entries: async (indices) => pick(data, limitCase, indices) };
  },
};
