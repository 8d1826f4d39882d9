import type { WasmCode } from '../kernels/kernel.ts';

/** The maximum number of codes that are known at a time. Programs have some dozens of kernels. */
const MAX_CODES = 1024;

/** The name of a code in a pool. */
export interface CodeName {
  /** The index, below 1,024. */
  readonly index: number;
  /** Tells codes apart that had the index one after the other. */
  readonly version: number;
  /** The address of the bytes, for the machine that put them there. */
  readonly address: number;
}

/** The codes that the workers know. The least recently used one is forgotten if there are too many. */
export class CodeRegistry {
  /** The names, in the order of use. */
  readonly #names = new Map<WasmCode, CodeName>();
  readonly #place: (bytes: Uint8Array) => number;
  readonly #remove: (address: number) => void;
  #version = 0;

  /**
   * @param place - puts the bytes of a new code where workers find them
   * @param remove - takes them away again
   */
  constructor(place: (bytes: Uint8Array) => number, remove: (address: number) => void) {
    this.#place = place;
    this.#remove = remove;
  }

  /** The name of a code; new ones are placed. */
  nameOf(code: WasmCode): CodeName {
    const known = this.#names.get(code);
    if (known !== undefined) {
      this.#names.delete(code);
      this.#names.set(code, known);
      return known;
    }
    const address = this.#place(code.bytes);
    const name = { index: this.#freeIndex(), version: ++this.#version, address };
    this.#names.set(code, name);
    return name;
  }

  #freeIndex(): number {
    const [oldest] = this.#names;
    if (oldest === undefined || this.#names.size < MAX_CODES) return this.#names.size;
    const [code, { index, address }] = oldest;
    this.#names.delete(code);
    this.#remove(address);
    return index;
  }
}
