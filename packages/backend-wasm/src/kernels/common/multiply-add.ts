import { f32x4, type Value } from '../../encoder/index.ts';
import type { WasmTraits } from '../kernel.ts';

/** `a * b + c` by component, rounded once where the engine has relaxed SIMD. */
export type MultiplyAdd = (a: Value<'v128'>, b: Value<'v128'>, c: Value<'v128'>) => Value<'v128'>;

export function multiplyAdd({ hasFma }: WasmTraits): MultiplyAdd {
  return hasFma ? f32x4.relaxedMadd : (a, b, c) => f32x4.add(c, f32x4.mul(a, b));
}
