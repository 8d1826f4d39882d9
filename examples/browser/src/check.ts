import { gemmReference } from '@concord/backend-cpu/reference';

/** The comparison of a sample of a product's entries with the float64 oracle. */
export interface Check {
  /** The number of compared entries. */
  readonly entries: number;
  /** |got - want| of the entry that comes closest to its bound; Infinity for one that is no number. */
  readonly error: number;
  /** The difference that was allowed there. */
  readonly allowed: number;
  readonly passed: boolean;
}

const ENTRIES = 256;

/**
 * Compares entries of `product = left right` (n x n, row-major), its corners and others at random, with the oracle. Each
 * may be off by what `docs/numerics.md` allows a dot product of n terms: gamma(n + 3) sum|a||b| + (n + 2) 2^-126.
 */
export function checkProduct(n: number, left: Float32Array, right: Float32Array, product: Float32Array): Check {
  const corners = [0, n - 1].flatMap((row) => [0, n - 1].map((column) => ({ row, column })));
  let worst = { error: 0, allowed: 1 };
  for (let entry = 0; entry < ENTRIES; entry++) {
    const { row, column } = corners[entry] ?? { row: anyBelow(n), column: anyBelow(n) };
    const shape = { m: 1, n: 1, k: n, lda: n, ldb: n };
    const { value, magnitude } = gemmReference(shape, left, right, [], { a: row * n, b: column });
    const got = product[row * n + column] as number;
    const error = Number.isFinite(got) ? Math.abs(got - (value[0] as number)) : Infinity;
    const allowed = gamma(n + 3) * (magnitude[0] as number) + (n + 2) * 2 ** -126;
    if (error / allowed > worst.error / worst.allowed) worst = { error, allowed };
  }
  return { entries: ENTRIES, ...worst, passed: worst.error <= worst.allowed };
}

/** The relative error of i roundings, each of at most 2^-23. */
function gamma(i: number): number {
  const iu = i * 2 ** -23;
  return iu / (1 - iu);
}

function anyBelow(n: number): number {
  return Math.floor(Math.random() * n);
}
