import { Capability } from './generated/enums.ts';
import { Op } from './generated/opcodes.ts';
import type { Sections } from './sections.ts';
import { encodeString } from './literal-string.ts';
import { holds, type Type } from './type.ts';

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
