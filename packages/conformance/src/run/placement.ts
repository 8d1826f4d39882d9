import { type DType, f16BitsToF32, f32ToBf16Bits, f32ToF16Bits } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import type { StoredElements } from '@concord/backend-cpu/reference';
import type { Random } from '../harness/random.ts';
import type { Place, PlannedOperand } from './plan.ts';

/** The ways in which an operand can lie in memory. */
export const VIEW_KINDS = ['dense', 'padded', 'transposed', 'permuted', 'repeated', 'scalar', 'mixed'] as const;

/** One of {@link VIEW_KINDS}. */
export type ViewKind = (typeof VIEW_KINDS)[number];

/** A stride that an axis of size 1 may have, as it is not used. */
const NONSENSE = 1_000_003;

/** Number of elements of a shape. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Elements between the first and the last of a view, both included; 0 if there is none. */
export function extentOf(shape: readonly number[], strides: readonly number[]): number {
  if (shape.includes(0)) return 0;
  return shape.reduce((sum, size, axis) => sum + (size - 1) * (size > 1 ? (strides[axis] as number) : 0), 1);
}

/** Row-major strides without gaps. */
export function denseStrides(shape: readonly number[]): number[] {
  return inOrder(shape, rowMajor(shape.length), () => 0);
}

/**
 * Strides of a view of that kind. Outputs do not repeat elements: for them `repeated` and `scalar` are `padded`.
 *
 * @param isOutput - whether each element needs its own address
 */
export function drawStrides(random: Random, kind: ViewKind, shape: readonly number[], isOutput: boolean): number[] {
  const order = rowMajor(shape.length);
  const gap = (): number => random.pick([0, 0, 1, 3]);
  const strides = ((): number[] => {
    switch (kind) {
      case 'dense':
        return denseStrides(shape);
      case 'padded':
        return inOrder(shape, order, (index) => (index === 0 ? random.pick([0, 1, 2]) : random.pick([0, 1, 5])));
      case 'transposed':
        return inOrder(shape, [...order].reverse(), () => 0);
      case 'permuted':
        return inOrder(shape, random.permutation(shape.length), gap);
      case 'repeated':
        return isOutput ? inOrder(shape, order, gap) : repeating(random, shape);
      case 'scalar':
        return isOutput ? inOrder(shape, order, gap) : shape.map(() => 0);
      case 'mixed':
        return drawStrides(random, random.pick(VIEW_KINDS.slice(0, 6)), shape, isOutput);
    }
  })();
  if (kind === 'dense' || kind === 'mixed') return strides;
  return strides.map((stride, axis) => (shape[axis] === 1 ? NONSENSE + axis : stride));
}

/** Calls `visit` with the row-major number of each point and its distance from the first, in elements. */
export function eachElement(
  shape: readonly number[],
  strides: readonly number[],
  visit: (index: number, distance: number) => void,
): void {
  const total = sizeOf(shape);
  const step = shape.map((size, axis) => (size > 1 ? (strides[axis] as number) : 0));
  const place = shape.map(() => 0);
  let distance = 0;
  for (let index = 0; index < total; index++) {
    visit(index, distance);
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      place[axis] = (place[axis] as number) + 1;
      distance += step[axis] as number;
      if ((place[axis] as number) < (shape[axis] as number)) break;
      distance -= (shape[axis] as number) * (step[axis] as number);
      place[axis] = 0;
    }
  }
}

/** The place of a point along each axis, of its row-major number. */
export function placeOf(index: number, shape: readonly number[]): number[] {
  const place: number[] = [];
  let rest = index;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const size = shape[axis] as number;
    place.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return place;
}

function rowMajor(rank: number): number[] {
  return Array.from({ length: rank }, (_, index) => rank - 1 - index);
}

/** Strides with the axes of `order` from the fastest to the slowest, `gap` elements left out before each. */
function inOrder(shape: readonly number[], order: readonly number[], gap: (index: number) => number): number[] {
  const strides = shape.map(() => 0);
  let reach = 1;
  for (const [index, axis] of order.entries()) {
    const stride = reach + gap(index);
    strides[axis] = stride;
    if (shape[axis] !== 1) reach = stride * (shape[axis] as number);
  }
  return strides;
}

