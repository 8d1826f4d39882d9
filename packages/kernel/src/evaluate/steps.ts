import type { DType } from '@concord/backend-core';
import type { RunLayout, ValueType } from '@concord/backend-core/kernel';
import type { FoldLoops, Rows, Totals } from './fold-loops.ts';
import { type Elements, elementsOf, load, readBits, store } from './memory.ts';
import type { Slot } from './slot.ts';

/** The part of a domain that is computed at once. */
export interface Tile {
  rows: number;
  elements: number;
  /** rows * elements */
  count: number;
  isColumnMajor: boolean;
}

/** Something that is done to a tile. */
export type Step = (tile: Tile) => void;

/** An affine function of a domain's points, such as an element's place in its operand. */
export interface Place {
  /** At the tile's first point. */
  start: number;
  /** From one row to the next. */
  readonly rowStride: number;
  /** From one element of a row to the next. */
  readonly elementStride: number;
}

/** An operand of the call while it runs. */
export interface Memory {
  readonly dtype: DType;
  readonly place: Place;
  /** For elements of 32 bits: where the tile's first lies. */
  readonly slot: Slot;
  /** True if a step copies its elements, or looks at the bits of float32. */
  usesBits: boolean;
  /** True if the kernel may take its bits for another type. */
  readonly isRecast: boolean;
  elements: Elements;
}

/** Memory of the host that an operand is in. */
export interface HostOperand {
  readonly buffer: ArrayBufferLike;
  readonly byteOffset: number;
}

/** Gives an operand its memory for a call. */
export function attachMemory(memory: Memory, { buffer, byteOffset }: HostOperand, length: number): void {
  const { dtype, slot, isRecast, usesBits } = memory;
  if (dtype === 'f32') slot.f = new Float32Array(buffer, byteOffset, length);
  if (dtype === 'f32' && !usesBits && !isRecast) return;
  memory.elements = elementsOf(dtype, buffer, byteOffset, length);
  if (!(memory.elements instanceof Int32Array)) return;
  slot.i = memory.elements;
  if (isRecast) slot.f = new Float32Array(buffer, byteOffset, length);
  if (isRecast || dtype === 'u32') slot.u = new Uint32Array(buffer, byteOffset, length);
}

/** Copies a tile's elements of an operand into a register. */
export function loadStep(memory: Memory, to: Slot): Step {
  memory.usesBits = true;
  const { dtype, place } = memory;
  return ({ rows, elements, isColumnMajor }) => {
    const { start, rowStride, elementStride } = place;
    if (isColumnMajor) load(dtype, to.i, memory.elements, start, elements, elementStride, rows, rowStride);
    else load(dtype, to.i, memory.elements, start, rows, rowStride, elements, elementStride);
  };
}

/** Copies a tile's values to an operand. */
export function storeStep(from: Slot, memory: Memory): Step {
  memory.usesBits = true;
  const { dtype, place } = memory;
  return ({ rows, elements, isColumnMajor }) => {
    const { start, rowStride, elementStride } = place;
    if (isColumnMajor) store(dtype, from, memory.elements, start, elements, elementStride, rows, rowStride);
    else store(dtype, from, memory.elements, start, rows, rowStride, elements, elementStride);
  };
}

/** The same, one of each row. */
export function loadRowsStep(memory: Memory, to: Slot): Step {
  memory.usesBits = true;
  const { dtype, place } = memory;
  return ({ rows }) => load(dtype, to.i, memory.elements, place.start, 1, 0, rows, place.rowStride);
}

/** The same, one of each row. */
export function storeRowsStep(from: Slot, memory: Memory): Step {
  memory.usesBits = true;
  const { dtype, place } = memory;
  return ({ rows }) => store(dtype, from, memory.elements, place.start, 1, 0, rows, place.rowStride);
}

