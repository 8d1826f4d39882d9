import type { Value } from '@concord/spirv-builder';
import { groupIndex } from '../grid.ts';
import { defineKernel, type Kernel, type ParameterType, variants } from '../kernel.ts';
import { exponential, larger, LOWEST } from './softmax.ts';

/** What tells the `tiled` kernels apart. */
export interface TiledParams {
  /** Queries of a group of work-items; a multiple of 4. */
  readonly queries: number;
  /** Largest head dimension, a multiple of 64: the columns of O that a group keeps. */
  readonly headDim: number;
  /** Writes records for `combine` in place of rows of O. */
  readonly partial: boolean;
}

/** Keys of a tile. */
export const TILE_KEYS = 64;
/** Work-items that share the rows of a tile: each has every 16th key, and every 16th column of O. */
const ACROSS = 16;
/** Queries, and keys, of a work-item. */
const PIECE = 4;
/** Columns of Q and K in workgroup memory at a time. */
const DEPTH = 16;
/** Rows of V in workgroup memory at a time. */
const VALUE_ROWS = 16;

/** Work-items in a group. */
export const tiledLanes = ({ queries }: Pick<TiledParams, 'queries'>): number => (ACROSS * queries) / PIECE;

/**
 * Lengths of the arrays in workgroup memory, in floats. More than a row keeps its neighbours in different banks; of the
 * queries four are read at once.
 */
function layout({ queries, headDim }: Pick<TiledParams, 'queries' | 'headDim'>) {
  const [queryPitch, keyPitch] = [queries + PIECE, TILE_KEYS + 1];
  const stage = Math.max(DEPTH * (queryPitch + keyPitch), VALUE_ROWS * headDim);
  return { queryPitch, keyPitch, stage, weights: TILE_KEYS * queryPitch, rows: ACROSS * queries };
}

/** Bytes of workgroup memory. */
export function tiledLocalBytes(params: Pick<TiledParams, 'queries' | 'headDim'>): number {
  const { stage, weights, rows } = layout(params);
  return 4 * (stage + weights + rows);
}

const PARAMETERS = {
  q: 'f32*',
  k: 'f32*',
  v: 'f32*',
  o: 'f32*',
  heads: 'u64',
  queries: 'u64',
  keys: 'u64',
  head_dim: 'u32',
  splits: 'u64',
  split_keys: 'u64',
  o_row: 'u64',
  causal: 'u32',
  scale: 'f32',
} as const satisfies Readonly<Record<string, ParameterType>>;

/**
 * softmax(scale * Q K^T) V for a block of queries of one head per group of work-items, which walks along the keys in tiles
 * of {@link TILE_KEYS} and never stores a score outside of the chip: FlashAttention (Dao, Fu, Ermon, Rudra, Ré, 2022,
 * algorithm 1, with the loop over the queries outside as in FlashAttention-2). Causal attention stops at the last tile
 * that a query of the block sees.
 *
 * Q and O are `[heads, queries, head_dim]`, K and V `[heads, keys, head_dim]`. Groups are numbered by head, split of the
 * keys, and block of queries, the last running fastest; with `partial`, split s of row r writes record
 * `s * heads * queries + r`.
 *
 * Per tile: scores, 4 queries x 4 keys a work-item, from pieces of Q and K that pass through workgroup memory {@link DEPTH}
 * columns at a time; the largest score of each row, exchanged in workgroup memory; the weights, to workgroup memory; and
 * the products with V, 4 queries x every 16th column a work-item, from rows of V that pass through the same memory.
 */
