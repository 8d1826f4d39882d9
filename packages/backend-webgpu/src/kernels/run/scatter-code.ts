import { BYTES_OF, ELEMENT_TYPES } from '@concord/backend-core/implement';
import type { ScatterMode } from '@concord/backend-core/kernel';
import { type WgslBlock, widened } from '../arithmetic/wgsl-block.ts';
import { varyingZero } from '../wgsl/half.wgsl.ts';
import { components, type PlacesByIndex, type StoredValue } from './operand-code.ts';
import { bindingName, type OperandSpec } from './run-spec.ts';

/** Raw elements to store by index, where `inside` holds. */
export interface ScatteredValue {
  readonly raw: StoredValue & { readonly at: PlacesByIndex };
  /** Left out: at every point. */
  readonly inside?: string;
}

/**
 * Stores raw elements by index, each by itself; nothing where an index is outside. Where a word is read, changed and exchanged, all of
 * them are on their way at once.
 */
export function scatterAt(
  block: WgslBlock,
  output: number,
  mode: ScatterMode,
  operand: OperandSpec,
  values: readonly ScatteredValue[],
  width: 1 | 4,
): void {
  const each = (value: Parameters<typeof components>[0]): readonly string[] =>
    width === 1 ? [value.text] : components({ ...value, text: block.define(widened(value, width)), width });
  const elements = values.flatMap(({ raw, inside }) => {
    const [parts, places, conditions] = [each(raw), each(raw.at.places), each(raw.at.inside)];
    return parts.map((value, k) => ({
      value,
      at: places[k] as string,
      condition: inside === undefined ? (conditions[k] as string) : `${inside} && ${conditions[k]}`,
    }));
  });
  if (builtInOf(mode, operand) !== undefined) {
    for (const { value, at, condition } of elements)
      block.add(`if (${condition}) { scatter${output}(${at}, ${value}); }`);
    return;
  }
  const word = (at: string): string => `&${bindingName(operand.binding)}[${at} >> ${placesOf(operand)}u]`;
  if (mode === 'set' && width === 4 && BYTES_OF[operand.dtype] === 2) {
    // Two that fill a word, as rows do that are put somewhere whole: otherwise one waits for the other.
    const one = ({ value, at, condition }: (typeof elements)[number]): string =>
      `if (${condition}) { scatter${output}(${at}, ${value}, atomicLoad(${word(at)})); }`;
    for (let k = 0; k < elements.length; k += 2) {
      const [low, high] = elements.slice(k, k + 2) as [(typeof elements)[number], (typeof elements)[number]];
      const fill = `${low.condition} && ${high.condition} && (${low.at} & 1u) == 0u && ${high.at} == ${low.at} + 1u`;
      block.add(`if (${fill}) { atomicStore(${word(low.at)}, ${low.value} | (${high.value} << 16u)); }`);
      block.add(`else { ${one(low)} ${one(high)} }`);
    }
    return;
  }
  const oneByOne = block.inner();
  const seen = elements.map(({ at }) => block.define(`atomicLoad(${word(at)})`));
  for (const [k, { value, at, condition }] of elements.entries()) {
    oneByOne.add(`if (${condition}) { scatter${output}(${at}, ${value}, ${seen[k]}); }`);
  }
  if (elements.length === 1) {
    block.lines.push(...oneByOne.lines);
    return;
  }
  const abreast = block.inner();
  const exchanges = elements.map(({ value, at }, k) =>
    abreast.define(
      `atomicCompareExchangeWeak(${word(at)}, ${seen[k]}, scattered${output}(${at}, ${value}, ${seen[k]}))`,
    ),
  );
  for (const [k, { value, at }] of elements.entries()) {
    const exchange = exchanges[k];
    abreast.add(`if (!${exchange}.exchanged) { scatter${output}(${at}, ${value}, ${exchange}.old_value); }`);
  }
  block.enclose(`if (${elements.map(({ condition }) => condition).join(' && ')})`, abreast);
  block.enclose('else', oneByOne);
}

/** The function that does all that a mode needs with a word, if there is one. */
function builtInOf(mode: ScatterMode, { dtype, type }: OperandSpec): string | undefined {
  if (BYTES_OF[dtype] < 4) return undefined;
  if (mode === 'set') return 'atomicStore';
  if (mode === 'add') return type === 'f32' ? undefined : 'atomicAdd';
  return type === 'u32' ? { max: 'atomicMax', min: 'atomicMin' }[mode] : undefined;
}

