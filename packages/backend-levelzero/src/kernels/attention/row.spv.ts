import { ofType } from '@concord/variants';
import type { FunctionBuilder, Value, VectorType } from '@concord/spirv-builder';
import { acrossLanes } from '../arithmetic/across-lanes.ts';
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
import { anyCallOf } from './packed-call.ts';
import { hasSubgroupKernels, subgroupTable } from './subgroup.ts';
import { attend, type AttentionTable, FEW_QUERIES, splitsFor, FORMS } from './table.ts';

/** The parameters that distinguish the `row` kernels. */
interface RowParams {
  /** The kind of call: see `any-call.ts`. */
  readonly any: AnyCall;
  /** Writes records for `combine` instead of rows of O. */
  readonly partial: boolean;
}

const LANES = 16;
/** Columns that there is room for. */
const MAX_COLUMNS = 256;
/** The order in which the tree of `sumEach` takes its vectors: their numbers with the four bits reversed. */
const REVERSED = [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15];

const PARAMETERS = {
  ...ofType('f32*', 'q k v o'),
  ...ofType('u64', 'heads queries keys head_dim splits split_keys o_row'),
  causal: 'u32',
  scale: 'f32',
} as const satisfies Readonly<Record<string, ParameterType>>;

/**
 * softmax(scale * Q K^T) V for few queries on devices with wide vectors: K and V are read once, as they lie. Rows of at
 * least 16 columns.
 *
 * Q and O are `[heads, queries, head_dim]`, K and V `[heads, keys, head_dim]`. A work-item has one query and a split of the
 * keys, and takes 16 keys at a time: a vector of partial sums per key, which a tree of shuffles turns into one vector of
 * scores, the online softmax as in `wide`, then for each vector of columns the weighted values, added to sums in
 * private memory. The last vector begins early enough to end with the row. Work-items are numbered by head, split, and
 * query, the last running fastest; with `partial`, split s of row r writes record `s * heads * queries + r`.
 */
const row: (params: RowParams) => Kernel = variants(({ any, partial }: RowParams) =>
  defineKernel<keyof typeof PARAMETERS>({
    name: `attention/row${anyName(any)}${partial ? ' partial' : ''}`,
    parameters: { ...PARAMETERS, ...anyParameters('u64', any) },
    groupSize: [1, 1, 1],
    write: (k, { module, args }) => {
      const [u32, u64, f32] = [module.int(32), module.int(64), module.float(32)];
      const vector = module.vector(f32, LANES);
      const lanes = module.vector(u32, LANES);
      const each = Array.from({ length: LANES }, (_, lane) => lane);
      const laneNumbers = k.vector(lanes, ...each.map((lane) => k.constant(u32, lane)));
      const sums = k.privateArray(f32, MAX_COLUMNS);
      const weights = k.privateArray(f32, LANES);

      const number = groupIndex(k);
      const query = k.umod(number, args.queries);
      const split = k.umod(k.udiv(number, args.queries), args.splits);
      const wanted = k.udiv(k.udiv(number, args.queries), args.splits);
      // A group beyond the last reads what the last head has, and stores nothing.
      const isThere = k.ult(wanted, args.heads);
      const head = k.math('u_min', wanted, k.sub(args.heads, 1));
      const q = k.at(args.q, k.mul(k.add(k.mul(head, args.queries), query), args.head_dim));
      const own = anyArgsOf(k, args, any, head);
      const keyHead = own === undefined ? head : k.udiv(head, own.group);
      const headAt = k.mul(k.mul(keyHead, args.keys), args.head_dim);
      const [keys, values] = [k.at(args.k, headAt), k.at(args.v, headAt)];
      const [first, visible] =
        own === undefined
          ? [undefined, k.select(k.ne(args.causal, 0), k.math('u_min', args.keys, k.add(query, 1)), args.keys)]
          : sightOf(k, own, query);
      const splitKeys = splitKeysOf(k, args, own, any);
      const startOfSplit = k.mul(split, splitKeys);
      const firstKey = first === undefined ? startOfSplit : k.math('u_max', startOfSplit, first);
      const end = k.select(isThere, k.math('u_min', visible, k.add(startOfSplit, splitKeys)), 0);
      const maskAt = own === undefined ? undefined : maskRow(k, own, head, query);

      const whole = k.and(args.head_dim, -LANES);
      const lastColumn = k.sub(args.head_dim, LANES);
      // Of the vector that ends with the row: what the vectors before do not hold.
      const isTail = k.uge(laneNumbers, k.splat(lanes, k.uconvert(k.sub(LANES, k.sub(args.head_dim, whole)), u32)));
      const rowEnd = k.select(isTail, k.loadVector(k.at(q, lastColumn), LANES), 0);
      const chunks = k.udiv(k.add(args.head_dim, LANES - 1), LANES);
      k.forLoop({ to: k.constant(u64, MAX_COLUMNS), step: LANES }, [], (at) =>
        k.storeVector(k.at(sums, at), k.constant(vector, 0)),
      );

      const start = [k.constant(f32, LOWEST), k.constant(vector, 0)];
      const [largest, totals] = k.forLoop(
        { from: firstKey, to: end, step: LANES },
        start,
        (key, [largestYet, totalYet]) => {
          const count = k.math('u_min', k.constant(u64, LANES), k.sub(end, key));
          const rowOf = (lane: number): Value =>
            k.at(keys, k.mul(k.math('u_min', k.add(key, lane), k.sub(end, 1)), args.head_dim));
          const rows = REVERSED.map(rowOf);
          const products = k.forLoop(
            { to: whole, step: LANES },
            rows.map(() => k.constant(vector, 0)),
            (column, sum) => {
              const factor = k.loadVector(k.at(q, column), LANES);
              return rows.map((at, j) => k.fma(k.loadVector(k.at(at, column), LANES), factor, sum[j] as Value));
            },
          );
          const complete = k.ifElse(
            k.ult(whole, args.head_dim),
            () =>
              rows.map((at, j) => {
                const entries = k.select(isTail, k.loadVector(k.at(at, lastColumn), LANES), 0);
                return k.fma(entries, rowEnd, products[j] as Value);
              }),
            () => products,
          );

          const isSeen = k.ult(laneNumbers, k.splat(lanes, k.uconvert(count, u32)));
          const scaled = k.mul(sumEach(k, vector, complete), k.splat(vector, args.scale));
          const keyOf = (lane: number): Value => k.math('u_min', k.add(key, lane), k.sub(end, 1));
          const finished = own === undefined ? scaled : finishScores(k, own, scaled, maskAt as Value, each.map(keyOf));
          const scores = k.select(isSeen, finished, LOWEST);
          const now = larger(k, largestYet as Value, acrossLanes(k, scores, larger));
          const factor = k.splat(vector, exponential(k, k.sub(largestYet as Value, now)));
          const weight = k.select(isSeen, exponential(k, k.sub(scores, k.splat(vector, now))), 0);
          k.storeVector(k.at(weights, 0), weight);

          const valuesAt = k.at(values, k.mul(key, args.head_dim));
          k.forLoop({ to: chunks }, [], (chunk) => {
            const at = k.at(sums, k.mul(chunk, LANES));
            const column = k.math('u_min', k.mul(chunk, LANES), lastColumn);
            const from = k.at(valuesAt, column);
            const [sum] = k.forLoop({ to: count }, [k.mul(k.loadVector(at, LANES), factor)], (lane, [sumYet]) => {
              const entries = k.loadVector(k.at(from, k.mul(lane, args.head_dim)), LANES);
              return [k.fma(entries, k.splat(vector, k.load(k.at(weights, lane))), sumYet as Value)];
            });
            k.storeVector(at, sum as Value);
          });
          return [now, k.fma(totalYet as Value, factor, weight)];
        },
      ) as [Value, Value];

      const total = acrossLanes(k, totals, (_, a, b) => k.add(a, b));
      const slot = k.mul(k.add(k.mul(split, args.heads), head), args.queries);
      const to = k.at(args.o, k.mul(k.add(slot, query), args.o_row));
      const blind = own === undefined || partial ? undefined : isBlind(k, own, total, query);
      k.when(isThere, () => {
        k.forLoop({ to: chunks }, [], (chunk) => {
          const sum = k.loadVector(k.at(sums, k.mul(chunk, LANES)), LANES);
          const column = k.math('u_min', k.mul(chunk, LANES), lastColumn);
          const quotient = (): Value => k.div(sum, k.splat(vector, total));
          k.storeVector(k.at(to, column), partial ? sum : unlessBlind(k, blind, quotient));
        });
        if (partial) {
          k.store(k.at(to, args.head_dim), largest);
          k.store(k.at(to, k.add(args.head_dim, 1)), total);
        }
      });
    },
  }),
);

