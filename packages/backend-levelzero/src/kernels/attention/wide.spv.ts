import { ofType } from '@concord/variants';
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { groupIndex } from '../work.ts';
import { defineKernel, type Kernel, type ParameterType, variants } from '../kernel.ts';
import { acrossLanes } from '../arithmetic/across-lanes.ts';
import {
  anyArgsOf,
  type AnyCall,
  anyName,
  anyParameters,
  exponential,
  finishScores,
  isBlind,
  larger,
  lengthOf,
  LOWEST,
  maskRow,
  sightOf,
  splitKeysOf,
  unlessBlind,
} from './any-call.ts';

const LANES = 16;

/** Keys of a panel. */
export const PANEL_KEYS = 32;

/** The parameters that distinguish kernels that lay out K and V. */
interface LayingOut {
  /** The number of keys of each batch is in memory: those behind are left out. */
  readonly placed: boolean;
}

/** Beside those of all; `batch_heads` counts heads of K. */
const PLACED = { sight: 'u32*', first_head: 'u64', batch_heads: 'u64' } as const;
const PACKING = {
  ...{ k: 'f32*', panels: 'f32*', heads: 'u64', keys: 'u64', head_dim: 'u64', panels_per_head: 'u64' },
} as const satisfies Readonly<Record<string, ParameterType>>;
const PADDING = {
  ...{ v: 'f32*', padded: 'f32*', rows: 'u64', keys: 'u64', head_dim: 'u64' },
} as const satisfies Readonly<Record<string, ParameterType>>;

/** Returns whether there is a key, of a head of K of a launch; undefined: each is. */
function isKey(
  k: FunctionBuilder,
  args: Readonly<Record<string, Value>>,
  head: Value,
  key: Value,
  placed: boolean,
): Value | undefined {
  if (!placed) return undefined;
  const { sight, first_head, batch_heads } = args as Readonly<Record<keyof typeof PLACED, Value>>;
  return k.ult(key, lengthOf(k, sight, k.udiv(k.add(first_head, head), batch_heads)));
}

/**
 * Lays out K for `wide`, so that neighbouring keys are neighbours: from `[heads, keys, head_dim]` to `[heads, panels,
 * head_dim, PANEL_KEYS]`. After the last key come copies of it. One work-item per panel.
 */
export const packKeys: (params: LayingOut) => Kernel = variants(({ placed }: LayingOut) =>
  defineKernel<keyof typeof PACKING>({
    name: `attention/pack-keys${placed ? ' placed' : ''}`,
    parameters: { ...PACKING, ...(placed ? PLACED : {}) },
    groupSize: [1, 1, 1],
    write: (k, { module, args }) => {
      const vector = module.vector(module.float(32), LANES);
      const number = groupIndex(k);
      const head = k.udiv(number, args.panels_per_head);
      const firstKey = k.mul(k.umod(number, args.panels_per_head), PANEL_KEYS);
      const keys = k.at(args.k, k.mul(k.mul(head, args.keys), args.head_dim));
      const panel = k.at(args.panels, k.mul(k.mul(number, args.head_dim), PANEL_KEYS));
      const last = k.sub(args.keys, 1);
      const there = isKey(k, args, k.math('u_min', head, k.sub(args.heads, 1)), firstKey, placed);
      const isHead = k.ult(head, args.heads);
      const columns = k.select(there === undefined ? isHead : k.and(isHead, there), args.head_dim, 0);
      for (let half = 0; half < PANEL_KEYS; half += LANES) {
        const rows = Array.from({ length: LANES }, (_, lane) =>
          k.at(keys, k.mul(k.math('u_min', k.add(firstKey, half + lane), last), args.head_dim)),
        );
        const store = (column: Value, vector: Value): void =>
          k.storeVector(k.at(panel, k.add(k.mul(column, PANEL_KEYS), half)), vector);
        k.ifElse(
          k.ult(args.head_dim, LANES),
          () => {
            k.forLoop({ to: columns }, [], (d) =>
              store(d, k.vector(vector, ...rows.map((row) => k.load(k.at(row, d))))),
            );
          },
          () => {
            k.forLoop({ to: columns, step: LANES }, [], (d) => {
              // The last columns begin early enough to end with the row: some are written twice.
              const column = k.math('u_min', d, k.sub(args.head_dim, LANES));
              const columns = transpose(
                k,
                rows.map((row) => k.loadVector(k.at(row, column), LANES)),
              );
              for (const [index, each] of columns.entries()) store(k.add(column, index), each);
            });
          },
        );
      }
    },
  }),
);

