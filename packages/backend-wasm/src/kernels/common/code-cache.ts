import type { WasmCode, WasmTraits } from '../kernel.ts';

/** Code that is emitted when it is first wanted and then kept, by what it was made for. */
export class CodeCache {
  readonly #traits: WasmTraits;
  readonly #codes = new Map<string, WasmCode>();

  constructor(traits: WasmTraits) {
    this.#traits = traits;
  }

  get(key: string, emit: (traits: WasmTraits) => Uint8Array): WasmCode {
    let code = this.#codes.get(key);
    if (code === undefined) {
      code = { bytes: emit(this.#traits) };
      this.#codes.set(key, code);
    }
    return code;
  }
}