function repeating(random: Random, shape: readonly number[]): number[] {
  const isRepeated = shape.map(() => random.chance(0.5));
  if (shape.length > 0) isRepeated[random.integer(0, shape.length - 1)] = true;
  const kept = shape.map((size, axis) => (isRepeated[axis] === true ? 1 : size));
  const strides = inOrder(kept, rowMajor(shape.length), () => 0);
  return strides.map((stride, axis) => (isRepeated[axis] === true ? 0 : stride));
}

const FLOAT = new Float32Array(1);
const WORD = new Uint32Array(FLOAT.buffer);

/** Bytes of an element in memory. */
export function bytesOf(dtype: DType): number {
  return ELEMENT_TYPES[dtype].bytes;
}

/** The bits that hold a number in memory, in the low bits of the result: rounded to nearest even, or saturated. */
export function encodeElement(dtype: DType, value: number): number {
  switch (dtype) {
    case 'f32':
      return floatBits(value);
    case 'f16':
      return f32ToF16Bits(value);
    case 'bf16':
      return f32ToBf16Bits(value);
    case 'i8':
      return Math.min(Math.max(value, -128), 127) & 0xff;
    case 'u8':
      return Math.min(value, 255) & 0xff;
    case 'i32':
    case 'u32':
      return value >>> 0;
  }
}

/** The number that bits in memory stand for. */
export function decodeElement(dtype: DType, bits: number): number {
  switch (dtype) {
    case 'f32':
      return bitsFloat(bits);
    case 'f16':
      return f16BitsToF32(bits);
    case 'bf16':
      return bitsFloat(bits << 16);
    case 'i8':
      return (bits << 24) >> 24;
    case 'i32':
      return bits | 0;
    case 'u8':
    case 'u32':
      return bits >>> 0;
  }
}

/** Elements as they lie in memory, of bytes that begin with the first. */
export function storedElements(dtype: DType, bytes: Uint8Array<ArrayBuffer>): StoredElements {
  return new ELEMENT_TYPES[dtype].Stored(bytes.buffer);
}

/** The numbers in the bytes of an operand. */
export function numbersIn(dtype: DType, bytes: Uint8Array): Float64Array {
  const stored = storedElements(dtype, bytes.slice());
  return Float64Array.from(stored, (bits) => (dtype === 'f32' ? bits : decodeElement(dtype, bits)));
}

/** Rounds a number to one that a dtype holds. */
export const roundingTo =
  (dtype: DType): ((x: number) => number) =>
  (x) =>
    decodeElement(dtype, encodeElement(dtype, x));

/** Puts the bits of an element into some bytes. */
export function writeBits(bytes: DataView, dtype: DType, at: number, bits: number): void {
  const size = bytesOf(dtype);
  if (size === 4) bytes.setUint32(at, bits, true);
  else if (size === 2) bytes.setUint16(at, bits, true);
  else bytes.setUint8(at, bits);
}

/** The float32 with those 32 bits. */
export function bitsFloat(bits: number): number {
  WORD[0] = bits;
  return FLOAT[0] as number;
}

/** The 32 bits of a number that is rounded to float32. */
export function floatBits(value: number): number {
  FLOAT[0] = value;
  return WORD[0] as number;
}

/** The ways in which operands can lie to each other. */
export const PLACE_KINDS = [
  'separate',
  'together',
  'packed',
  'in-place',
  'same-input',
  'interleaved',
  'woven',
] as const;

/**
 * One of {@link PLACE_KINDS}: each in its own allocation; all in one, 4 bytes apart, or without a gap; an output in
 * the place of an input; inputs at one address, and an output in their place; outputs as interleaved views, or with the
 * inputs among them. Or as names say: an output with that of an input is in its place, whatever the others are.
 */
export type PlaceKind = (typeof PLACE_KINDS)[number] | 'named';

/** Bytes before the first operand of an allocation. */
const GUARD_BYTES = 64;

/** Operands, whose layout a place can change, and where they lie. */
interface PlacedOperands {
  readonly operands: readonly PlannedOperand[];
  readonly places: readonly Place[];
}

/**
 * Gives every operand its place.
 *
 * @param levels - level and type of each: only operands of one level and type can share a place
 * @param offset - elements by which each is moved away from the alignment of its allocation
 */
