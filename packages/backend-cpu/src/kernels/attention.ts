/**
 * attention, `softmax(scale Q K^T) V` per batch and head, without ever storing the score matrix.
 *
 * A block of up to 192 queries meets the keys in tiles of 128. Per tile: scores = Q K^T by the tile kernel; the softmax
 * is carried on line by line (largest score so far, sum of exponentials relative to it, and what was summed before is
 * scaled down when a larger score turns up); the exponentials go straight into the planes of A, and the tile kernel
 * adds their product with V to the block's float64 outputs. Division by the sum comes last.
 */

import { f32ToF16Bits } from '@concord/backend-core';
import type { CheckedAttention } from '@concord/backend-core/implement';
import { expNonPositive } from './exp.ts';
import { hasNonFinite } from './finite.ts';
import { decodeBlock, type Storage } from './half.ts';
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

/** The operands of an attention. */
export interface AttentionOperands {
  readonly q: Storage;
  readonly k: Storage;
  readonly v: Storage;
  /** There where `maskStrides` is. */
  readonly mask?: Float32Array | undefined;
  readonly o: Storage;
}

/** One head, and where it begins in each operand. */
interface Head extends AttentionOperands {
  readonly call: CheckedAttention;
  readonly startQ: number;
  readonly startK: number;
  readonly startV: number;
  readonly startMask: number;
  readonly startO: number;
}

/** A block of queries of one head and the tile of keys it meets. */
interface Tile {
  readonly query: number;
  readonly queries: number;
  readonly key: number;
  readonly keys: number;
  /** Where the exponentials begin in the planes of A. */
  readonly offset: number;
  /** Columns of a row of `outputs`. */
  readonly stride: number;
}

/** attention of a checked call. */
export function attention(call: CheckedAttention, operands: AttentionOperands): void {
  const { batch, heads, kvHeads, seqQ, headDim, qStrides, kStrides, vStrides, oStrides } = call;
  const [maskBatch = 0, maskHead = 0] = call.maskStrides ?? [];
  // Planes of A hold the queries (one depth block of them) and, after them, the exponentials.
  const panels = Math.floor(PLANE_A_LENGTH / (Math.min(headDim, BLOCK_DEPTH) + TILE_KEYS));
  const fitting = Math.min(panels, Math.floor(BLOCK_OUTPUTS / (TILE_ROWS * roundUp(headDim, TILE_COLUMNS))));
  const blockRows = Math.min(BLOCK_ROWS, TILE_ROWS * Math.max(1, fitting));
  const needed = roundUp(Math.min(blockRows, seqQ), TILE_ROWS) * roundUp(headDim, TILE_COLUMNS);
  if (outputs.length < needed) outputs = new Float64Array(needed);

  for (let b = 0; b < batch; b++) {
    for (let h = 0; h < heads; h++) {
      const kvHead = Math.floor((h * kvHeads) / heads);
      const head: Head = {
        ...operands,
        call,
        startQ: b * qStrides[0] + h * qStrides[1],
        startK: b * kStrides[0] + kvHead * kStrides[1],
        startV: b * vStrides[0] + kvHead * vStrides[1],
        startMask: b * maskBatch + h * maskHead,
        startO: b * oStrides[0] + h * oStrides[1],
      };
      for (let query = 0; query < seqQ; query += blockRows) {
        attendBlock(head, query, Math.min(blockRows, seqQ - query));
      }
    }
  }
}

