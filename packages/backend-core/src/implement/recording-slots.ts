import type { MemorySlot } from '../contract/backend.ts';
import { checkPointerType, describe } from '../contract/checks.ts';
import { checkFields, hasFields } from '../contract/fields.ts';
import { invalid } from '../errors/invalid.ts';
import type { AllocationTable } from './allocation-table.ts';
import type { Operand } from './operand.ts';

/** A piece of memory that recorded work uses. */
export interface Use<Buffer> extends Operand<Buffer> {
  readonly isWritten: boolean;
  /** Bytes that its address is a multiple of. */
  readonly alignment: number;
}

/** Memory that a replay may put other memory in the place of. */
interface Slot<Buffer> extends Operand<Buffer> {
  readonly name: string;
  readonly ptr: number;
  isUsed: boolean;
  isWritten: boolean;
  /** The largest of what lies in it. */
  alignment: number;
  /** The name of its allocation in messages, once that is freed. */
  freed?: string;
}

/** The memory of a replay, for each slot; undefined for the recorded one. */
export type Binding<Buffer> = readonly (Operand<Buffer> | undefined)[];

/** The named slots of a recording. */
export class RecordingSlots<Buffer> {
  readonly #table: AllocationTable<Buffer>;
  readonly #slots: readonly Slot<Buffer>[];
  /** Uses of memory outside of slots. */
  readonly #others = new Map<Buffer, Use<Buffer>[]>();

