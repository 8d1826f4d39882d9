import { packageVersion } from '../machine.ts';
import { type Peer, pick, type PlainProduct, plainProduct } from '../peer.ts';

/** A product made ready: a function that multiplies, and the result. */
interface Product {
  readonly run: () => void;
  readonly result: () => ArrayLike<number>;
}

function library(name: string, packageName: string, prepare: (product: PlainProduct) => Product): Peer {
  return {
    name,
    role: 'peer',
    version: packageVersion(packageName),
    async prepare(limitCase) {
      const { run, result } = prepare(plainProduct(limitCase));
      return { run, entries: async (indices) => pick(result(), limitCase, indices) };
    },
  };
}

/** numeric: arrays of arrays of doubles. Old, and still the fastest of the pure JavaScript ones that were tried. */
export async function numericJs(): Promise<Peer> {
  const { default: numeric } = await import('numeric');
  const rows = (data: Float32Array, length: number): number[][] =>
    Array.from({ length: data.length / length }, (_, i) => [...data.subarray(i * length, (i + 1) * length)]);
  return library('numeric', 'numeric', ({ n, k, a, b }) => {
    const [left, right] = [rows(a, k), rows(b, n)];
    let c: number[][] = [];
    return { run: () => (c = numeric.dotMMbig(left, right)), result: () => c.flat() };
  });
}

/** ml-matrix: rows of float64, a new matrix per product. */
export async function mlMatrix(): Promise<Peer> {
  const { Matrix } = await import('ml-matrix');
  return library('ml-matrix', 'ml-matrix', ({ m, n, k, a, b }) => {
    const [left, right] = [Matrix.from1DArray(m, k, a), Matrix.from1DArray(k, n, b)];
    let c = new Matrix(0, 0);
    return { run: () => (c = left.mmul(right)), result: () => c.to1DArray() };
  });
}

/** stdlib's sgemm: the reference BLAS in JavaScript, rounding to float32 at every step. */
export async function stdlib(): Promise<Peer> {
  const { default: sgemm } = await import('@stdlib/blas-base-sgemm');
  return library('stdlib sgemm', '@stdlib/blas-base-sgemm', ({ m, n, k, a, b }) => {
    const c = new Float32Array(m * n);
    const run = (): void => void sgemm('row-major', 'no-transpose', 'no-transpose', m, n, k, 1, a, k, b, n, 0, c, n);
    return { run, result: () => c };
  });
}

/** ndarray-gemm: blocked loops over ndarrays, here of float32. */
export async function ndarrayGemm(): Promise<Peer> {
  const { default: ndarray } = await import('ndarray');
  // Published without types.
  const name: string = 'ndarray-gemm';
  const { default: multiply } = (await import(name)) as { default: (...cab: readonly object[]) => void };
  return library(name, name, ({ m, n, k, a, b }) => {
    const c = new Float32Array(m * n);
    const [x, y, z] = [ndarray(a, [m, k]), ndarray(b, [k, n]), ndarray(c, [m, n])];
    return { run: () => multiply(z, x, y), result: () => c };
  });
}
