import type { WasmCode, WasmTraits } from '../kernel.ts';

/** The number of forms of kernels that a program may use in turn without their code being emitted again. */
const MAX_CODES = 512;

/** Values that are made when they are first wanted, and kept as long as they are among those wanted last. */
export class RecentlyUsed<T> {
  readonly #values = new Map<string, T>();
  readonly #most: number;

  constructor(most: number = MAX_CODES) {
    this.#most = most;
  }

  /** The value of a key. */
  get(key: string, make: () => T): T {
    const known = this.#values.get(key);
    const value = known ?? make();
    // A map lists its keys in the order in which they were added.
    if (known !== undefined) this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > this.#most) this.#values.delete(this.#values.keys().next().value as string);
    return value;
  }
}

/** Code by the key of its form: emitted at the first use, and kept while it is among the recently used. */
export class CodeCache {
  readonly #traits: WasmTraits;
  readonly #codes = new RecentlyUsed<WasmCode>();

  constructor(traits: WasmTraits) {
    this.#traits = traits;
  }

  get(key: string, emit: (traits: WasmTraits) => Uint8Array): WasmCode {
    return this.#codes.get(key, () => ({ bytes: emit(this.#traits) }));
  }
}
