/** A file of a header, an object or text, and some bytes. */
export function fileOf(header: unknown, data: Uint8Array | number = 0): Uint8Array {
  const text = typeof header === 'string' ? header : JSON.stringify(header);
  const json = new TextEncoder().encode(text);
  const bytes = typeof data === 'number' ? new Uint8Array(data) : data;
  const file = new Uint8Array(8 + json.length + bytes.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(json.length), true);
  file.set(json, 8);
  file.set(bytes, 8 + json.length);
  return file;
}

/** An entry of a header. */
export function entry(dtype: string, shape: unknown, from: unknown, to: unknown): object {
  return { dtype, shape, data_offsets: [from, to] };
}
