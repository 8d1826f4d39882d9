import { type ComputeBackend, type DevicePtr, offsetPtr } from '@concord/backend-core';
import type { StoredElements } from '@concord/backend-cpu/reference';
import { compareBytes } from '../checks/compare.ts';
import { CaseFailure } from '../harness/case.ts';
import { poison } from '../harness/slot.ts';
import { tellOperands } from '../harness/workspace.ts';
import type { Place, PlannedOperand, RunPlan } from './plan.ts';
import { bytesOf, decodeElement, storedElements, writeBits } from './storage.ts';
import { eachElement, extentOf } from './view.ts';

/** Poison after the last operand of an allocation. */
const GUARD_BYTES = 64;

/** Each output's extent after a call, in the order of the kernel's outputs. */
export type RunResult = readonly StoredElements[];

/** The device memory of one plan, which several calls may use. */
export class RunMemory {
  readonly #backend: ComputeBackend;
  readonly #plan: RunPlan;
  #images: readonly Uint8Array[];
  readonly #bases: DevicePtr[] = [];

  constructor(backend: ComputeBackend, plan: RunPlan) {
    this.#backend = backend;
    this.#plan = plan;
    this.#images = imagesOf(plan);
    try {
      for (const image of this.#images) this.#bases.push(backend.alloc(image.length, { label: 'conformance' }));
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** The address of an operand. */
  ptrOf(operand: number): DevicePtr {
    const { buffer, byteOffset } = this.#plan.places[operand] as Place;
    return offsetPtr(this.#bases[buffer] as DevicePtr, byteOffset);
  }

  /**
   * Puts the inputs in their places and poison everywhere else.
   *
   * @param filled - a plan of the same layout, whose values are taken
   */
  upload(filled: RunPlan = this.#plan): void {
    this.#images = imagesOf(filled);
    for (const [index, image] of this.#images.entries()) {
      if (image.length > 0) this.#backend.copyHtod(this.#bases[index] as DevicePtr, image);
    }
    tellOperands(
      this.#backend,
      this.#plan.operands.map((operand, index) => describedOperand(operand, this.ptrOf(index))),
    );
  }

  /**
   * The outputs after a call.
   *
   * @throws {CaseFailure} when a byte that belongs to no element of an output has changed
   */
  async download(): Promise<RunResult> {
    const after: Uint8Array[] = [];
    for (const [index, image] of this.#images.entries()) {
      const bytes = new Uint8Array(image.length);
      await this.#backend.copyDtoh(bytes, this.#bases[index] as DevicePtr);
      after.push(bytes);
    }
    const { operands, places } = this.#plan;
    const owned = this.#images.map((image) => new Uint8Array(image.length));
    const results: StoredElements[] = [];
    for (const [index, { isOutput, shape, strides, dtype }] of operands.entries()) {
      if (!isOutput) continue;
      const { buffer, byteOffset } = places[index] as Place;
      const size = bytesOf(dtype);
      const own = owned[buffer] as Uint8Array;
      eachElement(shape, strides, (_, distance) =>
        own.fill(1, byteOffset + distance * size, byteOffset + (distance + 1) * size),
      );
      const bytes = (after[buffer] as Uint8Array).slice(byteOffset, byteOffset + extentOf(shape, strides) * size);
      results.push(storedElements(dtype, bytes));
    }
    for (const [buffer, image] of this.#images.entries()) {
      this.#checkUntouched(buffer, image, after[buffer] as Uint8Array, owned[buffer] as Uint8Array);
    }
    return results;
  }

  /** @throws {CaseFailure} when any byte has changed */
  async expectUntouched(): Promise<void> {
    for (const [index, image] of this.#images.entries()) {
      const after = new Uint8Array(image.length);
      await this.#backend.copyDtoh(after, this.#bases[index] as DevicePtr);
      compareBytes('operands after a call that does nothing', after, image);
    }
  }

  /** Gives the memory back. */
  free(): void {
    for (const base of this.#bases.splice(0)) this.#backend.free(base);
  }

  #checkUntouched(buffer: number, image: Uint8Array, after: Uint8Array, owned: Uint8Array): void {
    let at = 0;
    while (at < image.length && (owned[at] === 1 || after[at] === image[at])) at++;
    if (at === image.length) return;
    let wrong = 0;
    for (let i = at; i < image.length; i++) if (owned[i] === 0 && after[i] !== image[i]) wrong++;
    const [got, want] = [after[at] as number, image[at] as number];
    throw new CaseFailure(
      `${placeText(this.#plan, buffer, at)}: byte ${at} of allocation ${buffer} is ${got}, want ${want}: ` +
        `${wrong} bytes were written that belong to no output`,
      { what: 'untouched bytes', unit: 'byte', wrong, total: image.length, index: at, got, want, bound: 0 },
    );
  }
}

/** The bytes of each allocation before the call. */
function imagesOf({ operands, places }: RunPlan): Uint8Array[] {
  const ends: number[] = [];
  for (const [index, { buffer, byteOffset }] of places.entries()) {
    const { shape, strides, dtype } = operands[index] as PlannedOperand;
    ends[buffer] = Math.max(ends[buffer] ?? 0, byteOffset + extentOf(shape, strides) * bytesOf(dtype));
  }
  // Of an allocation that no operand is in any more nothing but the guard is left.
  const images = Array.from({ length: ends.length }, (_, buffer) =>
    poison(4 * Math.ceil(((ends[buffer] ?? 0) + GUARD_BYTES) / 4)),
  );
  for (const [index, { bits, shape, strides, dtype }] of operands.entries()) {
    if (bits === undefined) continue;
    const { buffer, byteOffset } = places[index] as Place;
    const data = new DataView((images[buffer] as Uint8Array).buffer);
    const size = bytesOf(dtype);
    eachElement(shape, strides, (_, distance) =>
      writeBits(data, dtype, byteOffset + distance * size, bits[distance] as number),
    );
  }
  return images;
}

/** Which operand lies at, or before, a byte. */
function placeText({ operands, places }: RunPlan, buffer: number, at: number): string {
  const before = places
    .map((place, index) => ({ ...place, operand: operands[index] as PlannedOperand }))
    .filter((place) => place.buffer === buffer && place.byteOffset <= at)
    .sort((a, b) => b.byteOffset - a.byteOffset)[0];
  if (before === undefined) return 'before the first operand';
  const { shape, strides, dtype, name, isOutput } = before.operand;
  const end = before.byteOffset + extentOf(shape, strides) * bytesOf(dtype);
  const role = isOutput ? 'output' : 'input';
  return at < end ? `between the elements of ${role} ${name}` : `after ${role} ${name}`;
}

function describedOperand({ name, dtype, isOutput, bits }: PlannedOperand, ptr: DevicePtr) {
  return {
    ...{ name, ptr, dtype, isInput: bits !== undefined, isOutput },
    valuesBefore: () => Float64Array.from(bits ?? [], (element) => decodeElement(dtype, element)),
  };
}