  /**
   * @param given - the slots, by their names
   * @throws {BackendError} INVALID_ARGUMENT for memory that is not live, and for slots that overlap
   */
  constructor(table: AllocationTable<Buffer>, given: ReadonlyMap<string, MemorySlot>) {
    this.#table = table;
    this.#slots = [...given].map(([name, { ptr, bytes }]): Slot<Buffer> => {
      return {
        ...table.resolve(`slots.${name}`, ptr, bytes),
        name,
        ptr,
        isUsed: false,
        isWritten: false,
        alignment: 1,
      };
    });
    for (const [index, slot] of this.#slots.entries()) {
      const other = this.#slots.find((each, at) => at < index && doOverlap(each, slot));
      if (other !== undefined) throw invalid(`slots.${slot.name} overlaps slots.${other.name}`);
    }
  }

  get isEmpty(): boolean {
    return this.#slots.length === 0;
  }

  /**
   * Notes memory that a call of `op` uses, before it is queued.
   *
   * @throws {BackendError} INVALID_ARGUMENT for memory that is partly in a slot
   */
  note(op: string, uses: readonly Use<Buffer>[]): void {
    const slots = uses.map((use) => this.#slots[this.slotOf(use)]);
    for (const [index, { byteOffset, byteLength }] of uses.entries()) {
      const slot = slots[index];
      if (slot === undefined) continue;
      const isWithin = byteOffset >= slot.byteOffset && byteOffset + byteLength <= slot.byteOffset + slot.byteLength;
      if (!isWithin) throw invalid(`an operand of ${op} is partly in slots.${slot.name}, of ${slot.byteLength} bytes`);
    }
    for (const [index, use] of uses.entries()) {
      const slot = slots[index];
      if (slot === undefined) this.#noteOther(use);
      else {
        slot.isUsed = true;
        slot.isWritten ||= use.isWritten;
        slot.alignment = Math.max(slot.alignment, use.alignment);
      }
    }
  }

  #noteOther(use: Use<Buffer>): void {
    const uses = this.#others.get(use.buffer) ?? [];
    if (!this.isEmpty) uses.push(use);
    this.#others.set(use.buffer, uses);
  }

  /** The index of the slot that an operand lies in; -1 for none. */
  slotOf(operand: Operand<Buffer>): number {
    return this.#slots.findIndex((slot) => doOverlap(slot, operand));
  }

  /** @throws {BackendError} INVALID_ARGUMENT for a slot that nothing uses */
  checkUsed(): void {
    const idle = this.#slots.find(({ isUsed }) => !isUsed);
    if (idle !== undefined) throw invalid(`nothing that was recorded uses slots.${idle.name}`);
  }

  /** Notes that memory is freed. @returns whether it is used outside of slots */
  freed(buffer: Buffer, what: () => string): boolean {
    for (const slot of this.#slots) if (slot.buffer === buffer) slot.freed = what();
    return this.#others.has(buffer);
  }

  /** Returns whether a replay with that memory uses a buffer in a slot. */
  uses(binding: Binding<Buffer>, buffer: Buffer): boolean {
    return this.#slots.some((slot, index) => (binding[index] ?? slot).buffer === buffer);
  }

  /**
   * Reads the pointers that a replay is given.
   *
   * @throws {BackendError} INVALID_ARGUMENT for what is no pointer, and for names of no slot
   */
  read(given: unknown): readonly (number | undefined)[] {
    if (typeof given !== 'object' || given === null) throw invalid(`replay takes an object, got ${describe(given)}`);
    let count = 0;
    const pointers: (number | undefined)[] = [];
    for (const { name } of this.#slots) {
      const isInherited = name in Object.prototype && !Object.hasOwn(given, name);
      const value = isInherited ? undefined : (given as Readonly<Record<string, unknown>>)[name];
      if (value !== undefined) {
        checkPointerType(name, value);
        count++;
      }
      pointers.push(value as number | undefined);
    }
    if (!hasFields(given, count)) {
      const names = this.#slots.map(({ name }) => name);
      checkFields('the recording', given, names);
      // A Map has no fields at all.
      if (count === 0) throw invalid(`replay takes an object of pointers by names of slots, got ${describe(given)}`);
    }
    return pointers;
  }

  /**
   * The memory for each slot, in the order of alignment, pointers and extents.
   *
   * @throws {BackendError} INVALID_ARGUMENT, also for a slot that is not given and whose own memory was freed
   */
  bind(pointers: readonly (number | undefined)[]): Binding<Buffer> {
    for (const [index, { name, ptr, alignment }] of this.#slots.entries()) {
      const given = pointers[index];
      if (given === undefined || (given - ptr) % alignment === 0) continue;
      // What lies in a slot is aligned, which its own pointer need not be.
      const rest = ptr % alignment;
      const wanted = rest === 0 ? `aligned to ${alignment} bytes` : `${rest} bytes after a multiple of ${alignment}`;
      throw invalid(`${name} must be ${wanted}, got address ${given}${this.#table.placeOf(given)}`);
    }
    return this.#slots.map(({ name, byteLength, freed }, index) => {
      const given = pointers[index];
      if (given !== undefined) return this.#table.resolve(name, given, byteLength);
      if (freed === undefined) return undefined;
      throw invalid(`the recording uses memory that was freed: ${freed}`, { hint: `give ${name}, or record again` });
    });
  }

  /** @throws {BackendError} INVALID_ARGUMENT where memory that is given overlaps other memory that is used, and one of both is written */
  checkApart(binding: Binding<Buffer>): void {
    const uses = this.#slots.map((slot, index): Use<Buffer> => {
      return { ...(binding[index] ?? slot), isWritten: slot.isWritten, alignment: slot.alignment };
    });
    for (const [index, { name }] of this.#slots.entries()) {
      if (binding[index] === undefined) continue;
      const use = uses[index] as Use<Buffer>;
      const other = this.#slots.find((_, at) => at !== index && areInTheWay(use, uses[at] as Use<Buffer>));
      if (other !== undefined) throw invalid(`${name} overlaps ${other.name}`);
      if (this.#others.get(use.buffer)?.some((each) => areInTheWay(use, each)) !== true) continue;
      throw invalid(`${name} overlaps memory that the recording uses`);
    }
  }

  /** An operand of a slot, in the memory of a replay. */
  place(operand: Operand<Buffer>, slot: number, binding: Binding<Buffer>): Operand<Buffer> {
    const memory = binding[slot];
    if (memory === undefined) return operand;
    const byteOffset = memory.byteOffset + operand.byteOffset - (this.#slots[slot] as Slot<Buffer>).byteOffset;
    return { buffer: memory.buffer, byteOffset, byteLength: operand.byteLength };
  }
}

function areInTheWay<Buffer>(a: Use<Buffer>, b: Use<Buffer>): boolean {
  return (a.isWritten || b.isWritten) && doOverlap(a, b);
}

function doOverlap<Buffer>(a: Operand<Buffer>, b: Operand<Buffer>): boolean {
  if (a.buffer !== b.buffer) return false;
  return a.byteOffset < b.byteOffset + b.byteLength && b.byteOffset < a.byteOffset + a.byteLength;
}
