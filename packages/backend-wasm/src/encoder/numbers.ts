/** An unsigned number in LEB128. */
export function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value >>> 0;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return bytes;
}

/** A signed number of 32 bits in LEB128. */
export function signed(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (;;) {
    const byte = rest & 0x7f;
    rest >>= 7;
    if ((rest === 0 && byte < 0x40) || (rest === -1 && byte >= 0x40)) return [...bytes, byte];
    bytes.push(byte | 0x80);
  }
}

/** A number of 32 bits as it lies in memory. */
export function littleEndian(type: 'i32' | 'f32', value: number): number[] {
  const view = new DataView(new ArrayBuffer(4));
  if (type === 'f32') view.setFloat32(0, value, true);
  else view.setInt32(0, value, true);
  return [...new Uint8Array(view.buffer)];
}

/** A name: its length and its bytes. */
export function nameBytes(name: string): number[] {
  const bytes = new TextEncoder().encode(name);
  return [...unsigned(bytes.length), ...bytes];
}
