import type { DType } from '@concord/backend-core';
import { BYTES_OF } from '@concord/backend-core/implement';
import type { KernelOutput, NumberType } from '@concord/backend-core/kernel';
import { vectorAxis } from '@concord/kernel';
import { type WgslBlock, type WgslValue, widened, wgslType } from '../arithmetic/wgsl-block.ts';
import { defineKernel, type Kernel, type KernelSource, mainOf } from '../kernel.ts';
import { scatterAt, type ScatteredValue, scatterFunctions } from './scatter-code.ts';
import { bfloatBits, halfBitsOfFour, varyingZero } from '../wgsl/half.wgsl.ts';
import {
  bindingName,
  type BindingSpec,
  offsetName,
  type OperandSpec,
  paramUniforms,
  type RunSpec,
  sizeName,
  storageOf,
  strideName,
} from './run-spec.ts';

/** Components of a vector of four. */
const COMPONENTS = ['x', 'y', 'z', 'w'] as const;

/** Elements as they lie in memory, in the lower bits of a u32 each. */
export type RawValue = WgslValue & { readonly type: 'u32' };

/** Elements by their indices: their places, the first one's where they are outside. */
export interface PlacesByIndex {
  readonly places: RawValue;
  readonly inside: WgslValue;
}

/** Raw elements of an output, and where they go if that is by index. */
export type StoredValue = RawValue & { readonly at?: PlacesByIndex };

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

/** Coordinates of a number along axes, the last of which goes fastest. */
export function divided(block: WgslBlock, number: string, axes: readonly number[]): string[] {
  const coordinates: string[] = [];
  let rest = number;
  for (const axis of axes.slice(1).reverse()) {
    const quotient = block.define(`${rest} / u.${sizeName(axis)}`);
    coordinates.unshift(block.define(`${rest} - ${quotient} * u.${sizeName(axis)}`));
    rest = quotient;
  }
  return [rest, ...coordinates];
}

/** The place of the elements of an operand. */
export interface Address {
  /** The place of the first one, in units of the operand's access: vectors or elements. */
  readonly place: string;
  /** Elements from one of a vector to the next, where they are strided. */
  readonly step: string;
}

/**
 * The address of an operand at a point. The strides of an operand that is reached by vectors count vectors, its stride
 * along the vectors is 1.
 *
 * @param coordinates - along the first axes of the domain, in vectors along the vector axis
 * @param base - the address of what the other coordinates tell; default: the operand's offset
 */
export function addressOf(
  spec: RunSpec,
  operand: number,
  coordinates: readonly (string | undefined)[],
  base = `u.${offsetName(operand)}`,
): Address {
  const { access, level, axis: own = vectorAxis(spec) } = spec.operands[operand] as OperandSpec;
  const terms = coordinates.flatMap((coordinate, axis) => {
    // A separate row has no axis: the one that stands for it takes no uniforms.
    if (spec.unfolded === 0 && axis < spec.rowRank) return [];
    if (coordinate === undefined || coordinate === '0u' || (level === 'row' && axis >= spec.rowRank)) return [];
    const stride = `u.${strideName(operand, axis)}`;
    if (axis !== own) return [`${coordinate} * ${stride}`];
    if (access === 'constant') return [];
    if (access === 'vector') return [coordinate];
    const first = spec.width === 1 ? coordinate : `(${coordinate} * ${spec.width}u)`;
    return [access === 'dense' ? first : `${first} * ${stride}`];
  });
  return { place: [base, ...terms].join(' + '), step: `u.${strideName(operand, own)}` };
}

/** The place of a load or store: neighbours, and the address of what the coordinates do not tell. */
export interface OperandAt {
  readonly width?: 1 | 4;
  readonly base?: string | undefined;
}

/** Loads the elements of an input at some coordinates, as `addressOf` takes them. */
export function loadAt(
  block: WgslBlock,
  spec: RunSpec,
  input: number,
  coordinates: readonly (string | undefined)[],
  { width = spec.width, base }: OperandAt = {},
): RawValue {
  const operand = spec.operands[input] as OperandSpec;
  const { place, step } = addressOf(spec, input, coordinates, base);
  return loadRaw(block, operand, spec.bindings[operand.binding] as BindingSpec, place, width, step);
}

