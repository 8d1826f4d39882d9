import type { FloatDType } from '@concord/backend-core';
import type { KernelFeature, KernelSource } from '../kernel.ts';
import type { DeviceTraits } from '../recorder.ts';
import { halfBits, halfBitsOfFour } from '../wgsl/half.wgsl.ts';
import { isSet } from '../wgsl/snippets.ts';
import { epilogueCode } from '../epilogue/epilogue-code.ts';
import type { RunSpec } from '../run/run-spec.ts';

/**
 * The storage of the elements of an output: as `f32`, as `f16` where the device has that type, or as binary16 in pairs
 * in words of 32 bits. Inputs of binary16 are read from words everywhere: reading harms no neighbour. Nor does writing four
 * elements at once, so wide outputs of `f16` are words too.
 */
export type OutputFormat = 'f32' | 'f16' | 'half-words';

/** Dtypes of products. */
export const DTYPES: readonly FloatDType[] = ['f32', 'f16'];

/** The storage of C of a dtype on a device. */
export function outputFormat(dtype: FloatDType, { hasF16 }: DeviceTraits): OutputFormat {
  if (dtype === 'f32') return 'f32';
  return hasF16 ? 'f16' : 'half-words';
}

/** WGSL type of an input binding; `wide` counts in vectors of four elements. */
export function inputType(dtype: FloatDType, wide: boolean): string {
  if (dtype === 'f32') return wide ? 'array<vec4f>' : 'array<f32>';
  return wide ? 'array<vec2u>' : 'array<u32>';
}

/**
 * WGSL: `read_<name>(at: u32)` gives vector `at` of a wide input as `vec4f`, element `at` of another as `f32`.
 * `unpack2x16float` is exact.
 */
export function readFunction(name: string, dtype: FloatDType, wide: boolean): string {
  const type = wide ? 'vec4f' : 'f32';
  const value = {
    f32: `${name}[at]`,
    f16: wide
      ? `vec4f(unpack2x16float(${name}[at].x), unpack2x16float(${name}[at].y))`
      : `unpack2x16float(${name}[at >> 1u] >> (16u * (at & 1u))).x`,
  }[dtype];
  return `fn read_${name}(at: u32) -> ${type} { return ${value}; }`;
}

/** Features that a kernel with this output needs. */
export function featuresFor(output: OutputFormat, wide: boolean): readonly KernelFeature[] {
  return output === 'f16' && !wide ? ['f16'] : [];
}

/** Bindings `a`, `b` and `c` of a product, each in vectors of four elements or not, and the features that it needs. */
export function productBindings(
  input: FloatDType,
  output: OutputFormat,
  [a, b, c]: readonly [boolean, boolean, boolean],
): Pick<KernelSource, 'storage' | 'features'> {
  return {
    storage: {
      a: { access: 'read', type: inputType(input, a) },
      b: { access: 'read', type: inputType(input, b) },
      c: { access: 'read_write', type: outputType(output, c) },
    },
    features: featuresFor(output, c),
  };
}

/** WGSL type of the output binding `c`. */
export function outputType(output: OutputFormat, wide: boolean): string {
  if (wide) return output === 'f32' ? 'array<vec4f>' : 'array<vec2u>';
  return { f32: 'array<f32>', f16: 'array<f16>', 'half-words': 'array<u32>' }[output];
}

/**
 * WGSL: a finished value of C as it is stored. Every value of C goes through this: those of the kernels of products, by
 * {@link storeFunction}, and those of `finish.wgsl.ts`.
 *
 * @param wide - whether it is four values; words of halves take one at a time
 */
export function storedValue(output: OutputFormat, wide: boolean, value: string): string {
  if (output === 'f32') return value;
  if (output === 'half-words') return `half_bits(${value}, u.zero)`;
  return wide ? `halves_of_four(${value})` : `to_f16(${value})`;
}

/**
 * WGSL: `store_c(at: u32, sum)` writes `alpha * sum + beta * C` to vector or element `at`; C is read only if
 * `u.reads_c` says so. With an epilogue `store_c(at: u32, batch: u32, row: u32, column: u32, sum)` writes what that makes of it.
 *
 * @param place - coordinates in the epilogue's domain, where they are not those of a product
 */
