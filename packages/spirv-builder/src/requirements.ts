import { Capability } from './generated/enums.ts';
import { Op } from './generated/opcodes.ts';
import type { Sections } from './sections.ts';
import { encodeString } from './literal-string.ts';
import { holds, type Type } from './type.ts';

/** SPIR-V 1.2, the newest that OpenCL 2.2 takes. */
const DEFAULT_VERSION = version(1, 2);

function version(major: number, minor: number): number {
  return (major << 16) | (minor << 8);
}

/** What a module needs of its consumer: capabilities, extensions and the version of SPIR-V, declared as code needs them. */
export class Requirements {
  readonly #sections: Sections;
  readonly #capabilities = new Set<number>();
  readonly #extensions = new Set<string>();
  #version = DEFAULT_VERSION;

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

  /** What values of a type need beside the type itself: pointers to halves are free, halves are not. */
  valuesOf(type: Type): void {
    if (holds(type, isHalf)) this.capability(Capability.Float16);
  }

  extension(name: string): void {
    if (this.#extensions.has(name)) return;
    this.#extensions.add(name);
    this.#sections.push('extensions', Op.Extension, ...encodeString(name));
  }

  /** At least this version of SPIR-V. */
  atLeast(major: number, minor: number): void {
    this.#version = Math.max(this.#version, version(major, minor));
  }

  get version(): number {
    return this.#version;
  }
}

const isHalf = (type: Type): boolean => type.kind === 'float' && type.width === 16;
