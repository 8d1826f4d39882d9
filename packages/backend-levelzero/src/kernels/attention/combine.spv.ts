import { ofType } from '@concord/variants';
import type { Value } from '@concord/spirv-builder';
import { groupIndex } from '../work.ts';
import { defineKernel, type Kernel, type ParameterType, variants } from '../kernel.ts';
import { type AnyCall, anyName, exponential, headSight, isBlind, larger, LOWEST, unlessBlind } from './any-call.ts';

/** Work-items in a group. */
export const COMBINE_LANES = 64;

const PARAMETERS = {
  ...ofType('f32*', 'records o'),
  ...ofType('u64', 'splits rows head_dim'),
} as const satisfies Readonly<Record<string, ParameterType>>;
const ANY_PARAMETERS = {
  ...PARAMETERS,
  ...ofType('u64', 'queries seeing_begin seeing_end'),
  masked: 'u32',
} as const;
const PLACED_PARAMETERS = {
  ...PARAMETERS,
  ...{ queries: 'u64', masked: 'u32', sight: 'u32*', first_head: 'u64', batch_heads: 'u64' },
} as const;

/** The parameters that distinguish the kernels. */
interface CombineParams {
  readonly any: AnyCall;
  /** True if the logarithms of the sums of exp(score), `[rows]`, are written too. */
  readonly lse: boolean;
}

/**
 * Merges the outcomes of attention over parts of the keys. Each part left a record per query: the sums of weighted values,
 * the largest score, and the sum of the weights. Relative to the largest score of all parts, sums and weights add up
 * (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018, section 3.1).
 *
 * `records` is `[splits, rows, head_dim + 2]`, the output `[rows, head_dim]`. One work-item per entry of the output.
 */
export const combine: (params: CombineParams) => Kernel = variants(({ any, lse }: CombineParams) =>
  defineKernel<keyof typeof PARAMETERS>({
    name: `attention/combine${anyName(any)}${lse ? ' with sums' : ''}`,
    parameters: {
      ...(any === false ? PARAMETERS : any === true ? ANY_PARAMETERS : PLACED_PARAMETERS),
      ...(lse ? { lse: 'f32*' as const } : {}),
    },
    groupSize: [COMBINE_LANES, 1, 1],
    write: (k, { module, args }) => {
      const f32 = module.float(32);
      const index = k.add(k.mul(groupIndex(k), COMBINE_LANES), k.localId(0));
      const row = k.udiv(index, args.head_dim);
      const d = k.umod(index, args.head_dim);
      const record = k.add(args.head_dim, 2);
      k.when(k.ult(row, args.rows), () => {
        const first = k.at(args.records, k.mul(row, record));
        const recordOf = (split: Value): Value => k.at(first, k.mul(k.mul(split, args.rows), record));
        const [largest] = k.forLoop({ to: args.splits }, [k.constant(f32, LOWEST)], (split, [largestYet]) => [
          larger(k, largestYet as Value, k.load(k.at(recordOf(split), args.head_dim))),
        ]) as [Value];
        const zero = k.constant(f32, 0);
        const [sum, total] = k.forLoop({ to: args.splits }, [zero, zero], (split, [sumYet, totalYet]) => {
          const at = recordOf(split);
          const factor = exponential(k, k.sub(k.load(k.at(at, args.head_dim)), largest));
          const weight = k.load(k.at(at, k.add(args.head_dim, 1)));
          return [k.fma(factor, k.load(k.at(at, d)), sumYet as Value), k.fma(factor, weight, totalYet as Value)];
        }) as [Value, Value];
        const own = any === false ? undefined : (args as unknown as Record<keyof typeof ANY_PARAMETERS, Value>);
        const seen =
          own === undefined || any === true ? own : { ...own, ...headSight(k, args, k.udiv(row, own.queries)) };
        const blind = seen === undefined ? undefined : isBlind(k, seen, total, k.umod(row, seen.queries));
        if (lse) {
          const sums = (args as unknown as { readonly lse: Value }).lse;
          k.when(k.eq(d, 0), () => {
            // The sum of no key is 0, and its logarithm not one that every compiler keeps.
            const log = k.select(k.eq(total, 0), -Infinity, k.add(largest, k.math('log', total)));
            k.store(k.at(sums, row), log);
          });
        }
        k.store(
          k.at(args.o, index),
          unlessBlind(k, blind, () => k.div(sum, total)),
        );
      });
    },
  }),
);
