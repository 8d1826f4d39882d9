import { ofType } from '@concord/variants';
import type { Value } from '@concord/spirv-builder';
import { bytesOf, pointerAt } from '../gemm/storage.ts';
import { groupIndex } from '../work.ts';
import { defineKernel, type Kernel, type ParameterType, variants } from '../kernel.ts';
import {
  anyArgsOf,
  type AnyCall,
  anyName,
  anyParameters,
  exponential,
  finishScores,
  isBlind,
  larger,
  LOWEST,
  maskRow,
  sightOf,
  splitKeysOf,
  unlessBlind,
} from './any-call.ts';

/** The parameters that distinguish the `subgroup` kernels. */
export interface SubgroupParams {
  /** Work-items of a sub-group. */
  readonly lanes: 8 | 16;
  /** Queries of a sub-group. */
  readonly rows: 1 | 2 | 4 | 8;
  /** Sub-groups of a group, which share the keys that they bring. */
  readonly subgroups: 1 | 8;
  /** Largest head dimension. */
  readonly headDim: 64 | 128 | 256;
  /** Heads have just that dimension: K, Q and V are read in blocks. */
  readonly isExact: boolean;
  /** The kind of call: see `any-call.ts`. */
  readonly any: AnyCall;
  /** Writes records for `combine` instead of rows of O. */
  readonly partial: boolean;
  /** See `KernelSource.registers`. */
  readonly registers?: 'large' | undefined;
}

/** Keys of a work-item in a tile: neighbours, which it reads as one vector. */
const KEYS = 2;
/** Keys of neighbouring columns in workgroup memory are so far apart: in other banks, and vectors stay aligned. */
const pitchOf = (lanes: number): number => lanes * KEYS + 2;

/** Queries of a group. */
export const queriesOf = ({ rows, subgroups }: Pick<SubgroupParams, 'rows' | 'subgroups'>): number => rows * subgroups;

/** Bytes of workgroup memory. */
export const subgroupLocalBytes = ({
  lanes,
  rows,
  subgroups,
  headDim,
}: Omit<SubgroupParams, 'isExact' | 'any' | 'partial'>): number =>
  4 * (headDim * pitchOf(lanes) + subgroups * lanes * KEYS * rows);

const PARAMETERS = {
  ...ofType('f32*', 'q k v o'),
  ...ofType('u32', 'heads queries keys head_dim splits split_keys o_row causal'),
  scale: 'f32',
} as const satisfies Readonly<Record<string, ParameterType>>;

/**
 * softmax(scale * Q K^T) V on GPUs with sub-groups, by tiles of {@link KEYS} keys a work-item whose scores never leave the
 * registers: FlashAttention (Dao, Fu, Ermon, Rudra, Ré, 2022, algorithm 1, with the loop over the queries outside as in
 * FlashAttention-2). Causal attention stops at the last tile that a query of the group sees.
 *
 * Q and O are `[heads, queries, head_dim]`, K and V `[heads, keys, head_dim]`; a head is below 2 GiB, and there are fewer than 2^32 groups. Groups are numbered by
 * head, split of the keys, and block of queries, the last running fastest; with `partial`, split s of row r writes record
 * `s * heads * queries + r`.
 *
 * A sub-group has a few queries. For the scores a work-item has two keys of the tile, which the group has brought to workgroup
 * memory column by column; the query's component comes from the work-item that holds it. For the products with V it has every
 * `lanes`-th column of O; the row of V comes in blocks from memory, the weight from the work-item that has the key.
 */
