import type { WgslBlock } from '../arithmetic/wgsl-block.ts';
import { type WgslValue, wgslType, widened } from '../arithmetic/wgsl-value.ts';
import { components, decode, type RawValue } from './encode.ts';
import { loadRaw } from './operand-access.ts';
import type { BindingSpec, OperandSpec } from './operand-spec.ts';
import { gatherSizeName, offsetName, type RunSpec, strideName } from './run-spec.ts';

/**
 * The element of a gather input at an index per axis, or `otherwise` where one is outside. What lies outside is read at
 * the first element, so that no address leaves the input.
 *
 * @param operands - otherwise, then the indices; a negative i32 is a u32 beyond every size
 */
export function gatherCode(block: WgslBlock, spec: RunSpec, input: number, operands: readonly WgslValue[]): WgslValue {
  const operand = spec.operands[input] as OperandSpec;
  const binding = spec.bindings[operand.binding] as BindingSpec;
  const [otherwise, ...indices] = operands.map((index, at) => (at === 0 ? index : asWords(block, index))) as [
    WgslValue,
    ...WgslValue[],
  ];
  const isVector = operand.access === 'vector' && indices.slice(0, -1).every(({ width }) => width === 1);
  // Of four neighbours that begin at a multiple of four all are inside or none: the first one speaks for them.
  const own = isVector
    ? indices.map((index) => (index.width === 1 ? index : { ...index, text: `${index.text}.x`, width: 1 as const }))
    : indices;
  const width = own.some((index) => index.width === 4) ? 4 : 1;
  const words = wgslType('u32', width);
  const texts = own.map((index) => widened(index, width));
  const inside = block.define(
    texts.map((text, axis) => `(${text} < ${words}(u.${gatherSizeName(input, axis)}))`).join(' & '),
  );
  const address = texts.map((text, axis) => `${text} * u.${strideName(input, axis)}`).join(' + ');
  const place = block.define(`u.${offsetName(input)} + select(${words}(0u), ${address}, ${inside})`);
  const raw = isVector
    ? loadRaw(block, operand, binding, `${place} >> 2u`, 4)
    : loadElements(block, operand, binding, { text: place, type: 'u32', width });
  const value = decode(block, operand.dtype, operand.type, raw);
  const result = widest(otherwise, value);
  const condition = widened({ text: inside, type: 'bool', width }, result);
  return {
    text: block.define(`select(${widened(otherwise, result)}, ${widened(value, result)}, ${condition})`),
    type: value.type,
    width: result,
  };
}

function asWords(block: WgslBlock, index: WgslValue): WgslValue {
  if (index.type === 'u32') return index;
  return {
    text: block.define(`bitcast<${wgslType('u32', index.width)}>(${index.text})`),
    type: 'u32',
    width: index.width,
  };
}

/** Elements at their own places. */
function loadElements(block: WgslBlock, operand: OperandSpec, binding: BindingSpec, places: RawValue): RawValue {
  const one = { ...operand, access: 'strided' as const };
  const parts = components(places).map((at) => loadRaw(block, one, binding, at, 1));
  if (places.width === 1) return parts[0] as RawValue;
  return { text: block.define(`vec4u(${parts.map(({ text }) => text).join(', ')})`), type: 'u32', width: 4 };
}

function widest(a: WgslValue, b: WgslValue): 1 | 4 {
  return a.width === 4 || b.width === 4 ? 4 : 1;
}