export function placeOperands(
  given: readonly PlannedOperand[],
  levels: readonly string[],
  kind: PlaceKind,
  offset: number,
): PlacedOperands {
  const { operands, places } = placedAs(given, levels, kind, offset);
  // An output with the name of an input is in its place, wherever that is.
  const owners = operands.map((operand, index) =>
    operand.isOutput ? operands.findIndex(({ name }) => name === operand.name) : index,
  );
  return {
    operands: operands.map((operand, index) => {
      const { dtype, strides, saysStrides } = operands[owners[index] as number] as PlannedOperand;
      return { ...operand, dtype, strides, saysStrides };
    }),
    places: owners.map((owner) => places[owner] as Place),
  };
}

function placedAs(
  given: readonly PlannedOperand[],
  levels: readonly string[],
  kind: PlaceKind,
  offset: number,
): PlacedOperands {
  switch (kind) {
    case 'separate':
    case 'named':
      return { operands: given, places: separate(given, offset) };
    case 'together':
    case 'packed':
      return { operands: given, places: inOneBuffer(given, kind === 'packed' ? 0 : 4, offset) };
    case 'in-place':
    case 'same-input':
      return overlaid(given, levels, kind === 'same-input', offset);
    case 'interleaved':
    case 'woven':
      return interleaved(given, kind === 'woven', offset);
  }
}

function separate(operands: readonly PlannedOperand[], offset: number): Place[] {
  return operands.map(({ dtype }, buffer) => ({ buffer, byteOffset: GUARD_BYTES + offset * bytesOf(dtype) }));
}

function inOneBuffer(operands: readonly PlannedOperand[], gap: number, offset: number): Place[] {
  let end = GUARD_BYTES;
  return operands.map(({ dtype, shape, strides }) => {
    const size = bytesOf(dtype);
    const byteOffset = Math.ceil(end / size) * size + offset * size;
    end = byteOffset + extentOf(shape, strides) * size + gap;
    return { buffer: 0, byteOffset };
  });
}

/** The first output that fits lies where an input does; with `isShared` all inputs of that kind lie there too. */
function overlaid(
  given: readonly PlannedOperand[],
  levels: readonly string[],
  isShared: boolean,
  offset: number,
): PlacedOperands {
  const operands = [...given];
  const inputOf = (index: number): number =>
    levels.findIndex((level, other) => given[other]?.isOutput === false && level === levels[index]);
  const output = given.findIndex(
    ({ isOutput }, index) => isOutput && levels[index]?.startsWith('element') === true && inputOf(index) >= 0,
  );
  const places = separate(given, offset);
  if (output < 0) return { operands, places };
  const input = inputOf(output);
  const base = given[input] as PlannedOperand;
  const owner = repeats(base) ? (given[output] as PlannedOperand) : base;
  const { dtype } = base;
  const { strides, saysStrides } = owner;
  for (const [index, operand] of given.entries()) {
    const isMember =
      index === input || index === output || (isShared && !operand.isOutput && levels[index] === levels[input]);
    if (!isMember) continue;
    operands[index] = { ...operand, dtype, strides, saysStrides };
    places[index] = places[input] as Place;
  }
  return { operands, places };
}

/** Returns whether two elements of a view lie at one address. */
function repeats({ shape, strides }: PlannedOperand): boolean {
  const seen = new Set<number>();
  eachElement(shape, strides, (_, distance) => seen.add(distance));
  return seen.size < sizeOf(shape);
}

/** Outputs like the first one lie element by element between each other; with `isWoven` inputs like it do too. */
function interleaved(given: readonly PlannedOperand[], isWoven: boolean, offset: number): PlacedOperands {
  const first = given.find(({ isOutput, isGather }) => isOutput && !isGather);
  if (first === undefined) return { operands: given, places: separate(given, offset) };
  const members = given.flatMap(({ isOutput, isGather, dtype, shape }, index) => {
    const isMember = !isGather && (isOutput || isWoven);
    return isMember && dtype === first.dtype && String(shape) === String(first.shape) ? [index] : [];
  });
  const operands = [...given];
  const places = separate(given, offset);
  const start = places[members[0] as number] as Place;
  for (const [turn, index] of members.entries()) {
    const strides = first.strides.map((stride) => stride * members.length);
    operands[index] = { ...(given[index] as PlannedOperand), strides, saysStrides: true };
    places[index] = { buffer: start.buffer, byteOffset: start.byteOffset + turn * bytesOf(first.dtype) };
  }
  return { operands, places };
}