/** Stores the raw elements of an output at some coordinates. */
export function storeAt(
  block: WgslBlock,
  spec: RunSpec,
  output: number,
  coordinates: readonly (string | undefined)[],
  raw: StoredValue,
  { width = spec.width, base }: OperandAt = {},
): void {
  if (scatterTo(block, spec, output, [{ raw }], width)) return;
  const index = spec.kernel.inputs.length + output;
  const operand = spec.operands[index] as OperandSpec;
  const { place, step } = addressOf(spec, index, coordinates, base);
  storeRaw(block, operand, spec.bindings[operand.binding] as BindingSpec, place, raw, width, step);
}

/** Stores the raw elements of several points of an output that is written by index; returns whether it is one. */
export function scatterTo(
  block: WgslBlock,
  spec: RunSpec,
  output: number,
  values: readonly { readonly raw: StoredValue; readonly inside?: string }[],
  width: 1 | 4 = spec.width,
): boolean {
  const { scatter } = spec.kernel.outputs[output] as KernelOutput;
  if (scatter === undefined) return false;
  const operand = spec.operands[spec.kernel.inputs.length + output] as OperandSpec;
  scatterAt(block, output, scatter.mode, operand, values as readonly ScatteredValue[], width);
  return true;
}

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
function farLoad(binding: number, { count, words }: NonNullable<OperandSpec['far']>): string {
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
function storeRaw(
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
function narrowStores(binding: number, bytes: 1 | 2): string {
  const name = bindingName(binding);
  const [shift, mask, bits] = bytes === 2 ? [1, '0xffffu', 4] : [2, '0xffu', 3];
  return /* wgsl */ `
fn put${bytes}_${name}(at: u32, raw: u32) {
  let shift = (at & ${2 ** shift - 1}u) << ${bits}u;
  atomicAnd(&${name}[at >> ${shift}u], ~(${mask} << shift));
  atomicOr(&${name}[at >> ${shift}u], raw << shift);
}`;
}

/**
 * The parts of a graph's kernel beyond those of every one; `declarations` are at module scope, `block` is in `main`.
 */
interface GraphKernelSource extends Omit<KernelSource, 'storage' | 'params' | 'code'> {
  readonly storage?: KernelSource['storage'];
  readonly declarations?: readonly string[];
  readonly lanes: number;
  readonly block: WgslBlock;
}

/** Completes a kernel of a graph: with the bindings of its operands, the parameters, and the functions that reach them. */
export function defineGraphKernel(
  spec: RunSpec,
  { declarations = [], lanes, block, ...source }: GraphKernelSource,
): Kernel {
  return defineKernel({
    ...source,
    storage: { ...storageOf(spec), ...source.storage },
    params: paramUniforms(spec),
    code: [...accessFunctions(spec), ...declarations, mainOf(lanes), block.text(), '}'].join('\n'),
  });
}

/** WGSL functions that loads of far gather inputs and stores of narrow elements need. */
function accessFunctions({ kernel, operands, bindings }: RunSpec): readonly string[] {
  const outputs = operands.slice(kernel.inputs.length);
  const narrow = new Set(
    outputs.flatMap(({ dtype, access, level, binding }) => {
      const bytes = BYTES_OF[dtype];
      if (bytes === 4 || access === 'vector' || level === 'scatter') return [];
      return bindings[binding]?.element === 'atomic' ? [narrowStores(binding, bytes)] : [];
    }),
  );
  return [
    ...operands.flatMap(({ binding, far }) => (far === undefined ? [] : [farLoad(binding, far)])),
    ...(outputs.some(({ dtype }) => dtype === 'f16') ? [halfBitsOfFour] : []),
    ...(outputs.some(({ dtype }) => dtype === 'bf16') ? [bfloatBits] : []),
    ...narrow,
    ...kernel.outputs.flatMap(({ scatter }, output) =>
      scatter === undefined ? [] : [scatterFunctions(output, scatter.mode, outputs[output] as OperandSpec)],
    ),
  ];
}
