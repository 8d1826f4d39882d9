import { gemmReference } from '@concord/backend-cpu/reference';
import type { Corpus } from './corpus.ts';
import type { Neighbours } from './neighbours.ts';
import { type Plan, rangesOf } from './plan.ts';

/** How many vectors were checked and how many of them have wrong neighbours; the largest error, and what is allowed. */
export type CheckResult = Readonly<Record<'vectors' | 'wrong' | 'largestError' | 'allowed', number>>;

/**
 * Checks some vectors against the float64 oracle. The neighbours of one are right if they are different others, and if the
 * score of the n-th is, within the bound of docs/numerics.md, both its exact cosine and the n-th best of all.
 */
export async function checkGraph(graph: Neighbours, corpus: Corpus, plan: Plan, rows: number[]): Promise<CheckResult> {
  const { dimensions, shardRows, k, vectors } = plan;
  const checks: { row: number; query: Float32Array; exact: Float64Array }[] = [];
  for (const row of rows)
    checks.push({ row, query: await corpus.read(row, row + 1), exact: new Float64Array(vectors) });
  for (const [from, to] of rangesOf(plan, shardRows)) {
    const shard = await corpus.read(from, to);
    const shape = { m: 1, n: to - from, k: dimensions, transB: 'T' } as const;
    for (const { query, exact } of checks) exact.set(gemmReference(shape, query, shard).value, from);
  }
  const errors = checks.map(({ row, exact }) => {
    exact[row] = -Infinity;
    const best = Float64Array.from(exact).sort().reverse();
    const listed = [...graph.vectors.subarray(row * k, (row + 1) * k)];
    if (new Set(listed).size < k) return Infinity;
    const scores = graph.scores.subarray(row * k, (row + 1) * k);
    const off = (score: number, right: number | undefined): number => Math.abs(score - (right ?? Infinity));
    return Math.max(
      ...listed.map((vector, n) =>
        Math.max(off(scores[n] as number, exact[vector]), off(scores[n] as number, best[n])),
      ),
    );
  });
  // gamma(k + 3), and two roundings by which the vectors are longer than 1.
  const terms = (dimensions + 5) * 2 ** -23;
  const allowed = terms / (1 - terms);
  const wrong = errors.filter((error) => !(error <= allowed)).length;
  return { vectors: rows.length, wrong, largestError: Math.max(...errors), allowed };
}
