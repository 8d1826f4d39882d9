import type { DType } from '@concord/backend-core';
import type { WgslBlock } from '../arithmetic/wgsl-block.ts';
import { type WgslValue, wgslType } from '../arithmetic/wgsl-value.ts';
import { type NumberType } from '@concord/backend-core/kernel';
import { varyingZero } from '../wgsl/half.wgsl.ts';

/** Components of a vector of four. */
const COMPONENTS = ['x', 'y', 'z', 'w'] as const;

/** Elements as they lie in memory, in the lower bits of a u32 each. */
export type RawValue = WgslValue & { readonly type: 'u32' };

/** The number that raw elements stand for. */
export function decode(block: WgslBlock, dtype: DType, type: NumberType, raw: RawValue): WgslValue {
  const { text, width } = raw;
  const bits = (expression: string, as: NumberType): WgslValue => ({
    text: block.define(`bitcast<${wgslType(as, width)}>(${expression})`),
    type: as,
    width,
  });
  switch (dtype) {
    case 'f16': {
      if (width === 1) return { text: block.define(`unpack2x16float(${text}).x`), type, width };
      const [low, high] = [`${text}.x | (${text}.y << 16u)`, `${text}.z | (${text}.w << 16u)`];
      return { text: block.define(`vec4f(unpack2x16float(${low}), unpack2x16float(${high}))`), type, width };
    }
    case 'bf16':
      return bits(`${text} << ${wgslType('u32', width)}(16u)`, 'f32');
    case 'i8': {
      const shifted = bits(`${text} << ${wgslType('u32', width)}(24u)`, 'i32');
      return { text: block.define(`${shifted.text} >> ${wgslType('u32', width)}(24u)`), type, width };
    }
    case 'u8':
    case 'u32':
      return raw;
    default:
      return bits(text, type);
  }
}

/**
 * The raw elements that hold a number: rounded, or saturated, to the dtype.
 *
 * @param varying - as `varyingZero` takes it
 */
export function encode(block: WgslBlock, dtype: DType, value: WgslValue, varying: string): RawValue {
  const { text, width } = value;
  const words = wgslType('u32', width);
  const raw = (expression: string): RawValue => ({ text: block.define(expression), type: 'u32', width });
  switch (dtype) {
    case 'f16':
      return raw(`${width === 1 ? 'half_bits' : 'half_bits_of_four'}(${text}, ${varyingZero(varying)})`);
    case 'bf16':
      return raw(width === 1 ? `bfloat_bits(${text})` : `bfloat_bits_of_four(${text})`);
    case 'i8': {
      const ints = wgslType('i32', width);
      return raw(`bitcast<${words}>(clamp(${text}, ${ints}(-128), ${ints}(127))) & ${words}(0xffu)`);
    }
    case 'u8':
      return raw(`min(${text}, ${words}(255u))`);
    case 'u32':
      return value as RawValue;
    default:
      return raw(`bitcast<${words}>(${text})`);
  }
}

/** Components of a value, one by one. */
export function components({ text, width }: WgslValue): readonly string[] {
  return width === 1 ? [text] : COMPONENTS.map((component) => `${text}.${component}`);
}