/** Returns how far the place of an element is to be shifted for that of its word. */
function placesOf({ dtype }: OperandSpec): 0 | 1 | 2 {
  return ({ 4: 0, 2: 1, 1: 2 } as const)[BYTES_OF[dtype]];
}

/**
 * WGSL functions that store an element at a place of an output, whatever other invocations do to its word: `seen` is what was there when
 * it was last looked at.
 *
 * Its value is raw, but for `add` the number of the kernel in 32 bits.
 */
export function scatterFunctions(output: number, mode: ScatterMode, operand: OperandSpec): string {
  const name = bindingName(operand.binding);
  const builtIn = builtInOf(mode, operand);
  if (builtIn !== undefined) return `fn scatter${output}(at: u32, value: u32) { ${builtIn}(&${name}[at], value); }`;
  const places = placesOf(operand);
  const mask = ['0xffffffffu', '0xffffu', '0xffu'][places];
  const { dtype } = operand;
  return /* wgsl */ `
fn scattered${output}(at: u32, value: u32, word: u32) -> u32 {
  let shift = (at & ${2 ** places - 1}u) * ${8 * BYTES_OF[operand.dtype]}u;
  let here = (word >> shift) & ${mask};
  let next = ${nextOf(mode, operand)};
  return (word & ~(${mask} << shift)) | (next << shift);
}
${mode === 'add' && dtype === 'f32' ? carried(output, name) : ''}
fn scatter${output}(at: u32, value: u32, seen: u32) {
  var old = seen;
  loop {
    let result = atomicCompareExchangeWeak(&${name}[at >> ${places}u], old, scattered${output}(at, value, old));
    if (result.exchanged) { break; }
    ${mode === 'add' && dtype === 'f32' ? `carry${output}(at, value); break;` : 'old = result.old_value;'}
  }
}`;
}

/**
 * WGSL for words that many add to at once: what is there is taken, and left with the value added; whoever finds what another has left in
 * between carries that on. Of n at one word half are done each time, where but one of n compared exchanges comes about.
 */
const carried = (output: number, name: string): string => /* wgsl */ `
fn carry${output}(at: u32, value: u32) {
  var mine = value;
  loop {
    let taken = atomicExchange(&${name}[at], 0u);
    mine = atomicExchange(&${name}[at], bitcast<u32>(bitcast<f32>(taken) + bitcast<f32>(mine)));
    if (mine == 0u) { break; }
  }
}`;

/** The raw element that `value` makes of the one that is `here`. */
function nextOf(mode: ScatterMode, { dtype, type }: OperandSpec): string {
  if (mode === 'set') return 'value';
  if (mode === 'add') {
    switch (dtype) {
      case 'f16':
        return `half_bits(unpack2x16float(here).x + bitcast<f32>(value), ${varyingZero('at')})`;
      case 'bf16':
        return 'bfloat_bits(bitcast<f32>(here << 16u) + bitcast<f32>(value))';
      case 'i8':
        return 'bitcast<u32>(clamp((bitcast<i32>(here << 24u) >> 24u) + bitcast<i32>(value), -128, 127)) & 0xffu';
      case 'u8':
        return 'min(here + value, 255u)';
      default:
        return 'bitcast<u32>(bitcast<f32>(here) + bitcast<f32>(value))';
    }
  }
  // By bits: compilers take NaN for impossible. As words in the order of the numbers.
  const up = 32 - 8 * BYTES_OF[dtype];
  const word = (raw: string): string => (up === 0 ? raw : `(${raw} << ${up}u)`);
  const key = (raw: string): string => {
    if (type === 'u32') return raw;
    if (type === 'i32') return `(${word(raw)} ^ 0x80000000u)`;
    return `select(~${word(raw)}, ${word(raw)} | 0x80000000u, ${word(raw)} < 0x80000000u)`;
  };
  const taken = `select(here, value, ${key('value')} ${mode === 'max' ? '>' : '<'} ${key('here')})`;
  const { float } = ELEMENT_TYPES[dtype];
  if (float === undefined) return taken;
  const { exponentBits, fractionBits } = float;
  const isNan = (raw: string): string =>
    `(${raw} & ${2 ** (exponentBits + fractionBits) - 1}u) > ${(2 ** exponentBits - 1) * 2 ** fractionBits}u`;
  return `select(select(${taken}, value, ${isNan('value')}), here, ${isNan('here')})`;
}