/**
 * Columns of a square matrix from its rows, in rounds that interleave the first half of the vectors with the second: each
 * turns the bits of an element's number, row and column, by one place (Stone, "Parallel Processing with the Perfect
 * Shuffle", 1971).
 */
function transpose(k: FunctionBuilder, rows: readonly Value[]): readonly Value[] {
  const count = rows.length;
  const interleaved = (first: number): number[] =>
    Array.from({ length: count }, (_, lane) => first + (lane >> 1) + (lane & 1) * count);
  let vectors = rows;
  for (let rounds = Math.log2(count); rounds > 0; rounds--) {
    vectors = vectors.slice(0, count / 2).flatMap((a, index) => {
      const b = vectors[index + count / 2] as Value;
      return [k.shuffle(a, b, interleaved(0)), k.shuffle(a, b, interleaved(count / 2))];
    });
  }
  return vectors;
}

/** Work-items in a group. */
export const PAD_LANES = 64;
/** Columns of the rows that come out. */
export const PADDED_COLUMNS = 16;

/** Lays out V for `wide` where its rows are shorter than a vector: zeros after each. One work-item per element. */
export const padValues: (params: LayingOut) => Kernel = variants(({ placed }: LayingOut) =>
  defineKernel<keyof typeof PADDING>({
    name: `attention/pad-values${placed ? ' placed' : ''}`,
    parameters: { ...PADDING, ...(placed ? PLACED : {}) },
    groupSize: [PAD_LANES, 1, 1],
    write: (k, { module, args }) => {
      const index = k.add(k.mul(groupIndex(k), PAD_LANES), k.localId(0));
      const row = k.udiv(index, PADDED_COLUMNS);
      const d = k.umod(index, PADDED_COLUMNS);
      const isRow = k.ult(row, args.rows);
      const last = k.math('u_min', row, k.sub(args.rows, 1));
      const there = isKey(k, args, k.udiv(last, args.keys), k.umod(last, args.keys), placed);
      k.when(there === undefined ? isRow : k.and(isRow, there), () => {
        const [value] = k.ifElse(
          k.ult(d, args.head_dim),
          () => [k.load(k.at(args.v, k.add(k.mul(row, args.head_dim), d)))],
          () => [k.constant(module.float(32), 0)],
        );
        k.store(k.at(args.padded, index), value as NonNullable<typeof value>);
      });
    },
  }),
);

/** The parameters that distinguish the `wide` kernels. */
export interface WideParams {
  /** Columns of O that are summed at a time, 16 or 32; at most the columns of V. */
  readonly columns: 16 | 32;
  /** The kind of call: see `any-call.ts`. */
  readonly any: AnyCall;
  /** Writes records for `combine` instead of rows of O. */
  readonly partial: boolean;
}

/** Neighbouring queries of a work-item. */
export const WIDE_QUERIES = 8;
/** Columns of O that there is room for. */
const MAX_COLUMNS = 256;

const PARAMETERS = {
  ...ofType('f32*', 'q panels v o'),
  ...ofType('u64', 'heads queries keys head_dim value_pitch panels_head splits split_keys o_row'),
  causal: 'u32',
  scale: 'f32',
} as const satisfies Readonly<Record<string, ParameterType>>;

