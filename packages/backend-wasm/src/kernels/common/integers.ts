import { f32x4, type FunctionBody, i32, type Local, type Operand, select, type Value } from '../../encoder/index.ts';
import type { WasmTraits } from '../kernel.ts';

/** The smallest multiple of `to` that is not below `value`. */
export const roundUp = (value: number, to: number): number => Math.ceil(value / to) * to;

/** Bytes of a shuffle that takes whole words of 32 bits by their places: 0 to 3 of the first vector, 4 to 7 of the second. */
export const wordsOfShuffle = (...places: number[]): readonly number[] =>
  places.flatMap((place) => [0, 1, 2, 3].map((byte) => 4 * place + byte));

/** `a * b + c` by component, rounded once where the engine has relaxed SIMD. */
export type MultiplyAdd = (a: Value<'v128'>, b: Value<'v128'>, c: Value<'v128'>) => Value<'v128'>;

export function multiplyAdd({ hasFma }: WasmTraits): MultiplyAdd {
  return hasFma ? f32x4.relaxedMadd : (a, b, c) => f32x4.add(c, f32x4.mul(a, b));
}

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
