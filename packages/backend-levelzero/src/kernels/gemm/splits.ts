import type { FunctionBuilder, Value } from '@concord/spirv-builder';

/**
 * A product whose k is cut into ranges of `depth` terms, so that there is work for every core: the sums of range s go
 * `s * stride` elements on.
 */
export interface Splits {
  readonly depth: number;
  readonly count: number;
  readonly stride: number;
}

/** The range of terms of a work-item, and where its operands' matrices begin. */
export interface Place {
  readonly batch: Value;
  readonly begin: Value;
  readonly end: Value;
  /** Elements from the start of C. */
  readonly c: Value;
}

/** Parameters that {@link placeOf} takes. */
export const SPLIT_PARAMETERS = { k: 'u64', splits: 'u64', depth: 'u64', c_split: 'u64', c_stride: 'u64' } as const;

/** The meaning of `z`: the batch, and in it the range of k. */
export function placeOf(
  k: FunctionBuilder,
  z: Value,
  args: Readonly<Record<keyof typeof SPLIT_PARAMETERS, Value>>,
): Place {
  const batch = k.udiv(z, args.splits);
  const split = k.umod(z, args.splits);
  const begin = k.mul(split, args.depth);
  return {
    batch,
    begin,
    end: k.math('u_min', k.add(begin, args.depth), args.k),
    c: k.add(k.mul(batch, args.c_stride), k.mul(split, args.c_split)),
  };
}

/** The arguments for {@link SPLIT_PARAMETERS}. */
export function splitArguments(
  k: number,
  { depth, count, stride }: Splits,
  c_stride: number,
): Record<keyof typeof SPLIT_PARAMETERS, number> {
  return { k, splits: count, depth, c_split: stride, c_stride };
}
