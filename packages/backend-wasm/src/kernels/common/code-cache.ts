import type { WasmCode, WasmTraits } from '../kernel.ts';
import { RecentlyUsed } from './recently-used.ts';

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
