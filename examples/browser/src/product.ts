import { type ComputeBackend, download, upload } from '@concord/backend-core';
import { type Check, checkProduct } from './check.ts';

/** The outcome of one multiplication. */
export interface Product {
  readonly n: number;
  /** Each timed run, in milliseconds. */
  readonly runs: readonly number[];
  /** The first rows and columns. */
  readonly corner: readonly (readonly number[])[];
  readonly check: Check;
}

const RUNS = 5;
/** A device that is slow stops after the run that exceeds this. */
const LONGEST_MS = 2000;
const CORNER = 4;

/**
 * Multiplies two random n x n matrices a few times and checks the result.
 *
 * @param onStep - told what comes next, before it is begun
 * @throws {BackendError}
 */
export async function multiply(
  backend: ComputeBackend,
  n: number,
  onStep: (step: string) => Promise<void>,
): Promise<Product> {
  await onStep(`Filling two ${n} x ${n} matrices`);
  const [left, right] = [randomMatrix(n), randomMatrix(n)];
  const a = upload(backend, left);
  const b = upload(backend, right);
  const c = backend.alloc(n * n * 4);
  try {
    // Not timed: the first call of an op compiles its shader.
    await onStep('First run');
    backend.gemm({ m: n, n, k: n, a, b, c });
    await backend.synchronize();

    const runs: number[] = [];
    const end = performance.now() + LONGEST_MS;
    while (runs.length < RUNS && performance.now() < end) {
      await onStep(`Run ${runs.length + 1} of ${RUNS}`);
      const start = performance.now();
      backend.gemm({ m: n, n, k: n, a, b, c });
      await backend.synchronize();
      runs.push(performance.now() - start);
    }

    await onStep('Checking');
    const product = await download(backend, c, n * n);
    const corner = Array.from({ length: CORNER }, (_, row) => [...product.subarray(row * n, row * n + CORNER)]);
    return { n, runs, corner, check: checkProduct(n, left, right, product) };
  } finally {
    for (const ptr of [a, b, c]) backend.free(ptr);
  }
}

/** The middle one, which a run that the browser interrupted does not move. */
export function median(runs: readonly number[]): number {
  const sorted = [...runs].sort((x, y) => x - y);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
}

/** Numbers from -1 to 1. */
function randomMatrix(n: number): Float32Array {
  return Float32Array.from({ length: n * n }, () => Math.random() * 2 - 1);
}