export const subgroup: (params: SubgroupParams) => Kernel = variants((params: SubgroupParams) => {
  const { lanes, rows, subgroups, headDim, isExact, any, partial, registers } = params;
  const tileKeys = lanes * KEYS;
  const stagePitch = pitchOf(lanes);
  // Rows of V that are on their way at a time take registers.
  const atOnce = registers === 'large' && (lanes === 16 || headDim === 64) ? 4 : 2;
  const eachRow = Array.from({ length: rows }, (_, i) => i);
  const eachKey = Array.from({ length: KEYS }, (_, v) => v);
  const chunks = headDim / lanes;
  const eachChunk = Array.from({ length: chunks }, (_, c) => c);
  const size = isExact ? `${headDim}` : `up to ${headDim}`;
  return defineKernel<keyof typeof PARAMETERS>({
    name: `attention/subgroup ${subgroups}x${rows}x${lanes} ${size}${anyName(any)}${partial ? ' partial' : ''}${registers ? ' large' : ''}`,
    parameters: { ...PARAMETERS, ...anyParameters('u32', any) },
    groupSize: [lanes, subgroups, 1],
    subgroupSize: lanes,
    registers,
    write: (k, { module, args }) => {
      const [u32, u64, f32] = [module.int(32), module.int(64), module.float(32)];
      const stage = k.localArray(f32, headDim * stagePitch);
      // [sub-group][key][query]
      const weightTile = k.localArray(f32, subgroups * tileKeys * rows);
      const lane = k.subgroupLocalId();
      const member = k.subgroupId();
      const columns = isExact ? k.constant(u32, headDim) : args.head_dim;

      const number = k.uconvert(groupIndex(k), u32);
      const blocks = k.udiv(k.add(args.queries, rows * subgroups - 1), rows * subgroups);
      const split = k.umod(k.udiv(number, blocks), args.splits);
      const head = k.udiv(k.udiv(number, blocks), args.splits);
      const isThere = k.ult(head, args.heads);
      const firstQuery = k.mul(k.umod(number, blocks), rows * subgroups);
      const ownQuery = k.add(firstQuery, k.mul(member, rows));
      const u64Of = (value: Value): Value => k.uconvert(value, u64);
      const headAt = (base: Value, number: Value, length: Value): Value =>
        k.at(base, k.mul(k.mul(u64Of(number), u64Of(length)), u64Of(columns)));
      const present = k.select(isThere, head, 0);
      const own = anyArgsOf(k, args, any, present);
      const keyHead = own === undefined ? present : k.udiv(present, own.group);
      const q = headAt(args.q, present, args.queries);
      const [keys, values] = [headAt(args.k, keyHead, args.keys), headAt(args.v, keyHead, args.keys)];
      const pitch = k.mul(columns, 4);
      const [qBytes, kBytes, vBytes] = [q, keys, values].map((each) => bytesOf(k, each)) as [Value, Value, Value];

      const isCausal = own === undefined ? k.ne(args.causal, 0) : undefined;
      const visibleTo = (query: Value): Value =>
        own === undefined
          ? k.select(isCausal as Value, k.math('u_min', args.keys, k.add(query, 1)), args.keys)
          : sightOf(k, own, query)[1];
      const firstVisible = (query: Value): Value | undefined =>
        own === undefined ? undefined : sightOf(k, own, query)[0];
      const visible = eachRow.map((i) => visibleTo(k.add(ownQuery, i)));
      const firsts = eachRow.map((i) => firstVisible(k.add(ownQuery, i)));
      const splitKeys = splitKeysOf(k, args, own, any);
      const startOfSplit = k.mul(split, splitKeys);
      const firstOfBlock = firstVisible(firstQuery);
      const firstKey =
        firstOfBlock === undefined ? startOfSplit : k.math('u_max', startOfSplit, k.and(firstOfBlock, -tileKeys));
      const lastQuery = k.math('u_min', k.add(firstQuery, rows * subgroups - 1), k.sub(args.queries, 1));
      const endOfSplit = k.math('u_min', visibleTo(lastQuery), k.add(startOfSplit, splitKeys));
      const hiddenFromSome = firstVisible(lastQuery);
      const maskRows =
        own === undefined
          ? undefined
          : eachRow.map((i) => maskRow(k, own, present, k.math('u_min', k.add(ownQuery, i), k.sub(args.queries, 1))));
      const end = k.select(isThere, endOfSplit, 0);

      /** Components of a query, `chunk * lanes` and on: 0 beyond the last, where those of keys are 0 too. */
      const partOfQuery = (row: Value, chunk: Value): Value => {
        const first = k.mul(chunk, lanes);
        if (isExact) return k.subgroupBlockRead(pointerAt(k, qBytes, k.add(row, k.mul(first, 4)), q), f32);
        const isColumn = k.ult(k.add(first, lane), columns);
        const place = k.add(row, k.mul(k.select(isColumn, k.add(first, lane), 0), 4));
        return k.select(isColumn, k.load(pointerAt(k, qBytes, place, q)), 0);
      };
      // Columns of O beyond the last are not stored, so that they may be anything.
      const lastColumn = k.sub(columns, 1);
      const columnBytes = eachChunk.map((c) => k.mul(k.math('u_min', k.add(lane, c * lanes), lastColumn), 4));
      /** The row of V at byte `row`, by chunks. */
      const rowOfValues = (row: Value): Value[] => {
        if (!isExact) return columnBytes.map((at) => k.load(pointerAt(k, vBytes, k.add(row, at), values)));
        const count = chunks === 4 ? 4 : 8;
        const type = module.vector(f32, count);
        return Array.from({ length: chunks / count }, (_, part) => {
          const place = k.add(row, 4 * lanes * count * part);
          const vector = k.subgroupBlockRead(pointerAt(k, vBytes, place, values), type);
          return Array.from({ length: count }, (__, c) => k.extract(vector, c));
        }).flat();
      };

      /** Brings the keys from `tile` on to workgroup memory; beyond the last they are the last again. */
      const bringKeys = (tile: Value): void => {
        for (const half of eachKey) {
          const inTile = k.add(lane, half * lanes);
          const key = k.math('u_min', k.add(tile, inTile), k.sub(args.keys, 1));
          const row = k.mul(key, pitch);
          const store = (d: Value, value: Value): void => {
            k.store(k.at(stage, k.add(k.mul(d, stagePitch), inTile)), value);
          };
          // Loops and not their iterations: what is on its way takes registers from the sums.
          const step = isExact ? 4 * subgroups : subgroups;
          k.forLoop({ to: k.constant(u32, headDim), step, unroll: 'dont-unroll' }, [], (from) => {
            const first = k.add(from, isExact ? k.mul(member, 4) : member);
            if (isExact) {
              const four = k.loadVector(pointerAt(k, kBytes, k.add(row, k.mul(first, 4)), keys), 4);
              for (let c = 0; c < 4; c++) store(k.add(first, c), k.extract(four, c));
              return;
            }
            const isColumn = k.ult(first, columns);
            const place = k.add(row, k.mul(k.select(isColumn, first, 0), 4));
            store(first, k.select(isColumn, k.load(pointerAt(k, kBytes, place, keys)), 0));
          });
        }
      };

      const queryRows = eachRow.map((i) => k.mul(k.math('u_min', k.add(ownQuery, i), k.sub(args.queries, 1)), pitch));
      const zeros = (count: number): Value[] => Array.from({ length: count }, () => k.constant(f32, 0));
      const initial = [...eachRow.map(() => k.constant(f32, LOWEST)), ...zeros(rows), ...zeros(rows * chunks)];
      const results = k.forLoop(
        { from: firstKey, to: end, step: tileKeys, unroll: 'dont-unroll' },
        initial,
        (tile, carried) => {
          const [largestYet, totalsYet, sumsYet] = [
            carried.slice(0, rows),
            carried.slice(rows, 2 * rows),
            carried.slice(2 * rows),
          ];
          k.barrier();
          bringKeys(tile);
          k.barrier();
          const products = k.forLoop(
            { to: k.constant(u32, chunks), unroll: 'dont-unroll' },
            zeros(rows * KEYS),
            (chunk, before) => {
              const x = queryRows.map((row) => partOfQuery(row, chunk));
              const keysAt = k.at(stage, k.add(k.mul(chunk, lanes * stagePitch), k.mul(lane, KEYS)));
              let sums: readonly Value[] = before;
              for (let d = 0; d < lanes; d++) {
                const two = k.loadVector(k.at(keysAt, d * stagePitch), KEYS, { align: 8 });
                const y = eachKey.map((v) => k.extract(two, v));
                sums = eachRow.flatMap((i) => {
                  const factor = k.subgroupBroadcast(x[i] as Value, d);
                  return eachKey.map((v) => k.fma(factor, y[v] as Value, sums[i * KEYS + v] as Value));
                });
              }
              return sums;
            },
          );

          const keyOf = eachKey.map((v) => k.add(tile, k.add(k.mul(lane, KEYS), v)));
          const isSeen = eachRow.map((i) => {
            const limit = k.math('u_min', visible[i] as Value, end);
            const first = firsts[i];
            return keyOf.map((key) => {
              const isBefore = k.ult(key, limit);
              return first === undefined ? isBefore : k.and(isBefore, k.uge(key, first));
            });
          });
          const scores = eachRow.map((i) =>
            eachKey.map((v) => {
              const scaled = k.mul(products[i * KEYS + v] as Value, args.scale);
              if (own === undefined) return k.select(isSeen[i]?.[v] as Value, scaled, LOWEST);
              const key = u64Of(k.math('u_min', keyOf[v] as Value, k.sub(args.keys, 1)));
              const finished = finishScores(k, own, scaled, maskRows?.[i] as Value, [key]);
              return k.select(isSeen[i]?.[v] as Value, finished, LOWEST);
            }),
          );
          const largest = eachRow.map((i) => {
            const mine = scores[i]?.reduce((a, b) => larger(k, a, b)) as Value;
            return larger(k, largestYet[i] as Value, k.subgroupReduce('fmax', mine));
          });
          const factors = eachRow.map((i) => exponential(k, k.sub(largestYet[i] as Value, largest[i] as Value)));
          const weights = eachRow.map((i) =>
            eachKey.map((v) => {
              const weight = exponential(k, k.sub(scores[i]?.[v] as Value, largest[i] as Value));
              return k.select(isSeen[i]?.[v] as Value, weight, 0);
            }),
          );
          const totals = eachRow.map((i) =>
            (weights[i] as Value[]).reduce(
              (sum, weight) => k.add(sum, weight),
              k.mul(totalsYet[i] as Value, factors[i] as Value),
            ),
          );
          const scaled = eachRow.flatMap((i) =>
            eachChunk.map((c) => k.mul(sumsYet[i * chunks + c] as Value, factors[i] as Value)),
          );
          // From the work-item of the key to that of the query: of its own sub-group only, but compilers are told of groups.
          const ownWeights = k.at(weightTile, k.mul(member, tileKeys * rows));
          eachRow.forEach((i) =>
            eachKey.forEach((v) => {
              const place = k.add(k.mul(k.add(k.mul(lane, KEYS), v), rows), i);
              k.store(k.at(ownWeights, place), weights[i]?.[v] as Value);
            }),
          );
          k.barrier();
          const weightOf = k.at(ownWeights, k.and(lane, rows - 1));
          const isBeforeAll = k.uge(k.math('u_min', visibleTo(firstQuery), end), k.add(tile, tileKeys));
          const isSeenByAll =
            hiddenFromSome === undefined ? isBeforeAll : k.and(isBeforeAll, k.uge(tile, hiddenFromSome));
          const weigh = (
            so: readonly Value[],
            at: Value,
            keep: (i: number, next: Value, old: Value) => Value,
          ): Value[] => {
            const row = rowOfValues(k.mul(k.add(tile, at), pitch));
            const mine = k.load(k.at(weightOf, k.mul(at, rows)));
            return eachRow.flatMap((i) => {
              const weight = k.subgroupBroadcast(mine, i);
              return eachChunk.map((c) => {
                const old = so[i * chunks + c] as Value;
                return keep(i, k.fma(weight, row[c] as Value, old), old);
              });
            });
          };
          const sums = k.ifElse(
            isSeenByAll,
            () =>
              k.forLoop(
                { to: k.constant(u32, tileKeys), step: atOnce, unroll: 'dont-unroll' },
                scaled,
                (at, before) => {
                  let so: readonly Value[] = before;
                  for (let key = 0; key < atOnce; key++) so = weigh(so, k.add(at, key), (_, next) => next);
                  return so;
                },
              ),
            // A hidden value may be infinite or NaN, and then a weight of 0 does not hide it.
            () => {
              const count = k.math('u_min', k.sub(end, tile), k.constant(u32, tileKeys));
              return k.forLoop({ to: count, unroll: 'dont-unroll' }, scaled, (at, so) => {
                const sees = eachRow.map((i) => {
                  const key = k.add(tile, at);
                  const isBefore = k.ult(key, visible[i] as Value);
                  const first = firsts[i];
                  return first === undefined ? isBefore : k.and(isBefore, k.uge(key, first));
                });
                return weigh(so, at, (i, next, old) => k.select(sees[i] as Value, next, old));
              });
            },
          );
          return [...largest, ...totals, ...sums];
        },
      );

      const slot = k.mul(k.add(k.mul(u64Of(split), u64Of(args.heads)), u64Of(head)), u64Of(args.queries));
      for (const i of eachRow) {
        const query = k.add(ownQuery, i);
        const total = k.subgroupReduce('fadd', results[rows + i] as Value);
        k.when(k.and(isThere, k.ult(query, args.queries)), () => {
          const place = k.mul(k.add(slot, u64Of(query)), u64Of(args.o_row));
          const to = k.at(args.o, place);
          const blind = own === undefined || partial ? undefined : isBlind(k, own, total, query);
          for (const c of eachChunk) {
            const at = k.add(lane, c * lanes);
            const sum = results[2 * rows + i * chunks + c] as Value;
            const write = (): void =>
              k.store(k.at(to, at), partial ? sum : unlessBlind(k, blind, () => k.div(sum, total)));
            if (isExact) write();
            else k.when(k.ult(at, columns), write);
          }
          if (partial) {
            k.when(k.eq(lane, 0), () => {
              k.store(k.at(to, columns), results[i] as Value);
              k.store(k.at(to, k.add(columns, 1)), total);
            });
          }
        });
      }
    },
  });
});
