import { BYTES_OF, ELEMENT_TYPES } from '@concord/backend-core/implement';
import type { ScatterMode } from '@concord/backend-core/kernel';
import { type WgslBlock, widened } from '../arithmetic/wgsl-block.ts';
import { varyingZero } from '../wgsl/half.wgsl.ts';
import { components, type PlacesByIndex, type RawValue } from './operand-code.ts';
import { bindingName, type OperandSpec, type RunSpec } from './run-spec.ts';

/**
 * Stores raw elements by index, each by itself; nothing where an index is outside. Two of 16 bits that fill a word, as rows do that are
 * put somewhere whole, are stored at once: otherwise one waits for the other.
 */
export function scatterAt(
  block: WgslBlock,
  { kernel, operands }: Pick<RunSpec, 'kernel' | 'operands'>,
  output: number,
  raw: RawValue,
  { places, inside }: PlacesByIndex,
  width: 1 | 4,
): void {
  const each = (value: Parameters<typeof components>[0]): readonly string[] =>
    width === 1 ? [value.text] : components({ ...value, text: block.define(widened(value, width)), width });
  const [values, at, conditions] = [each(raw), each(places), each(inside)];
  const one = (k: number): string => `if (${conditions[k]}) { scatter${output}(${at[k]}, ${values[k]}); }`;
  const { dtype, binding } = operands[kernel.inputs.length + output] as OperandSpec;
  const isByWords = width === 4 && BYTES_OF[dtype] === 2 && kernel.outputs[output]?.scatter?.mode === 'set';
  for (let k = 0; k < width; k += isByWords ? 2 : 1) {
    if (!isByWords) block.add(one(k));
    else {
      const fill = `${conditions[k]} && ${conditions[k + 1]} && (${at[k]} & 1u) == 0u && ${at[k + 1]} == ${at[k]} + 1u`;
      const word = `${values[k]} | (${values[k + 1]} << 16u)`;
      block.add(`if (${fill}) { atomicStore(&${bindingName(binding)}[${at[k]} >> 1u], ${word}); }`);
      block.add(`else { ${one(k)} ${one(k + 1)} }`);
    }
  }
}

/**
 * A WGSL function that stores an element at a place of an output, whatever other invocations do to its word.
 *
 * Its value is raw, but for `add` the number of the kernel in 32 bits.
 */
export function scatterFunction(output: number, mode: ScatterMode, operand: OperandSpec): string {
  const { dtype, type, binding } = operand;
  const name = bindingName(binding);
  const head = `fn scatter${output}(at: u32, value: u32)`;
  const bytes = BYTES_OF[dtype];
  if (bytes === 4) {
    const builtIn =
      mode === 'set'
        ? 'atomicStore'
        : mode === 'add' && type !== 'f32'
          ? 'atomicAdd'
          : mode !== 'add' && type === 'u32'
            ? { max: 'atomicMax', min: 'atomicMin' }[mode]
            : undefined;
    if (builtIn !== undefined) return `${head} { ${builtIn}(&${name}[at], value); }`;
  }
  const [places, bits] = bytes === 4 ? [0, 0] : bytes === 2 ? [1, 4] : [2, 3];
  const mask = bytes === 4 ? '0xffffffffu' : bytes === 2 ? '0xffffu' : '0xffu';
  return /* wgsl */ `
${head} {
  let word = at >> ${places}u;
  let shift = (at & ${2 ** places - 1}u) << ${bits}u;
  var old = atomicLoad(&${name}[word]);
  loop {
    let here = (old >> shift) & ${mask};
    let next = ${nextOf(mode, operand)};
    let result = atomicCompareExchangeWeak(&${name}[word], old, (old & ~(${mask} << shift)) | (next << shift));
    if (result.exchanged) { break; }
    old = result.old_value;
  }
}`;
}

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
