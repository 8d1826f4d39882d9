/** A piece of the one linear memory that all kernels work in. */
export interface WasmBuffer {
  /** Its start, in bytes from the start of the memory: a multiple of 64, below 2^32. */
  readonly address: number;
  /** Its size, in bytes. */
  readonly bytes: number;
}