function attendBlock(head: Head, query: number, queries: number): void {
  const { call, o, startO } = head;
  const { headDim, oStrides } = call;
  const stride = roundUp(headDim, TILE_COLUMNS);
  outputs.fill(0, 0, roundUp(queries, TILE_ROWS) * stride);
  largest.fill(-Infinity);
  totals.fill(0);
  const offset = panelStart(roundUp(queries, TILE_ROWS), TILE_ROWS, Math.min(headDim, BLOCK_DEPTH));
  const [first] = visibleKeys(call, query);
  const [, end] = visibleKeys(call, query + queries - 1);

  for (let key = first; key < end; key += TILE_KEYS) {
    const tile: Tile = { query, queries, key, keys: Math.min(TILE_KEYS, end - key), offset, stride };
    scoreTile(head, tile, key === first);
    for (let r = 0; r < queries; r++) softmaxRow(head, tile, r);
    addValues(head, tile);
  }
  for (let r = 0; r < queries; r++) {
    const to = startO + (query + r) * oStrides[2];
    const [from, until] = visibleKeys(call, query + r);
    const total = totals[r] as number;
    // A query without a key gives 0: with a mask, one with scores of -Infinity alone.
    const isBlind = from >= until || (total === 0 && call.maskStrides !== undefined);
    for (let d = 0; d < headDim; d++) {
      const value = isBlind ? 0 : (outputs[r * stride + d] as number) / total;
      o[to + d] = o instanceof Float32Array ? value : f32ToF16Bits(value);
    }
  }
}

/** A query sees the keys from the first to before the second, as far as `causal` and `window` say. */
function visibleKeys(call: CheckedAttention, query: number): readonly [first: number, end: number] {
  const { seqKv, causal, causalOffset, window } = call;
  const place = query + causalOffset;
  return [Math.max(0, place - window + 1), causal ? Math.min(seqKv, place + 1) : seqKv];
}

/** The same within a tile: numbers from its first key on. */
function visibleInTile(call: CheckedAttention, tile: Tile, r: number): readonly [first: number, end: number] {
  const [first, end] = visibleKeys(call, tile.query + r);
  const from = Math.min(tile.keys, Math.max(0, first - tile.key));
  return [from, Math.max(from, Math.min(tile.keys, end - tile.key))];
}

function scoreTile({ call, q, k, startQ, startK }: Head, tile: Tile, first: boolean): void {
  const { headDim, qStrides, kStrides } = call;
  const [rowQ, rowK] = [startQ + tile.query * qStrides[2], startK + tile.key * kStrides[2]];
  scores.fill(0, 0, roundUp(tile.queries, TILE_ROWS) * TILE_KEYS);
  for (let d = 0; d < headDim; d += BLOCK_DEPTH) {
    const depth = Math.min(BLOCK_DEPTH, headDim - d);
    // If the whole depth fits, the queries stay packed from the first tile on.
    if (first || headDim > BLOCK_DEPTH) packPanels(planesA, q, rowQ + d, qStrides[2], 1, tile.queries, depth);
    packPanels(planesB, k, rowK + d, kStrides[2], 1, tile.keys, depth);
    multiplyPanels(tile.queries, tile.keys, depth, scores, TILE_KEYS);
  }
}

/** Softcap and mask, for the scores of a row from its `first` to before its `end`. */
function finishScores({ call, mask, startMask }: Head, tile: Tile, r: number, first: number, end: number): void {
  const { scale, softcap, maskStrides } = call;
  const from = r * TILE_KEYS;
  // Scores are float32 before they are scaled, so that one beyond its range is infinite.
  for (let j = from + first; j < from + end; j++) scores[j] = Math.fround(scores[j] as number) * scale;
  if (softcap > 0) {
    for (let j = from + first; j < from + end; j++) {
      scores[j] = softcap * Math.tanh((scores[j] as number) / softcap);
    }
  }
  if (mask !== undefined && maskStrides !== undefined) {
    const [, , queryStride = 0, keyStride = 0] = maskStrides;
    const at = startMask + (tile.query + r) * queryStride + tile.key * keyStride;
    for (let j = first; j < end; j++) {
      scores[from + j] = (scores[from + j] as number) + (mask[at + j * keyStride] as number);
    }
  }
}

