/**
 * What the reductions do to elements, one or several at once.
 *
 * **sum** is a float32 sum. `scale`, a power of two, is applied to every element in the first pass, and `divisor` to
 * the result of the last: the mean of n elements is the sum of x / 2^s over n / 2^s, with 2^s the power of two from n
 * on, so that it is finite wherever the elements are. Otherwise both are 1.
 *
 * **max** and **min** keep NaN, which OpenCL's fmax and fmin drop.
 */
import type { FunctionBuilder, Type, Value } from '@concord/spirv-builder';
import { bitsOf, bitsType } from '../functions/float-bits.ts';
import { larger, smaller } from '../functions/order.ts';
import type { ParameterType } from '../kernel.ts';

/** What kernels fold: `mean` is `sum` with another scale and divisor. */
export type Fold = 'sum' | 'max' | 'min';

/** Every {@link Fold}. */
export const FOLDS: readonly Fold[] = ['sum', 'max', 'min'];

/** Parameters of a kernel that folds. */
export function foldParameters(fold: Fold): Readonly<Record<string, ParameterType>> {
  return fold === 'sum' ? { scale: 'f32', divisor: 'f32' } : {};
}

/** A fold in a kernel. */
export interface Folding {
  /** What changes nothing when it is joined. */
  nothing(type: Type): Value;
  /** `total` and one more element each. */
  take(total: Value, element: Value): Value;
  /** Two totals in one. */
  join(a: Value, b: Value): Value;
  /** The result that a total stands for. */
  finish(total: Value): Value;
  /** One total of those of a sub-group. All of its work-items have to come by. */
  joinSubgroup(total: Value): Value;
}

/** A fold for the kernel with these arguments: those of {@link foldParameters}. */
export function foldingOf(k: FunctionBuilder, fold: Fold, args: Readonly<Record<string, Value>>): Folding {
  return fold === 'sum' ? sumOf(k, args['scale'] as Value, args['divisor'] as Value) : orderOf(k, fold);
}

function sumOf(k: FunctionBuilder, scale: Value, divisor: Value): Folding {
  const like = (value: Value, { type }: Value): Value => (type.kind === 'vector' ? k.splat(type, value) : value);
  return {
    nothing: (type) => k.constant(type, 0),
    // The product is exact, unless it is subnormal.
    take: (total, x) => k.fma(x, like(scale, x), total),
    join: (a, b) => k.add(a, b),
    // A division may be inexact even by 1.
    finish: (total) => k.select(k.eq(divisor, 1), total, k.div(total, like(divisor, total))),
    joinSubgroup: (total) => k.subgroupReduce('fadd', total),
  };
}

function orderOf(k: FunctionBuilder, fold: 'max' | 'min'): Folding {
  const join = (a: Value, b: Value): Value => (fold === 'max' ? larger(k, a, b) : smaller(k, a, b));
  return {
    nothing: (type) => k.constant(type, fold === 'max' ? -Infinity : Infinity),
    take: join,
    join,
    finish: (total) => total,
    joinSubgroup: (total) => {
      const key = k.select(
        k.isNan(total),
        k.constant(bitsType(k, total), nanKey(fold)),
        reordered(k, bitsOf(k, total)),
      );
      const winner = k.subgroupReduce(fold === 'max' ? 'smax' : 'smin', key);
      return k.bitcast(reordered(k, winner), total.type);
    },
  };
}

/** The end of the order that wins. Read as bits it is a NaN. */
const nanKey = (fold: 'max' | 'min'): number => (fold === 'max' ? 0x7fff_ffff : 0x8000_0000);

/** The bits of floats as signed integers in the same order, and back: those with a sign are turned around. */
function reordered(k: FunctionBuilder, bits: Value): Value {
  return k.xor(bits, k.and(k.ashr(bits, 31), 0x7fff_ffff));
}
