/** A row of the matrix and its score. */
export interface Ranked {
  readonly row: number;
  readonly score: number;
}

/**
 * The `k` rows of the highest scores, best first; equal ones in the order of the rows.
 *
 * @param accept - whether a row may be among them; asked only for those that would be
 */
export function topRows(scores: Float32Array, k: number, accept: (row: number) => boolean = () => true): Ranked[] {
  const best: Ranked[] = [];
  for (const [row, score] of scores.entries()) {
    if (best.length === k && !(score > (best.at(-1) as Ranked).score)) continue;
    if (!accept(row)) continue;
    const at = best.findIndex((other) => score > other.score);
    best.splice(at < 0 ? best.length : at, 0, { row, score });
    if (best.length > k) best.pop();
  }
  return best;
}