export const tiled: (params: TiledParams) => Kernel = variants((params: TiledParams) => {
  const { queries, headDim, partial } = params;
  const { queryPitch, keyPitch, stage: stageLength, weights: weightsLength, rows: rowsLength } = layout(params);
  const lanes = tiledLanes(params);
  const columns = Array.from({ length: headDim / ACROSS }, (_, j) => j);
  const piece = Array.from({ length: PIECE }, (_, index) => index);
  return defineKernel({
    name: `attention/tiled ${queries}x${TILE_KEYS}x${headDim}${partial ? ' partial' : ''}`,
    parameters: PARAMETERS,
    groupSize: [lanes, 1, 1],
    write: (k, { module, args }) => {
      const [u32, u64, f32] = [module.int(32), module.int(64), module.float(32)];
      // Columns of Q, and behind them of K; or rows of V.
      const stage = k.localArray(f32, stageLength);
      // [key][query]
      const weightTile = k.localArray(f32, weightsLength);
      // [column of work-items][query]: numbers on their way across a row.
      const rowValues = k.localArray(f32, rowsLength);

      const lane = k.uconvert(k.localId(0), u32);
      const laneRow = k.mul(k.udiv(lane, ACROSS), PIECE);
      const laneColumn = k.umod(lane, ACROSS);
      const headDim64 = k.uconvert(args.head_dim, u64);
      const blocks = k.udiv(k.add(args.queries, queries - 1), queries);
      const number = groupIndex(k);
      const firstQuery = k.mul(k.umod(number, blocks), queries);
      const split = k.umod(k.udiv(number, blocks), args.splits);
      const head = k.udiv(k.udiv(number, blocks), args.splits);
      const keysAt = k.mul(k.mul(head, args.keys), headDim64);
      const q = k.at(args.q, k.mul(k.mul(head, args.queries), headDim64));
      const [keys, values] = [k.at(args.k, keysAt), k.at(args.v, keysAt)];

      const isCausal = k.ne(args.causal, 0);
      const visibleTo = (query: Value): Value =>
        k.select(isCausal, k.math('u_min', args.keys, k.add(query, 1)), args.keys);
      const queryOf = (row: Value): Value => k.add(firstQuery, k.uconvert(row, u64));
      const visible = piece.map((i) => visibleTo(queryOf(k.add(laneRow, i))));
      const firstKey = k.mul(split, args.split_keys);
      const lastQuery = k.math('u_min', k.add(firstQuery, queries - 1), k.sub(args.queries, 1));
      const isThere = k.ult(head, args.heads);
      const endOfSplit = k.math('u_min', visibleTo(lastQuery), k.add(firstKey, args.split_keys));
      const end = k.select(isThere, endOfSplit, 0);

      /** An entry of a row, or 0 where there is none: then the first entry of all is read, and dropped. */
      const entry = (rows: Value, row: Value, limit: Value, column: Value): Value => {
        const isThere = k.and(k.ult(row, limit), k.ult(column, args.head_dim));
        const at = k.add(k.mul(row, headDim64), k.uconvert(column, u64));
        return k.select(isThere, k.load(k.at(rows, k.select(isThere, at, 0))), k.constant(f32, 0));
      };

      /** Four neighbours in workgroup memory. */
      const loadPiece = (at: Value): readonly Value[] => {
        const vector = k.loadVector(at, PIECE, { align: 16 });
        return piece.map((i) => k.extract(vector, i));
      };

      /** A number for each of the work-item's rows from each of those that share them, combined. */
      const acrossRow = (mine: readonly Value[], combine: (a: Value, b: Value) => Value): Value[] => {
        for (const i of piece) {
          k.store(k.at(rowValues, k.add(k.mul(laneColumn, queries), k.add(laneRow, i))), mine[i] as Value);
        }
        k.barrier();
        const results = piece.map((i) => {
          const all = Array.from({ length: ACROSS }, (_, other) =>
            k.load(k.at(rowValues, k.add(laneRow, i + other * queries))),
          );
          return all.reduce(combine);
        });
        // They may be overwritten only when all have read.
        k.barrier();
        return results;
      };

      const lowest = piece.map(() => k.constant(f32, LOWEST));
      const zeros = (count: number): Value[] => Array.from({ length: count }, () => k.constant(f32, 0));
      const initial = [...lowest, ...zeros(PIECE), ...zeros(PIECE * columns.length)];
      const results = k.forLoop({ from: firstKey, to: end, step: TILE_KEYS }, initial, (tile, carried) => {
        const largestYet = carried.slice(0, PIECE);
        const totalsYet = carried.slice(PIECE, 2 * PIECE);
        const products = k.forLoop({ to: args.head_dim, step: DEPTH }, zeros(PIECE * PIECE), (depth, sum) => {
          k.barrier();
          const inDepth = k.umod(lane, DEPTH);
          const column = k.add(depth, inDepth);
          for (let at = 0; at < queries; at += lanes / DEPTH) {
            const row = k.add(k.udiv(lane, DEPTH), at);
            const value = entry(q, queryOf(row), args.queries, column);
            k.store(k.at(stage, k.add(k.mul(inDepth, queryPitch), row)), value);
          }
          for (let at = 0; at < TILE_KEYS; at += lanes / DEPTH) {
            const row = k.add(k.udiv(lane, DEPTH), at);
            const value = entry(keys, k.add(tile, k.uconvert(row, u64)), args.keys, column);
            k.store(k.at(stage, k.add(k.mul(inDepth, keyPitch), k.add(row, DEPTH * queryPitch))), value);
          }
          k.barrier();
          return k.forLoop({ to: k.constant(u32, DEPTH) }, sum, (d, sumYet) => {
            const queriesAt = k.at(stage, k.add(k.mul(d, queryPitch), laneRow));
            const keysOf = k.at(stage, k.add(k.add(k.mul(d, keyPitch), laneColumn), DEPTH * queryPitch));
            const a = loadPiece(queriesAt);
            const b = piece.map((j) => k.load(k.at(keysOf, j * ACROSS)));
            return a.flatMap((x, i) => b.map((y, j) => k.fma(x, y, sumYet[i * PIECE + j] as Value)));
          });
        });

        const keyOf = piece.map((j) => k.add(tile, k.uconvert(k.add(laneColumn, j * ACROSS), u64)));
        const isSeen = piece.map((i) => keyOf.map((key) => k.ult(key, k.math('u_min', visible[i] as Value, end))));
        const scores = piece.map((i) =>
          piece.map((j) =>
            k.select(
              isSeen[i]?.[j] as Value,
              k.mul(products[i * PIECE + j] as Value, args.scale),
              k.constant(f32, LOWEST),
            ),
          ),
        );
        const most = acrossRow(
          scores.map((row) => row.reduce((a, b) => larger(k, a, b))),
          (a, b) => larger(k, a, b),
        );
        const largest = piece.map((i) => larger(k, largestYet[i] as Value, most[i] as Value));
        const factors = piece.map((i) => exponential(k, k.sub(largestYet[i] as Value, largest[i] as Value)));
        const totals = piece.map((i) => {
          let total = k.mul(totalsYet[i] as Value, factors[i] as Value);
          for (const j of piece) {
            const exact = exponential(k, k.sub(scores[i]?.[j] as Value, largest[i] as Value));
            const weight = k.select(isSeen[i]?.[j] as Value, exact, k.constant(f32, 0));
            const row = k.add(laneColumn, j * ACROSS);
            k.store(k.at(weightTile, k.add(k.mul(row, queryPitch), k.add(laneRow, i))), weight);
            total = k.add(total, weight);
          }
          return total;
        });

        const isSeenByAll = k.uge(visibleTo(firstQuery), k.add(tile, TILE_KEYS));
        const scaled = columns.flatMap((_, j) =>
          piece.map((i) => k.mul(carried[2 * PIECE + j * PIECE + i] as Value, factors[i] as Value)),
        );
        const sums = k.forLoop({ to: k.constant(u32, TILE_KEYS), step: VALUE_ROWS }, scaled, (first, sum) => {
          k.barrier();
          k.forLoop({ from: lane, to: k.constant(u32, VALUE_ROWS * headDim), step: lanes }, [], (at) => {
            const row = k.add(tile, k.uconvert(k.add(first, k.udiv(at, headDim)), u64));
            k.store(k.at(stage, at), entry(values, row, end, k.umod(at, headDim)));
          });
          k.barrier();
          const weigh = (keep: (key: Value, i: number, next: Value, old: Value) => Value): readonly Value[] =>
            k.forLoop({ to: k.constant(u32, VALUE_ROWS) }, sum, (row, sumYet) => {
              const key = k.add(first, row);
              const weightsAt = k.at(weightTile, k.add(k.mul(key, queryPitch), laneRow));
              const valuesAt = k.at(stage, k.add(k.mul(row, headDim), laneColumn));
              const weight = loadPiece(weightsAt);
              return columns.flatMap((_, j) => {
                const value = k.load(k.at(valuesAt, j * ACROSS));
                return piece.map((i) => {
                  const old = sumYet[j * PIECE + i] as Value;
                  return keep(key, i, k.fma(weight[i] as Value, value, old), old);
                });
              });
            });
          return k.ifElse(
            isSeenByAll,
            () => weigh((_key, _i, next) => next),
            // A hidden value may be infinite or NaN, and then a weight of 0 does not hide it.
            () =>
              weigh((key, i, next, old) => {
                const place = k.add(tile, k.uconvert(key, u64));
                return k.select(k.ult(place, visible[i] as Value), next, old);
              }),
          );
        });
        return [...largest, ...totals, ...sums];
      });

      const totals = acrossRow(results.slice(PIECE, 2 * PIECE), (a, b) => k.add(a, b));
      const slot = k.mul(k.add(k.mul(split, args.heads), head), args.queries);
      for (const i of piece) {
        const query = queryOf(k.add(laneRow, i));
        k.when(k.and(isThere, k.ult(query, args.queries)), () => {
          const to = k.at(args.o, k.mul(k.add(slot, query), args.o_row));
          for (const j of columns) {
            const column = k.add(laneColumn, j * ACROSS);
            k.when(k.ult(column, args.head_dim), () => {
              const sum = results[2 * PIECE + j * PIECE + i] as Value;
              k.store(k.at(to, column), partial ? sum : k.div(sum, totals[i] as Value));
            });
          }
          if (partial) {
            k.when(k.eq(laneColumn, 0), () => {
              k.store(k.at(to, headDim64), results[i] as Value);
              k.store(k.at(to, k.add(headDim64, 1)), totals[i] as Value);
            });
          }
        });
      }
    },
  });
});