/** Writes an affine function of the place; of rows alone if `elements` is 1 in each tile. */
export function indexStep(from: Place, to: Slot, ofRows: boolean): Step {
  return ({ rows, elements, isColumnMajor }) => {
    const { start, rowStride, elementStride } = from;
    const [outer, inner] = ofRows ? [1, rows] : isColumnMajor ? [elements, rows] : [rows, elements];
    const [far, near] = ofRows || isColumnMajor ? [elementStride, rowStride] : [rowStride, elementStride];
    let k = 0;
    for (let o = 0; o < outer; o++) for (let i = 0; i < inner; i++, k++) to.u[k] = start + o * far + i * near;
  };
}

/** Repeats the value of each row at its elements, bit for bit. */
export function spreadStep(from: Slot, to: Slot): Step {
  return ({ rows, elements, isColumnMajor }) => {
    const { i: source, at } = from;
    if (isColumnMajor) {
      for (let j = 0, k = 0; j < elements; j++) for (let r = 0; r < rows; r++, k++) to.i[k] = source[at + r]!;
    } else {
      for (let r = 0; r < rows; r++) to.i.fill(source[at + r]!, r * elements, (r + 1) * elements);
    }
  };
}

/** Reads a tensor at indices of any type; outside of it the value of `outside`. */
export function gatherStep(
  layout: RunLayout,
  memory: Memory,
  outside: Slot,
  indices: readonly Slot[],
  types: readonly ValueType[],
  to: Slot,
  countOf: (tile: Tile) => number,
): Step {
  const { shape, strides, dtype } = layout;
  memory.usesBits = true;
  return (tile) => {
    const { elements } = memory;
    const arrays = indices.map((slot, axis) => (types[axis] === 'i32' ? slot.i : slot.u));
    const count = countOf(tile);
    for (let k = 0; k < count; k++) {
      let at = 0;
      for (let axis = 0; axis < arrays.length; axis++) {
        const index = arrays[axis]![indices[axis]!.at + k]!;
        if (index < 0 || index >= shape[axis]!) {
          at = -1;
          break;
        }
        at += index * strides[axis]!;
      }
      to.i[to.at + k] = at < 0 ? outside.i[outside.at + k]! : readBits(dtype, elements, at);
    }
  };
}

/** The input of a fold: an operand where it lies, or a register. */
export interface Folded {
  readonly slot: Slot;
  readonly memory?: Place;
}

/**
 * Folds a tile's elements into the totals of its rows.
 *
 * @param place - of an element in its row, for the folds that ask for it
 */
export function foldStep(loops: FoldLoops, totals: Totals, { slot, memory }: Folded, place: Place | undefined): Step {
  const rows: { -readonly [Field in keyof Rows]: Rows[Field] } = {
    slot,
    rowStride: 0,
    elementStride: 0,
    rows: 0,
    elements: 0,
    place: 0,
    placeStride: 0,
  };
  return (tile) => {
    rows.rows = tile.rows;
    rows.elements = tile.elements;
    rows.rowStride = memory?.rowStride ?? (tile.isColumnMajor ? 1 : tile.elements);
    rows.elementStride = memory?.elementStride ?? (tile.isColumnMajor ? tile.rows : 1);
    rows.place = place?.start ?? 0;
    rows.placeStride = place?.elementStride ?? 0;
    loops.take(totals, rows);
  };
}

/** Makes the totals those of nothing. */
export function beginFoldStep({ empty, hasPlaces }: FoldLoops, { values, places }: Totals): Step {
  return ({ rows }) => {
    for (let row = 0; row < rows; row++) values[row] = empty;
    if (hasPlaces === true) places.fill(Infinity, 0, rows);
  };
}

/** Writes the results of the rows. */
export function finishFoldStep(loops: FoldLoops, totals: Totals, to: Slot, type: ValueType, count: number): Step {
  return ({ rows }) => {
    const values = type === 'f32' ? to.f : type === 'u32' ? to.u : to.i;
    loops.finish(totals, values, to.at, rows, count);
  };
}
