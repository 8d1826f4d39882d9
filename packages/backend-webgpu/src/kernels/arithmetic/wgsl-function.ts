import type { Arithmetic } from '@concord/kernel';
import { WgslArithmetic } from './wgsl-arithmetic.ts';
import { WgslBlock } from './wgsl-block.ts';
import type { WgslValue } from './wgsl-value.ts';

/** WGSL: a float32 function that is written on `Arithmetic`, for shaders that are written by hand. Its argument is opaque. */
export function wgslFunction(name: string, body: <V>(a: Arithmetic<V>, x: V) => V): string {
  const block = new WgslBlock();
  const argument: WgslValue = { text: 'x', type: 'f32', width: 1 };
  const math = new WgslArithmetic(block);
  const result = body(math, math.opaque(argument));
  return `fn ${name}(x: f32) -> f32 {\n${block.text()}\n  return ${result.text};\n}`;
}