/**
 * softmax(scale * Q K^T) V for devices with wide vectors, with the online softmax: sums of exponentials relative to the
 * largest score so far, scaled down when a larger one turns up (Milakov and Gimelshein, 2018).
 *
 * Q and O are `[heads, queries, head_dim]`, V `[heads, keys, value_pitch]`; `panels` holds K as `packKeys` lays it out, so
 * that a vector holds the scores of neighbouring keys. A work-item has {@link WIDE_QUERIES} neighbouring queries of a head
 * and a split of the keys, and takes a panel of keys at a time: scores and weights in registers, the weights to private
 * memory, then for each chunk of `columns` columns the sums of weighted values, which stay in private memory between
 * panels. The last chunk begins early enough to end with the row. Work-items are numbered by head, split, and block of
 * queries, the last running fastest; with `partial`, split s of row r writes record `s * heads * queries + r`.
 */
export const wide: (params: WideParams) => Kernel = variants(({ columns, any, partial }: WideParams) => {
  const queries = Array.from({ length: WIDE_QUERIES }, (_, index) => index);
  const keyVectors = PANEL_KEYS / LANES;
  const columnVectors = columns / LANES;
  const chunkSize = WIDE_QUERIES * columns;
  return defineKernel<keyof typeof PARAMETERS>({
    name: `attention/wide ${WIDE_QUERIES}x${PANEL_KEYS}x${columns}${anyName(any)}${partial ? ' partial' : ''}`,
    parameters: { ...PARAMETERS, ...anyParameters('u64', any) },
    groupSize: [1, 1, 1],
    write: (k, { module, args }) => {
      const [u32, u64, f32] = [module.int(32), module.int(64), module.float(32)];
      const vector = module.vector(f32, LANES);
      const lanes = module.vector(u32, LANES);
      const laneNumbers = Array.from({ length: keyVectors }, (_, j) =>
        k.vector(lanes, ...Array.from({ length: LANES }, (_, lane) => k.constant(u32, j * LANES + lane))),
      );
      const sums = k.privateArray(f32, WIDE_QUERIES * MAX_COLUMNS);
      const weights = k.privateArray(f32, WIDE_QUERIES * PANEL_KEYS);

      const blocks = k.udiv(k.add(args.queries, WIDE_QUERIES - 1), WIDE_QUERIES);
      const number = groupIndex(k);
      const firstQuery = k.mul(k.umod(number, blocks), WIDE_QUERIES);
      const split = k.umod(k.udiv(number, blocks), args.splits);
      const head = k.udiv(k.udiv(number, blocks), args.splits);
      const own = anyArgsOf(k, args, any, head);
      const keyHead = own === undefined ? head : k.udiv(head, own.group);
      const isCausal = own === undefined ? k.ne(args.causal, 0) : undefined;
      // What is computed beyond the last query, a copy of it, is not stored.
      const numbers = queries.map((i) => k.math('u_min', k.add(firstQuery, i), k.sub(args.queries, 1)));
      const rows = numbers.map((each) => k.at(args.q, k.mul(k.add(k.mul(head, args.queries), each), args.head_dim)));
      const sight = own === undefined ? undefined : numbers.map((each) => sightOf(k, own, each));
      const visible = numbers.map((each, i) =>
        isCausal === undefined
          ? (sight?.[i]?.[1] as Value)
          : k.select(isCausal, k.math('u_min', args.keys, k.add(each, 1)), args.keys),
      );
      const maskRows = own === undefined ? undefined : numbers.map((each) => maskRow(k, own, head, each));
      const splitKeys = splitKeysOf(k, args, own, any);
      const startOfSplit = k.mul(split, splitKeys);
      // Panels begin at multiples of their keys.
      const firstKey =
        sight === undefined ? startOfSplit : k.math('u_max', startOfSplit, k.and(sight[0]?.[0] as Value, -PANEL_KEYS));
      const isThere = k.ult(head, args.heads);
      const endOfSplit = k.math('u_min', visible.at(-1) as Value, k.add(startOfSplit, splitKeys));
      const end = k.select(isThere, endOfSplit, 0);
      const panels = k.at(args.panels, k.mul(keyHead, args.panels_head));
      const values = k.at(args.v, k.mul(k.mul(keyHead, args.keys), args.value_pitch));
      const valueColumns = k.math('u_max', args.head_dim, k.constant(u64, columns));
      const chunks = k.udiv(k.add(valueColumns, columns - 1), columns);
      const columnOf = (chunk: Value): Value => k.math('u_min', k.mul(chunk, columns), k.sub(valueColumns, columns));

      k.forLoop({ to: k.mul(chunks, chunkSize), step: LANES }, [], (at) =>
        k.storeVector(k.at(sums, at), k.constant(vector, 0)),
      );
      const lowest = queries.map(() => k.constant(f32, LOWEST));
      const zeros = queries.map(() => k.constant(vector, 0));
      const results = k.forLoop(
        { from: firstKey, to: end, step: PANEL_KEYS },
        [...lowest, ...zeros],
        (key, carried) => {
          const largestYet = carried.slice(0, WIDE_QUERIES);
          const totalsYet = carried.slice(WIDE_QUERIES);
          const panel = k.at(panels, k.mul(key, args.head_dim));
          const products = k.forLoop(
            { to: args.head_dim },
            queries.flatMap(() => laneNumbers.map(() => k.constant(vector, 0))),
            (d, sum) => {
              const at = k.at(panel, k.mul(d, PANEL_KEYS));
              const keys = laneNumbers.map((_, j) => k.loadVector(k.at(at, j * LANES), LANES));
              return rows.flatMap((row, i) => {
                const factor = k.splat(vector, k.load(k.at(row, d)));
                return keys.map((each, j) => k.fma(each, factor, sum[i * keyVectors + j] as Value));
              });
            },
          );

          /** The number of keys of this panel that a query sees. */
          const seen = (until: Value): Value =>
            k.math('u_min', k.select(k.ugt(until, key), k.sub(until, key), 0), k.constant(u64, PANEL_KEYS));
          const largest: Value[] = [];
          const totals: Value[] = [];
          const factors: Value[] = [];
          for (const i of queries) {
            const limit = k.splat(lanes, k.uconvert(seen(visible[i] as Value), u32));
            const from =
              sight === undefined ? undefined : k.splat(lanes, k.uconvert(seen(sight[i]?.[0] as Value), u32));
            const isSeen = laneNumbers.map((numbersOf) => {
              const isBefore = k.ult(numbersOf, limit);
              return from === undefined ? isBefore : k.and(isBefore, k.uge(numbersOf, from));
            });
            const scores = isSeen.map((mask, j) => {
              const scaled = k.mul(products[i * keyVectors + j] as Value, k.splat(vector, args.scale));
              if (own === undefined) return k.select(mask, scaled, LOWEST);
              const keyOf = (lane: number): Value => k.math('u_min', k.add(key, j * LANES + lane), k.sub(args.keys, 1));
              const keysOfVector = Array.from({ length: LANES }, (_, lane) => keyOf(lane));
              const finished = finishScores(k, own, scaled, maskRows?.[i] as Value, keysOfVector);
              return k.select(mask, finished, LOWEST);
            });
            const max = acrossLanes(
              k,
              scores.reduce((a, b) => larger(k, a, b)),
              larger,
            );
            const now = larger(k, largestYet[i] as Value, max);
            const factor = k.splat(vector, exponential(k, k.sub(largestYet[i] as Value, now)));
            let total = k.mul(totalsYet[i] as Value, factor);
            for (const [j, score] of scores.entries()) {
              const weight = k.select(isSeen[j] as Value, exponential(k, k.sub(score, k.splat(vector, now))), 0);
              k.storeVector(k.at(weights, i * PANEL_KEYS + j * LANES), weight);
              total = k.add(total, weight);
            }
            largest.push(now);
            totals.push(total);
            factors.push(factor);
          }

          const seenByFirst = seen(visible[0] as Value);
          // Where some keys in front are hidden from the last query, none counts as seen by all.
          const seenByAll =
            sight === undefined ? seenByFirst : k.select(k.ugt(sight.at(-1)?.[0] as Value, key), 0, seenByFirst);
          const seenBySome = seen(end);
          k.forLoop({ to: chunks }, [], (chunk) => {
            const sumsAt = k.at(sums, k.mul(chunk, chunkSize));
            const valuesAt = k.at(values, k.add(k.mul(key, args.value_pitch), columnOf(chunk)));
            const before = queries.flatMap((i) =>
              Array.from({ length: columnVectors }, (_, j) =>
                k.mul(k.loadVector(k.at(sumsAt, i * columns + j * LANES), LANES), factors[i] as Value),
              ),
            );
            const weigh = (row: Value, sum: readonly Value[], keep: (i: number, next: Value, old: Value) => Value) => {
              const at = k.at(valuesAt, k.mul(row, args.value_pitch));
              const entries = Array.from({ length: columnVectors }, (_, j) => k.loadVector(k.at(at, j * LANES), LANES));
              return queries.flatMap((i) => {
                const weight = k.splat(vector, k.load(k.at(weights, k.add(row, i * PANEL_KEYS))));
                return entries.map((entry, j) => {
                  const old = sum[i * columnVectors + j] as Value;
                  return keep(i, k.fma(entry, weight, old), old);
                });
              });
            };
            const ofAll = k.forLoop({ to: seenByAll }, before, (row, sum) => weigh(row, sum, (_, next) => next));
            // A hidden value may be infinite or NaN, and then a weight of 0 does not hide it.
            const after = k.forLoop({ from: seenByAll, to: seenBySome }, ofAll, (row, sum) => {
              const place = k.add(key, row);
              return weigh(row, sum, (i, next, old) => {
                const isBefore = k.ult(place, visible[i] as Value);
                const first = sight?.[i]?.[0];
                const isSeen = first === undefined ? isBefore : k.and(isBefore, k.uge(place, first));
                return k.select(isSeen, next, old);
              });
            });
            for (const [at, sum] of after.entries()) k.storeVector(k.at(sumsAt, at * LANES), sum);
          });
          return [...largest, ...totals];
        },
      );

      for (const i of queries) {
        const total = acrossLanes(k, results[WIDE_QUERIES + i] as Value, (_, a, b) => k.add(a, b));
        const query = k.add(firstQuery, i);
        k.when(k.and(isThere, k.ult(query, args.queries)), () => {
          const slot = k.mul(k.add(k.mul(split, args.heads), head), args.queries);
          const to = k.at(args.o, k.mul(k.add(slot, query), args.o_row));
          const blind = own === undefined || partial ? undefined : isBlind(k, own, total, query);
          const finish = (sum: Value): Value =>
            partial ? sum : unlessBlind(k, blind, () => k.div(sum, vectorLike(k, sum, total)));
          k.ifElse(
            k.ult(args.head_dim, columns),
            () => {
              k.forLoop({ to: args.head_dim }, [], (d) => {
                k.store(k.at(to, d), finish(k.load(k.at(sums, k.add(d, i * columns)))));
              });
            },
            () => {
              k.forLoop({ to: chunks }, [], (chunk) => {
                const from = k.at(sums, k.add(k.mul(chunk, chunkSize), i * columns));
                const target = k.at(to, columnOf(chunk));
                for (let j = 0; j < columns; j += LANES) {
                  k.storeVector(k.at(target, j), finish(k.loadVector(k.at(from, j), LANES)));
                }
              });
            },
          );
          if (partial) {
            k.store(k.at(to, args.head_dim), results[i] as Value);
            k.store(k.at(to, k.add(args.head_dim, 1)), total);
          }
        });
      }
    },
  });
});

/** `scalar` in each component, where `like` is a vector. */
function vectorLike(k: FunctionBuilder, like: Value, scalar: Value): Value {
  return like.type.kind === 'vector' ? k.splat(like.type, scalar) : scalar;
}
