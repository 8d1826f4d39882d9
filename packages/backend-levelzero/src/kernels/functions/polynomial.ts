import type { FunctionBuilder, Value } from '@concord/spirv-builder';

/** The polynomial with these coefficients, the constant one first, by Horner's rule: one fma a degree. */
export function polynomial(k: FunctionBuilder, x: Value, coefficients: readonly number[]): Value {
  const highest = k.constant(x.type, coefficients.at(-1) as number);
  return coefficients.slice(0, -1).reduceRight<Value>((sum, coefficient) => k.fma(sum, x, coefficient), highest);
}
