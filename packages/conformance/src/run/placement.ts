import type { Place, PlannedOperand } from './plan.ts';
import { bytesOf } from './storage.ts';
import { eachElement, extentOf, sizeOf } from './view.ts';

/** The ways in which operands can lie to each other. */
export const PLACE_KINDS = ['apart', 'together', 'packed', 'in-place', 'same-input', 'interleaved', 'woven'] as const;

/**
 * One of {@link PLACE_KINDS}: each in its own allocation; all in one, 4 bytes apart, or without a gap; an output in
 * the place of an input; inputs at one address, and an output in their place; outputs as interleaved views, or with the
 * inputs among them. Or as names say: an output with that of an input is in its place, whatever the others are.
 */
export type PlaceKind = (typeof PLACE_KINDS)[number] | 'named';

/** Bytes before the first operand of an allocation. */
const GUARD_BYTES = 64;

/** Operands, whose layout a place can change, and where they lie. */
export interface PlacedOperands {
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
    case 'apart':
    case 'named':
      return { operands: given, places: apart(given, offset) };
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

function apart(operands: readonly PlannedOperand[], offset: number): Place[] {
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
  const places = apart(given, offset);
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
  if (first === undefined) return { operands: given, places: apart(given, offset) };
  const members = given.flatMap(({ isOutput, isGather, dtype, shape }, index) => {
    const isMember = !isGather && (isOutput || isWoven);
    return isMember && dtype === first.dtype && String(shape) === String(first.shape) ? [index] : [];
  });
  const operands = [...given];
  const places = apart(given, offset);
  const start = places[members[0] as number] as Place;
  for (const [turn, index] of members.entries()) {
    const strides = first.strides.map((stride) => stride * members.length);
    operands[index] = { ...(given[index] as PlannedOperand), strides, saysStrides: true };
    places[index] = { buffer: start.buffer, byteOffset: start.byteOffset + turn * bytesOf(first.dtype) };
  }
  return { operands, places };
}
