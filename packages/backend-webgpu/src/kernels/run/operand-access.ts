import { BYTES_OF } from '@concord/backend-core/implement';
import type { WgslBlock } from '../arithmetic/wgsl-block.ts';
import { widened } from '../arithmetic/wgsl-value.ts';
import { components, type RawValue } from './encode.ts';
import { type BindingSpec, bindingName, type OperandSpec } from './operand-spec.ts';

/**
 * Loads the elements of an operand from `index` on, the place of the first one in units of the operand's access: vectors,
 * or else elements.
 *
 * @param step - elements from one of a vector's elements to the next, where they are strided
 */
export function loadRaw(
  block: WgslBlock,
  operand: OperandSpec,
  binding: BindingSpec,
  index: string,
  width: 1 | 4,
  step = '1u',
): RawValue {
  const word = (at: string): string => {
    if (operand.far !== undefined) return `${farName(operand.binding)}(${at})`;
    const name = `${bindingName(operand.binding)}[${at}]`;
    return binding.element === 'atomic' ? `atomicLoad(&${name})` : name;
  };
  if (operand.access === 'vector') return loadVector(block, operand, word(index));
  const place = block.define(index);
  const single = (at: string): string => wordOf(binding, word, at);
  const one = (at: string): string => elementOf(operand, single, at);
  if (width === 1 || operand.access === 'constant') return { text: block.define(one(place)), type: 'u32', width: 1 };
  const by = operand.access === 'dense' ? '1u' : step;
  const places = [place, ...[1, 2, 3].map((k) => (by === '1u' ? `${place} + ${k}u` : `${place} + ${k}u * ${by}`))];
  return { text: block.define(`vec4u(${places.map(one).join(', ')})`), type: 'u32', width: 4 };
}

function loadVector(block: WgslBlock, { dtype }: OperandSpec, source: string): RawValue {
  const bytes = BYTES_OF[dtype];
  if (bytes === 4) return { text: block.define(source), type: 'u32', width: 4 };
  const text = block.define(source);
  const parts =
    bytes === 2
      ? `vec4u(${text}.x & 0xffffu, ${text}.x >> 16u, ${text}.y & 0xffffu, ${text}.y >> 16u)`
      : `(vec4u(${text}) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(0xffu)`;
  return { text: block.define(parts), type: 'u32', width: 4 };
}

/** One word of a binding, whatever its elements. */
function wordOf({ element }: BindingSpec, load: (at: string) => string, at: string): string {
  if (element === 'vec4') return `${load(`(${at}) >> 2u`)}[(${at}) & 3u]`;
  return element === 'vec2' ? `${load(`(${at}) >> 1u`)}[(${at}) & 1u]` : load(at);
}

function elementOf({ dtype }: OperandSpec, word: (at: string) => string, at: string): string {
  const bytes = BYTES_OF[dtype];
  if (bytes === 4) return word(at);
  if (bytes === 2) return `(${word(`(${at}) >> 1u`)} >> (((${at}) & 1u) << 4u)) & 0xffffu`;
  return `(${word(`(${at}) >> 2u`)} >> (((${at}) & 3u) << 3u)) & 0xffu`;
}

function farName(binding: number): string {
  return `far_${bindingName(binding)}`;
}

/** A WGSL function that reads a word of an operand that takes several bindings. */
export function farLoad(binding: number, { count, words }: NonNullable<OperandSpec['far']>): string {
  const cases = Array.from(
    { length: count - 1 },
    (_, k) => `    case ${k}u: { return ${bindingName(binding + k)}[rest]; }`,
  );
  return /* wgsl */ `
fn ${farName(binding)}(at: u32) -> u32 {
  let rest = at % ${words}u;
  switch at / ${words}u {
${cases.join('\n')}
    default: { return ${bindingName(binding + count - 1)}[rest]; }
  }
}`;
}

/** Stores raw elements; the other way round of {@link loadRaw}. */
export function storeRaw(
  block: WgslBlock,
  operand: OperandSpec,
  binding: BindingSpec,
  index: string,
  value: RawValue,
  width: 1 | 4,
  step = '1u',
): void {
  const { dtype, access } = operand;
  const name = bindingName(operand.binding);
  const bytes = BYTES_OF[dtype];
  const raw: RawValue = { ...value, text: widened(value, width), width };
  if (access === 'vector') {
    const v = block.define(raw.text);
    const packed =
      bytes === 4
        ? v
        : bytes === 2
          ? `vec2u(${v}.x | (${v}.y << 16u), ${v}.z | (${v}.w << 16u))`
          : `${v}.x | (${v}.y << 8u) | (${v}.z << 16u) | (${v}.w << 24u)`;
    if (binding.element === 'atomic') block.add(`atomicStore(&${name}[${index}], ${packed});`);
    else block.add(`${name}[${index}] = ${packed};`);
    return;
  }
  const place = block.define(index);
  const parts = width === 1 ? [raw.text] : components({ ...raw, text: block.define(raw.text) });
  const by = access === 'dense' ? '1u' : step;
  for (const [k, part] of parts.entries()) {
    const at = k === 0 ? place : by === '1u' ? `${place} + ${k}u` : `${place} + ${k}u * ${by}`;
    if (bytes < 4) block.add(`put${bytes}_${name}(${at}, ${part});`);
    else if (binding.element === 'atomic') block.add(`atomicStore(&${name}[${at}], ${part});`);
    else block.add(`${name}[${at}] = ${part};`);
  }
}

/** WGSL functions that store elements narrower than a word: each changes its own bits of a word and no others. */
export function narrowStores(binding: number, bytes: 1 | 2): string {
  const name = bindingName(binding);
  const [shift, mask, bits] = bytes === 2 ? [1, '0xffffu', 4] : [2, '0xffu', 3];
  return /* wgsl */ `
fn put${bytes}_${name}(at: u32, raw: u32) {
  let shift = (at & ${2 ** shift - 1}u) << ${bits}u;
  atomicAnd(&${name}[at >> ${shift}u], ~(${mask} << shift));
  atomicOr(&${name}[at >> ${shift}u], raw << shift);
}`;
}
