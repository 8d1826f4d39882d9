import type { Koffi } from './load.ts';

/** Memory outside of JavaScript's heap, which does not move: what addresses inside of structs may point to. */
export class NativeBytes {
  readonly address: bigint;
  readonly bytes: Uint8Array;
  readonly #koffi: Koffi;

  constructor(koffi: Koffi, size: number) {
    this.#koffi = koffi;
    this.address = koffi.alloc('uint8_t', size) as bigint;
    this.bytes = new Uint8Array(koffi.view(this.address, size));
    this.bytes.fill(0);
  }

  /** After it, neither `address` nor `bytes` may be used. */
  free(): void {
    this.#koffi.free(this.address);
  }
}
