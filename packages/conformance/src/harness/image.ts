import { type DevicePtr, offsetPtr } from '@concord/backend-core';
import { bytesOf } from '../run/storage.ts';
import { CaseFailure } from './case.ts';
import { poison, type Slot } from './slot.ts';

/** Poison on each side of an operand. */
const GUARD_BYTES = 64;
/** Distance of operands that share an allocation. */
const GAP_BYTES = 4;
/** The alignment of the bases of allocations. */
const BASE_ALIGNMENT = 256;

/** Operands between guards, as an allocation holds them before the op. */
export class Image {
  readonly bytes: Uint8Array;
  readonly places: readonly { readonly slot: Slot; readonly at: number }[];

  constructor(size: number, places: Image['places']) {
    this.bytes = poison(size);
    this.places = places;
    for (const { slot, at } of places) this.bytes.set(slot.before, at);
  }

  /** Points the operands into an allocation that begins at `base`. */
  moveTo(base: DevicePtr): void {
    for (const { slot, at } of this.places) slot.ptr = offsetPtr(base, at);
  }
}

/** Lays operands out one after the other, each between guards. */
export function placeSlots(slots: readonly Slot[], offsetBytes = 0): Image {
  let size = GUARD_BYTES + offsetBytes;
  const places = slots.map((slot) => {
    // An offset that is right for binary16 need not be for the float32 inputs of an epilogue.
    size = Math.ceil(size / bytesOf(slot.dtype)) * bytesOf(slot.dtype);
    if (slot.residue !== undefined) {
      size += (slot.residue - (size % BASE_ALIGNMENT) + BASE_ALIGNMENT) % BASE_ALIGNMENT;
    }
    const at = size;
    // Kept a multiple of 4, so that float32 operands after an odd number of binary16 ones stay aligned.
    size += Math.ceil(slot.before.length / 4) * 4 + GAP_BYTES;
    return { slot, at };
  });
  return new Image(Math.ceil((size + GUARD_BYTES) / 4) * 4, places);
}

/**
 * Gives each operand its bytes after the op, and compares what the op may not write with what was there.
 *
 * @throws {CaseFailure} when an input or a guard has changed
 */
export function compareImage({ bytes, places }: Image, after: Uint8Array): void {
  const isWritable = new Uint8Array(bytes.length);
  for (const { slot, at } of places) {
    slot.after = after.slice(at, at + slot.before.length);
    // What the op may write is compared by the case.
    if (slot.isOutput) isWritable.fill(1, at, at + slot.before.length);
  }
  let [first, wrong] = [-1, 0];
  for (let i = 0; i < bytes.length; i++) {
    if (after[i] === bytes[i] || isWritable[i] === 1) continue;
    if (first < 0) first = i;
    wrong++;
  }
  if (first < 0) return;
  const [got, want] = [after[first] as number, bytes[first] as number];
  const what = 'inputs and guard bytes';
  throw new CaseFailure(
    `${what}: byte ${first} of ${bytes.length} is ${got}, want ${want}: ${placeOf(places, first)}; ${wrong} changed`,
    { what, unit: 'byte', wrong, total: bytes.length, index: first, got, want, bound: 0 },
  );
}

/** Where a byte is, in words: in which input, or how far from which operand. */
function placeOf(places: Image['places'], byte: number): string {
  const distance = ({ slot, at }: (typeof places)[number]): number =>
    byte < at ? at - byte : Math.max(0, byte - (at + slot.before.length - 1));
  const [nearest] = [...places].sort((x, y) => distance(x) - distance(y));
  if (nearest === undefined) return 'there is no operand';
  const { slot, at } = nearest;
  if (distance(nearest) === 0) return `byte ${byte - at} of ${slot.name}, which the op may only read`;
  const side = byte < at ? 'before' : 'after';
  return `poison that guards the operands, ${distance(nearest)} bytes ${side} ${slot.name}`;
}
