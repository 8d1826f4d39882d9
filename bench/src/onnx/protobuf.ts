/** The two kinds of fields of the wire format of Protocol Buffers that a model needs. https://protobuf.dev/programming-guides/encoding */

/** A field with an integer that is not negative. */
export function integer(field: number, value: number): number[] {
  return [...varint(field << 3), ...varint(value)];
}

/** A field with a text, bytes, or a message that was put together of fields. */
export function message(field: number, content: string | Iterable<number>): number[] {
  const bytes = typeof content === 'string' ? [...new TextEncoder().encode(content)] : [...content];
  return [...varint((field << 3) | 2), ...varint(bytes.length), ...bytes];
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return [...bytes, value];
}
