import type { WasmCode, WasmTraits } from '../kernel.ts';
import { RecentlyUsed } from './recently-used.ts';

/** Code that is emitted when it is wanted, and kept as long as it is wanted now and then, by what it was made for. */
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
