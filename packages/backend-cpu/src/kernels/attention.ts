/**
 * attention, `softmax(scale Q K^T) V` per batch and head, without ever storing the score matrix.
 *
 * A block of up to 192 queries meets the keys in tiles of 128. Per tile: scores = Q K^T by the tile kernel; the softmax
 * is carried on line by line (largest score so far, sum of exponentials relative to it, and what was summed before is
 * scaled down when a larger score turns up); the exponentials go straight into the planes of A, and the tile kernel
 * adds their product with V to the block's float64 outputs. Division by the sum comes last.
 */

import type { CheckedAttention } from '@concord/backend-core/implement';
import { expNonPositive } from './exp.ts';
import { hasNonFinite } from './finite.ts';
import { packPanels, panelStart } from './pack.ts';
import {
  BLOCK_COLUMNS,
  BLOCK_DEPTH,
  BLOCK_ROWS,
  multiplyPanels,
  PLANE_A_LENGTH,
  planesA,
  planesB,
  roundUp,
  TILE_COLUMNS,
  TILE_ROWS,
} from './tile.ts';

/** Keys per tile; even, at most BLOCK_COLUMNS and BLOCK_DEPTH. */
const TILE_KEYS = 128;
/** Bound of the outputs kept for a block of queries, in elements. */
const BLOCK_OUTPUTS = 2 ** 18;

const scores = new Float64Array(BLOCK_ROWS * TILE_KEYS);
const largest = new Float64Array(BLOCK_ROWS);
const totals = new Float64Array(BLOCK_ROWS);
let outputs = new Float64Array(0);

/** A block of queries of one head and the tile of keys it meets. */
interface Tile {
  readonly query: number;
  readonly queries: number;
  readonly key: number;
  readonly keys: number;
  /** Where the exponentials begin in the planes of A. */
  readonly offset: number;
}

/** Q, O: `[batch, heads, seqQ, headDim]`; K, V: `[batch, heads, seqKv, headDim]`, packed. */
export function attention(
  call: CheckedAttention,
  q: Float32Array,
  k: Float32Array,
  v: Float32Array,
  o: Float32Array,
): void {
  const { seqQ, seqKv, headDim } = call;
  // Planes of A hold the queries (one depth block of them) and, behind them, the exponentials.
  const panels = Math.floor(PLANE_A_LENGTH / (Math.min(headDim, BLOCK_DEPTH) + TILE_KEYS));
  const fitting = Math.min(panels, Math.floor(BLOCK_OUTPUTS / (TILE_ROWS * roundUp(headDim, TILE_COLUMNS))));
  const blockRows = Math.min(BLOCK_ROWS, TILE_ROWS * Math.max(1, fitting));
  const needed = roundUp(Math.min(blockRows, seqQ), TILE_ROWS) * roundUp(headDim, TILE_COLUMNS);
  if (outputs.length < needed) outputs = new Float64Array(needed);

  for (let head = 0; head < call.batch * call.heads; head++) {
    for (let query = 0; query < seqQ; query += blockRows) {
      const queries = Math.min(blockRows, seqQ - query);
      attendBlock(call, head * seqQ + query, query, queries, head * seqKv, q, k, v, o);
    }
  }
}

function attendBlock(
  call: CheckedAttention,
  firstRow: number,
  query: number,
  queries: number,
  firstKeyRow: number,
  q: Float32Array,
  k: Float32Array,
  v: Float32Array,
  o: Float32Array,
): void {
  const { headDim, causal } = call;
  const stride = roundUp(headDim, TILE_COLUMNS);
  outputs.fill(0, 0, roundUp(queries, TILE_ROWS) * stride);
  largest.fill(-Infinity);
  totals.fill(0);
  const offset = panelStart(roundUp(queries, TILE_ROWS), TILE_ROWS, Math.min(headDim, BLOCK_DEPTH));
  const visible = causal ? Math.min(call.seqKv, query + queries) : call.seqKv;

  for (let key = 0; key < visible; key += TILE_KEYS) {
    const tile: Tile = { query, queries, key, keys: Math.min(TILE_KEYS, visible - key), offset };
    scoreTile(call, tile, key === 0, q, firstRow * headDim, k, (firstKeyRow + key) * headDim);
    for (let r = 0; r < queries; r++) softmaxRow(tile, r, visibleKeys(tile, r, causal), call.scale, stride);
    addValues(tile, causal, headDim, stride, v, (firstKeyRow + key) * headDim);
  }
  for (let r = 0; r < queries; r++) {
    const to = (firstRow + r) * headDim;
    const total = totals[r] as number;
    for (let d = 0; d < headDim; d++) o[to + d] = (outputs[r * stride + d] as number) / total;
  }
}

