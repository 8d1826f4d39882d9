/** A checked piece of device memory: bytes `byteOffset .. byteOffset + byteLength - 1` of a native buffer. */
export interface Operand<Buffer> {
  readonly buffer: Buffer;
  readonly byteOffset: number;
  /** Bytes from the first to the last of the operand. */
  readonly byteLength: number;
}