/**
 * The sums of the components of 16 vectors, as one vector: in each round the halves of the runs in two vectors are added and
 * put into one. Component j is the sum of the vector at place {@link REVERSED}[j].
 */
function sumEach(k: FunctionBuilder, { count }: VectorType, vectors: readonly Value[]): Value {
  let round = vectors;
  for (let run = count; run > 1; run /= 2) {
    const half = round.length / 2;
    const places = (offset: number): number[] =>
      Array.from({ length: count }, (_, lane) => {
        const [number, within] = [Math.floor(lane / (run / 2)), lane % (run / 2)];
        // The runs of the first vector, then those of the second.
        const runs = count / run;
        return number < runs ? number * run + offset + within : count + (number - runs) * run + offset + within;
      });
    round = round.slice(0, half).map((a, index) => {
      const b = round[index + half] as Value;
      return k.add(k.shuffle(a, b, places(0)), k.shuffle(a, b, places(run / 2)));
    });
  }
  return round[0] as Value;
}

/** Attention with a group for each query: for few of them, and for GPUs without sub-groups. */
export const rowTable: AttentionTable = {
  ids: ['attention/row'],
  kernelsFor: (traits) => (hasSubgroupKernels(traits) ? [] : FORMS.map(row)),
  candidates: (sizes, traits) => {
    const { heads, queries, headDim } = sizes;
    if (headDim < LANES || subgroupTable.candidates(sizes, traits) !== undefined) return undefined;
    const variant = { id: 'attention/row', splits: splitsFor(heads * queries, sizes, traits) };
    return { variants: [variant], preferred: variant, rank: queries <= FEW_QUERIES ? 1 : -1 };
  },
  launch: (call, variant, recorder) => {
    const heads = call.batch * call.heads;
    const attending = {
      kernel: (partial: boolean) => row({ any: anyCallOf(call), partial }),
      args: { k: call.k, v: call.v },
      groups: heads * call.seqQ,
    };
    attend(call, { first: 0, count: heads }, variant, attending, recorder);
  },
};
