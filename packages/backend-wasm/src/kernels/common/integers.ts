import { type FunctionBody, i32, type Local, type Operand, select, type Value } from '../../encoder/index.ts';

const valueOf = (operand: Operand<'i32'>): Value<'i32'> => (typeof operand === 'number' ? i32.const(operand) : operand);

/** The lesser of two unsigned integers; both are computed twice. */
export function lesser(a: Operand<'i32'>, b: Operand<'i32'>): Value<'i32'> {
  return select(i32.ltU(a, b), valueOf(a), valueOf(b));
}

/** Quotient and remainder of unsigned integers, in new locals; the divisor is computed twice. */
export function divided(
  body: FunctionBody,
  value: Value<'i32'>,
  by: Operand<'i32'>,
): { readonly quotient: Local<'i32'>; readonly remainder: Local<'i32'> } {
  const quotient = body.let(i32.divU(value, by));
  return { quotient, remainder: body.let(i32.sub(value, i32.mul(quotient, by))) };
}

/** The greater of two unsigned integers; both are computed twice. */
export function greater(a: Operand<'i32'>, b: Operand<'i32'>): Value<'i32'> {
  return select(i32.ltU(a, b), valueOf(b), valueOf(a));
}
