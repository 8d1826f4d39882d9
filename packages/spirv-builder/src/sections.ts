import { Capability, Op } from './generated/spirv.ts';
import { encodeString, pushInstruction } from './words.ts';
import { holds, type Type } from './type.ts';

/** The sections of a module, in the order that the specification wants (2.4, logical layout of a module). */
const ORDER = [
  'capabilities',
  'extensions',
  'imports',
  'memoryModel',
  'entryPoints',
  'executionModes',
  'names',
  'decorations',
  'declarations',
  'importedFunctions',
  'functions',
] as const;

/** A part of a module that instructions are appended to. */
type Section = (typeof ORDER)[number];

const MAGIC = 0x07230203;
/** SPIR-V 1.2, the newest that OpenCL 2.2 takes. */
const VERSION = 0x0001_0200;

/** Instructions by section, and the ids. */
export class Sections {
  readonly #words = Object.fromEntries(ORDER.map((section) => [section, []])) as unknown as Record<Section, number[]>;
  #bound = 1;

  /** An id that nothing has yet. */
  nextId(): number {
    return this.#bound++;
  }

  push(section: Section, op: Op, ...operands: readonly number[]): void {
    pushInstruction(this.#words[section], op, operands);
  }

  /** Appends whole instructions. */
  append(section: Section, words: readonly number[]): void {
    const target = this.#words[section];
    for (const word of words) target.push(word);
  }

  /** The module: header and sections. */
  concatenate(): Uint32Array {
    // Generator 0: not registered.
    const header = [MAGIC, VERSION, 0, this.#bound, 0];
    const total = ORDER.reduce((sum, section) => sum + this.#words[section].length, header.length);
    const module = new Uint32Array(total);
    module.set(header);
    let offset = header.length;
    for (const section of ORDER) {
      module.set(this.#words[section], offset);
      offset += this.#words[section].length;
    }
    return module;
  }
}

/** The requirements of a module on its consumer: capabilities and extensions, declared as code needs them. */
export class Requirements {
  readonly #sections: Sections;
  readonly #capabilities = new Set<number>();
  readonly #extensions = new Set<string>();

  constructor(sections: Sections) {
    this.#sections = sections;
    // What every OpenCL-flavoured module with 64-bit addresses needs.
    this.capability(Capability.Addresses);
    this.capability(Capability.Kernel);
    this.capability(Capability.Int64);
  }

  capability(capability: Capability): void {
    if (this.#capabilities.has(capability)) return;
    this.#capabilities.add(capability);
    this.#sections.push('capabilities', Op.Capability, capability);
  }

  /** The requirements of values of a type, besides the type itself: pointers to halves are free, halves are not. */
  valuesOf(type: Type): void {
    if (holds(type, isHalf)) this.capability(Capability.Float16);
  }

  extension(name: string): void {
    if (this.#extensions.has(name)) return;
    this.#extensions.add(name);
    this.#sections.push('extensions', Op.Extension, ...encodeString(name));
  }
}

const isHalf = (type: Type): boolean => type.kind === 'float' && type.width === 16;