/** Turns the scores of a row that are visible into exponentials, in the planes of A; those of hidden keys are 0. */
function softmaxRow(head: Head, tile: Tile, r: number): void {
  const { stride } = tile;
  const plane = planesA[r % TILE_ROWS] as Float64Array;
  const to = tile.offset + panelStart(r, TILE_ROWS, tile.keys);
  const from = r * TILE_KEYS;
  const before = largest[r] as number;
  const [first, end] = visibleInTile(head.call, tile, r);
  finishScores(head, tile, r, first, end);
  // Math.max, unlike a comparison, keeps NaN.
  let maximum = before;
  for (let j = first; j < end; j++) maximum = Math.max(maximum, scores[from + j] as number);
  largest[r] = maximum;
  // Scores of -Infinity alone have no softmax yet: their sum stays 0, and 0 / 0 gives NaN if nothing else follows.
  const shift = maximum === -Infinity ? 0 : maximum;
  let total = 0;
  for (let j = 0; j < first; j++) plane[to + j] = 0;
  for (let j = first; j < end; j++) {
    const exponential = expNonPositive((scores[from + j] as number) - shift);
    plane[to + j] = exponential;
    total += exponential;
  }
  for (let j = end; j < tile.keys; j++) plane[to + j] = 0;
  if (maximum !== before && before !== -Infinity) {
    const factor = expNonPositive(before - maximum);
    totals[r] = (totals[r] as number) * factor;
    for (let d = r * stride; d < (r + 1) * stride; d++) outputs[d] = (outputs[d] as number) * factor;
  }
  totals[r] = (totals[r] as number) + total;
}

/** `outputs += exponentials * V` for the keys of the tile. */
function addValues(head: Head, tile: Tile): void {
  const { call, v, startV } = head;
  const { headDim, vStrides } = call;
  const { key, keys, queries } = tile;
  const start = startV + key * vStrides[2];
  const [firstOfLast] = visibleInTile(call, tile, queries - 1);
  const [, endOfFirst] = visibleInTile(call, tile, 0);
  if ((firstOfLast > 0 || endOfFirst < keys) && rowsHaveNonFinite(v, start, vStrides[2], keys, headDim)) {
    addVisibleValues(head, tile);
    return;
  }
  for (let d = 0; d < headDim; d += BLOCK_COLUMNS) {
    const columns = Math.min(BLOCK_COLUMNS, headDim - d);
    packPanels(planesB, v, start + d, 1, vStrides[2], columns, keys);
    multiplyPanels(queries, columns, keys, outputs, tile.stride, d, tile.offset);
  }
}

function rowsHaveNonFinite(v: Storage, start: number, stride: number, rows: number, length: number): boolean {
  for (let row = 0; row < rows; row++) {
    if (hasNonFinite(floatsOf(v, start + row * stride, length), 0, length)) return true;
  }
  return false;
}

/** As {@link addValues}, for a V whose infinities must not meet the zeros of hidden keys: 0 * Infinity is NaN. */
function addVisibleValues({ call, v, startV }: Head, tile: Tile): void {
  const { headDim, vStrides } = call;
  for (let j = 0; j < tile.keys; j++) {
    const values = floatsOf(v, startV + (tile.key + j) * vStrides[2], headDim);
    for (let r = 0; r < tile.queries; r++) {
      const [first, end] = visibleInTile(call, tile, r);
      if (j < first || j >= end) continue;
      const plane = planesA[r % TILE_ROWS] as Float64Array;
      const weight = plane[tile.offset + panelStart(r, TILE_ROWS, tile.keys) + j] as number;
      for (let d = 0; d < headDim; d++) {
        const at = r * tile.stride + d;
        outputs[at] = (outputs[at] as number) + weight * (values[d] as number);
      }
    }
  }
}

/** Some neighbouring elements as numbers. */
function floatsOf(source: Storage, start: number, length: number): Float32Array {
  if (source instanceof Float32Array) return source.subarray(start, start + length);
  return decodeBlock(source, start, length, 1, length);
}
