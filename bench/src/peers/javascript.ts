import { notOffered, type Peer, pick, type PlainProduct, plainProduct } from '../peer.ts';
import { packageVersion } from '../results.ts';

/**
 * The baseline: a product that one writes by hand in an afternoon. A 4 x 4 tile of float64 sums in local variables, straight over
 * the unpacked matrices. It wants multiples of 4.
 */
export const handTiled: Peer = {
  name: 'hand-tiled loop',
  role: 'peer',
  version: '4x4 sums in registers, unpacked',
  async prepare(limitCase) {
    const { m, n, k, a, b } = plainProduct(limitCase);
    if ([m, n, k].some((size) => size % 4 > 0)) notOffered(limitCase.work, 'wants multiples of 4');
    const c = new Float32Array(m * n);
    return { run: () => multiply(m, n, k, a, b, c), entries: async (indices) => pick(c, limitCase, indices) };
  },
};

function multiply(m: number, n: number, k: number, a: Float32Array, b: Float32Array, c: Float32Array): void {
  for (let i = 0; i < m; i += 4) {
    for (let j = 0; j < n; j += 4) {
      let [c00, c01, c02, c03] = [0, 0, 0, 0];
      let [c10, c11, c12, c13] = [0, 0, 0, 0];
      let [c20, c21, c22, c23] = [0, 0, 0, 0];
      let [c30, c31, c32, c33] = [0, 0, 0, 0];
      for (let p = 0; p < k; p++) {
        const q = p * n + j;
        const b0 = b[q] as number;
        const b1 = b[q + 1] as number;
        const b2 = b[q + 2] as number;
        const b3 = b[q + 3] as number;
        const a0 = a[i * k + p] as number;
        const a1 = a[(i + 1) * k + p] as number;
        const a2 = a[(i + 2) * k + p] as number;
        const a3 = a[(i + 3) * k + p] as number;
        c00 += a0 * b0;
        c01 += a0 * b1;
        c02 += a0 * b2;
        c03 += a0 * b3;
        c10 += a1 * b0;
        c11 += a1 * b1;
        c12 += a1 * b2;
        c13 += a1 * b3;
        c20 += a2 * b0;
        c21 += a2 * b1;
        c22 += a2 * b2;
        c23 += a2 * b3;
        c30 += a3 * b0;
        c31 += a3 * b1;
        c32 += a3 * b2;
        c33 += a3 * b3;
      }
      c.set([c00, c01, c02, c03], i * n + j);
      c.set([c10, c11, c12, c13], (i + 1) * n + j);
      c.set([c20, c21, c22, c23], (i + 2) * n + j);
      c.set([c30, c31, c32, c33], (i + 3) * n + j);
    }
  }
}

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