export function storeFunction(
  output: Exclude<OutputFormat, 'half-words'>,
  wide: boolean,
  epilogue?: RunSpec,
  place: readonly string[] = ['batch', 'row', 'column'],
): string {
  if (epilogue !== undefined) return storeWithEpilogue(output, wide, epilogue, place);
  const type = wide ? 'vec4f' : 'f32';
  const old = oldValue(output, wide);
  return /* wgsl */ `
${output === 'f16' ? (wide ? HALVES_OF_FOUR : TO_F16) : ''}
${isSet}
fn store_c(at: u32, sum: ${type}) {
  var value = u.alpha * sum;
  if (is_set(u.reads_c, at)) { value += u.beta * ${old}; }
  c[at] = ${storedValue(output, wide, 'value')};
}`;
}

function oldValue(output: Exclude<OutputFormat, 'half-words'>, wide: boolean): string {
  if (output === 'f16' && wide) return 'vec4f(unpack2x16float(c[at].x), unpack2x16float(c[at].y))';
  return `${wide ? 'vec4f' : 'f32'}(c[at])`;
}

function storeWithEpilogue(
  output: Exclude<OutputFormat, 'half-words'>,
  wide: boolean,
  epilogue: RunSpec,
  place: readonly string[],
): string {
  const { functions, loads, store } = storeInPlace(output, wide, epilogue, { place });
  return /* wgsl */ `
${functions}
fn store_c(at: u32, ${place.map((name) => `${name}: u32, `).join('')}sum: ${wide ? 'vec4f' : 'f32'}) {
${loads}
${store}
}`;
}

/** WGSL that stores with an epilogue, for kernels that do so in one place. */
export interface StoreInPlace {
  /** The functions that it calls. */
  readonly functions: string;
  /** Reads what the epilogue reads: as soon as the place is known, to have it when the sum is. */
  readonly loads: string;
  /** Stores `sum` to vector or element `at`. */
  readonly store: string;
}

/** Options of {@link storeInPlace}. */
interface InPlaceOptions {
  /** The coordinates in the epilogue's domain. */
  readonly place: readonly string[];
  /** Begins the names of values, of which code that stands elsewhere has others. */
  readonly prefix?: string;
}

/** WGSL: as {@link storeFunction} with an epilogue, but in place. */
export function storeInPlace(
  output: Exclude<OutputFormat, 'half-words'>,
  wide: boolean,
  epilogue: RunSpec,
  { place, prefix }: InPlaceOptions,
): StoreInPlace {
  const { loads, lines, bits } = epilogueCode(epilogue, 'value', place, prefix);
  const stored = {
    f32: `bitcast<${wide ? 'vec4f' : 'f32'}>(bits)`,
    f16: wide ? 'bits.xz | (bits.yw << vec2u(16u))' : 'f16(unpack2x16float(bits).x)',
  }[output];
  const functions = `${output === 'f16' ? halfBitsOfFour : ''}\n${isSet}`;
  const store = /* wgsl */ `  var value = u.alpha * sum;
  if (is_set(u.reads_c, at)) { value += u.beta * ${oldValue(output, wide)}; }
${lines}
  let bits = ${bits};
  c[at] = ${stored};`;
  return { functions, loads, store };
}

/**
 * WGSL: `to_f16`, correctly rounded. The conversion at the end is exact, as the number is binary16 already; a `bitcast` from
 * words to `f16` would say it plainly, but naga has none (gfx-rs/wgpu#8896).
 */
export const TO_F16: string = /* wgsl */ `
${halfBits}
fn to_f16(value: f32) -> f16 { return f16(unpack2x16float(half_bits(value, u.zero)).x); }`;

/** WGSL: `halves_of_four`, four numbers correctly rounded to binary16, in two words. */
export const HALVES_OF_FOUR: string = /* wgsl */ `
${halfBitsOfFour}
fn halves_of_four(value: vec4f) -> vec2u {
  let bits = half_bits_of_four(value, u.zero);
  return bits.xz | (bits.yw << vec2u(16u));
}`;
