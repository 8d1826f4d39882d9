/** The two kinds of fields of the wire format of Protocol Buffers that a model needs. https://protobuf.dev/programming-guides/encoding */

/** A message in parts: bytes one by one, and runs of them as they lie in memory, so that weights are copied once. */
export type Parts = (number | Uint8Array)[];

/** A field with an integer that is not negative. */
export function integer(field: number, value: number): number[] {
  return [...varint(field << 3), ...varint(value)];
}

/** A field with a text, bytes, or a message that was put together of fields. */
export function message(field: number, content: string | Uint8Array | Parts): Parts {
  const parts = typeof content === 'string' ? [new TextEncoder().encode(content)] : [content].flat();
  return [...varint((field << 3) | 2), ...varint(sizeOf(parts)), ...parts];
}

/** The bytes of a message. */
export function join(parts: Parts): Uint8Array {
  const bytes = new Uint8Array(sizeOf(parts));
  let at = 0;
  for (const part of parts) {
    if (typeof part === 'number') bytes[at++] = part;
    else {
      bytes.set(part, at);
      at += part.length;
    }
  }
  return bytes;
}

function sizeOf(parts: Parts): number {
  return parts.reduce<number>((size, part) => size + (typeof part === 'number' ? 1 : part.length), 0);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return [...bytes, value];
}
