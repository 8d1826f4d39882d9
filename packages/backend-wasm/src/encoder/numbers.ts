/** An unsigned number in LEB128. */
export function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value >>> 0;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return bytes;
}

/** A signed number of up to 64 bits in LEB128. */
export function signed(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (;;) {
    const byte = Number(rest & 0x7fn);
    rest >>= 7n;
    if ((rest === 0n && byte < 0x40) || (rest === -1n && byte >= 0x40)) return [...bytes, byte];
    bytes.push(byte | 0x80);
  }
}

/** A number as it lies in memory. */
export function littleEndian(type: 'i32' | 'f32' | 'f64', value: number): number[] {
  const view = new DataView(new ArrayBuffer(type === 'f64' ? 8 : 4));
  if (type === 'f64') view.setFloat64(0, value, true);
  else if (type === 'f32') view.setFloat32(0, value, true);
  else view.setInt32(0, value, true);
  return [...new Uint8Array(view.buffer)];
}

/** A name: its length and its bytes. */
export function nameBytes(name: string): number[] {
  const bytes = new TextEncoder().encode(name);
  return [...unsigned(bytes.length), ...bytes];
}
