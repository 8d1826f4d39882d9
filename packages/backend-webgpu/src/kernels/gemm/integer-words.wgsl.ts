import { WEIGHT_BITS } from '@concord/backend-core';
import type { WeightForm } from '@concord/variants';

/** Integers of 8 or 4 bits, in words of 32. */
type Integers = 'u8' | 'u4';

/** Bits of a float32 of which bit `low` of the mantissa counts 1, as a number that integers are put into and taken from. */
const magicBits = (low: number): number => (127 + 23 - low) * 2 ** 23;
const hex = (bits: number): string => `0x${bits.toString(16)}u`;

/** Returns where the four integers of `bits` bits that lie in half a word begin; of 8 bits two lie in each half. */
const lowsOf = (bits: number): readonly number[] => [0, 1, 2, 3].map((i) => (bits * i) % 16);
const masksOf = (bits: number): readonly string[] => lowsOf(bits).map((low) => hex((2 ** bits - 1) * 2 ** low));

/**
 * WGSL: what {@link decodedWord} needs, once. A conversion takes several times as long as to make the bits of an integer those of a
 * float32 where they lie, with its sign bit turned by the same operation, and to subtract what that adds, which is exact.
 */
export function integerConstants(weights: Integers): string {
  const lows = lowsOf(WEIGHT_BITS[weights]);
  const masks = masksOf(WEIGHT_BITS[weights]);
  return `  let magic = vec4u(${lows.map((low, i) => `${hex(magicBits(low))} ^ (u.flip & ${masks[i]})`).join(', ')});
  let base = vec4f(${lows.map((low) => `${2 ** (23 - low)}.0`).join(', ')});`;
}

/** WGSL: four integers of `bits` bits from bit 0 of `word` on, less `zero`, as vec4f. */
function integers(word: string, bits: number, zero: string): string {
  const halves = bits === 8 ? [`${word}`, `${word}`, `(${word} >> 16u)`, `(${word} >> 16u)`] : Array(4).fill(word);
  const masks = masksOf(bits);
  const parts = halves.map((half, i) => `(${half} & ${masks[i]}) ^ magic[${i}]`);
  return `bitcast<vec4f>(vec4u(${parts.join(', ')})) - (base + ${zero})`;
}

/** WGSL: the integers of a word, four at a time, less `zero`. */
export function decodedWord(weights: Integers, word: string, zero: string): readonly string[] {
  const first = integers(word, WEIGHT_BITS[weights], zero);
  return weights === 'u8' ? [first] : [first, integers(`(${word} >> 16u)`, 4, zero)];
}

/** WGSL: the zero of a block, an integer of `bits` bits, as it is subtracted from others with turned sign bits. */
export function integerZero(bits: number): string {
  const inWord = 32 / bits;
  return /* wgsl */ `
fn zeros_at(at: u32) -> f32 {
  let word = zeros[at / ${inWord}u] ^ u.flip;
  return bitcast<f32>(((word >> (${bits}u * (at % ${inWord}u))) & ${hex(2 ** bits - 1)}) | ${hex(magicBits(0))}) - ${2 ** 23}.0;
}`;
}

/** WGSL: weights that integers, less their zero if that is of their type, stand for. */
export function scaledWeight(zeros: WeightForm['zeros'], text: string, s = 's', z = 'z'): string {
  if (zeros === 'floats') return `((${text}) - ${z}) * ${s}`;
  return zeros === 'offsets' ? `(${text}) * ${s} + ${z}` : `(${text}) * ${s}`;
}

/** How the integers of words become numbers, as WGSL. */
interface WordDecoder {
  /** What the rest needs, once. */
  readonly constants: string;
  /** Gives what is subtracted for a zero a name. */
  readonly zero: (name: string, value: string) => string;
  /** The integers of a word less a zero by its name: what is declared for them, in names that begin with `name`, and they, four at a time. */
  readonly integers: (
    name: string,
    word: string,
    zero: string,
  ) => { readonly declared: string; readonly fours: readonly string[] };
}

/** {@link decodedWord}, by single float32 numbers. */
const singles = (weights: Integers): WordDecoder => ({
  constants: integerConstants(weights),
  zero: (name, value) => `      let ${name} = ${value};`,
  integers: (_, word, zero) => ({ declared: '', fours: decodedWord(weights, word, zero) }),
});

/** Half a word as an f16: where an integer lies in it, the exponent by which its lowest bit counts 1, and what that exponent adds. */
const PLACES = [
  { low: 0, exponent: 0x6400, base: 1024 },
  { low: 4, exponent: 0x5400, base: 64 },
] as const;

/**
 * The same by pairs of f16: two integers that are half a word apart become numbers by one operation, and lose their zeros by another,
 * exactly.
 */
function pairs(weights: Integers): WordDecoder {
  const places = weights === 'u4' ? PLACES : [PLACES[0]];
  const both = (bits: number): string => hex(bits * 0x10001);
  const maskOf = (low: number): string => both((2 ** WEIGHT_BITS[weights] - 1) * 2 ** low);
  const lines = (line: (place: (typeof PLACES)[number]) => string): string => places.map(line).join('\n');
  return {
    constants: lines(({ low, exponent }) => `  let pair${low} = ${both(exponent)} ^ (u.flip & ${maskOf(low)});`),
    zero: (name, value) => lines(({ low, base }) => `      let ${name}_${low} = vec2<f16>(f16(${base}.0 + ${value}));`),
    integers: (name, word, zero) => {
      const two = [word, `(${word} >> 8u)`].flatMap((bits) =>
        places.map(({ low }) => `vec2f(bitcast<vec2<f16>>((${bits} & ${maskOf(low)}) ^ pair${low}) - ${zero}_${low})`),
      );
      // The first of each pair come before the second of each.
      const declared = `      let ${name} = transpose(mat${two.length}x2f(${two.join(', ')}));`;
      return { declared, fours: weights === 'u4' ? [`${name}[0]`, `${name}[1]`] : [`vec4f(${name}[0], ${name}[1])`] };
    },
  };
}

/** Returns how words are decoded in kernels that have f16, and in those that do not. */
export function decoderOf(weights: Integers, hasF16: boolean): WordDecoder {
  return hasF16 ? pairs(weights) : singles(weights);
}