/** How many keys of the tile query r sees. */
function visibleKeys(tile: Tile, r: number, causal: boolean): number {
  return causal ? Math.max(0, Math.min(tile.keys, tile.query + r + 1 - tile.key)) : tile.keys;
}

function scoreTile(
  call: CheckedAttention,
  tile: Tile,
  first: boolean,
  q: Float32Array,
  startQ: number,
  k: Float32Array,
  startK: number,
): void {
  const { headDim } = call;
  scores.fill(0, 0, roundUp(tile.queries, TILE_ROWS) * TILE_KEYS);
  for (let d = 0; d < headDim; d += BLOCK_DEPTH) {
    const depth = Math.min(BLOCK_DEPTH, headDim - d);
    // If the whole depth fits, the queries stay packed from the first tile on.
    if (first || headDim > BLOCK_DEPTH) packPanels(planesA, q, startQ + d, headDim, 1, tile.queries, depth);
    packPanels(planesB, k, startK + d, headDim, 1, tile.keys, depth);
    multiplyPanels(tile.queries, tile.keys, depth, scores, TILE_KEYS);
  }
}

/** Turns the first `count` scores of a row into exponentials, in the planes of A; those of hidden keys are 0. */
function softmaxRow(tile: Tile, r: number, count: number, scale: number, stride: number): void {
  const plane = planesA[r % TILE_ROWS] as Float64Array;
  const to = tile.offset + panelStart(r, TILE_ROWS, tile.keys);
  const from = r * TILE_KEYS;
  const before = largest[r] as number;
  // Math.max, unlike a comparison, keeps NaN. Rounding is monotonic, so the scaled maximum is the maximum when scaled.
  // Scores are float32 before they are scaled, so that one beyond its range is infinite.
  let maximum = -Infinity;
  for (let j = 0; j < count; j++) maximum = Math.max(maximum, scores[from + j] as number);
  maximum = Math.max(before, Math.fround(maximum) * scale);
  largest[r] = maximum;
  // Scores of -Infinity alone have no softmax yet: their sum stays 0, and 0 / 0 gives NaN if nothing else follows.
  const shift = maximum === -Infinity ? 0 : maximum;
  let total = 0;
  for (let j = 0; j < count; j++) {
    const exponential = expNonPositive(Math.fround(scores[from + j] as number) * scale - shift);
    plane[to + j] = exponential;
    total += exponential;
  }
  for (let j = count; j < tile.keys; j++) plane[to + j] = 0;
  if (maximum !== before && before !== -Infinity) {
    const factor = expNonPositive(before - maximum);
    totals[r] = (totals[r] as number) * factor;
    for (let d = r * stride; d < (r + 1) * stride; d++) outputs[d] = (outputs[d] as number) * factor;
  }
  totals[r] = (totals[r] as number) + total;
}

/** `outputs += exponentials * V` for the keys of the tile. */
function addValues(
  tile: Tile,
  causal: boolean,
  headDim: number,
  stride: number,
  v: Float32Array,
  startV: number,
): void {
  const { queries, keys, offset } = tile;
  const hidden = causal && tile.key + keys - 1 > tile.query;
  if (hidden && hasNonFinite(v, startV, keys * headDim)) {
    addVisibleValues(tile, headDim, stride, v, startV);
    return;
  }
  for (let d = 0; d < headDim; d += BLOCK_COLUMNS) {
    const columns = Math.min(BLOCK_COLUMNS, headDim - d);
    packPanels(planesB, v, startV + d, 1, headDim, columns, keys);
    multiplyPanels(queries, columns, keys, outputs, stride, d, offset);
  }
}

/** As {@link addValues}, for a V whose infinities must not meet the zeros of hidden keys: 0 * Infinity is NaN. */
function addVisibleValues(tile: Tile, headDim: number, stride: number, v: Float32Array, startV: number): void {
  for (let r = 0; r < tile.queries; r++) {
    const plane = planesA[r % TILE_ROWS] as Float64Array;
    const from = tile.offset + panelStart(r, TILE_ROWS, tile.keys);
    for (let j = 0; j < visibleKeys(tile, r, true); j++) {
      const weight = plane[from + j] as number;
      for (let d = 0; d < headDim; d++) {
        const at = r * stride + d;
        outputs[at] = (outputs[at] as number) + weight * (v[startV + j * headDim + d] as number);
      }
    }
  }
}
