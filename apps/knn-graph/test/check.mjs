// @ts-check
import { gemmReference } from '@concord/backend-cpu/reference';

/**
 * Checks some vectors of a graph against the float64 oracle. The neighbours of one are right if they are different others,
 * and if the score of the n-th is, within the bound of docs/numerics.md, both its exact cosine and the n-th best of all.
 *
 * @param {{ scores: Float32Array, vectors: Uint32Array, width: number }} graph `[vectors, width]`
 * @param {{ vectors: number, dimensions: number, read(from: number, to: number): Promise<Float32Array> }} corpus
 * @param {readonly number[]} rows
 */
export async function checkGraph({ scores, vectors, width }, corpus, rows) {
  const { dimensions } = corpus;
  const all = await corpus.read(0, corpus.vectors);
  const errors = rows.map((row) => {
    const query = all.subarray(row * dimensions, (row + 1) * dimensions);
    const shape = /** @type {const} */ ({ m: 1, n: corpus.vectors, k: dimensions, transB: 'T' });
    const exact = gemmReference(shape, query, all).value;
    exact[row] = -Infinity;
    const best = Float64Array.from(exact).sort().reverse();
    const listed = [...vectors.subarray(row * width, (row + 1) * width)];
    if (new Set(listed).size < width) return Infinity;
    const off = listed.map((vector, place) => {
      const score = scores[row * width + place] ?? NaN;
      return Math.max(Math.abs(score - (exact[vector] ?? NaN)), Math.abs(score - (best[place] ?? NaN)));
    });
    return Math.max(...off);
  });
  // gamma(k + 3), and two roundings by which vectors are longer than 1.
  const terms = (dimensions + 5) * 2 ** -23;
  const allowed = terms / (1 - terms);
  const wrong = errors.filter((error) => !(error <= allowed)).length;
  return { checked: rows.length, wrong, largestError: Math.max(...errors), allowed };
}
