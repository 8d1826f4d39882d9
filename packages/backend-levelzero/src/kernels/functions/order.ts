import type { FunctionBuilder, Value } from '@concord/spirv-builder';

/** The larger of two values; NaN when either is one, where OpenCL's fmax drops it. */
export function larger(k: FunctionBuilder, a: Value, b: Value): Value {
  return k.select(k.or(k.gt(a, b), k.isNan(a)), a, b);
}

/** The smaller of two values; NaN when either is one. */
export function smaller(k: FunctionBuilder, a: Value, b: Value): Value {
  return k.select(k.or(k.lt(a, b), k.isNan(a)), a, b);
}
