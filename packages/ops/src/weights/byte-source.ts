/** Where bytes come from: memory, a file, a response. */
export interface ByteSource {
  /** For messages; the list of a model's files ends in `.json`. */
  readonly name: string;
  /** @param signal - ends what is under way before it is open */
  open(signal?: AbortSignal): Promise<OpenBytes>;
  /** The file of that name beside it, where there is such a thing. */
  readonly beside?: (file: string) => ByteSource;
}

/** Bytes that are read from the front to the back. */
export interface OpenBytes {
  /** Undefined where it is unknown before the end. */
  readonly size: number | undefined;
  /**
   * The bytes from one place to another in pieces of any size, fewer where the source ends before. A piece holds until
   * the next one is asked for. No byte may be asked for that lies before one read already.
   */
  pieces(from: number, to: number): AsyncIterable<Uint8Array>;
  /** Ends what still reads. Idempotent. */
  close(): Promise<void>;
}

/** Bytes in memory. */
export function memorySource(bytes: Uint8Array): ByteSource {
  return {
    name: `${bytes.length} bytes`,
    open: () =>
      Promise.resolve({
        size: bytes.length,
        async *pieces(from, to) {
          yield await Promise.resolve(bytes.subarray(from, to));
        },
        close: () => Promise.resolve(),
      }),
  };
}

/** Bytes from one place to another in their own array, fewer where the source ends before. */
export async function readBytes(open: OpenBytes, from: number, to: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const piece of open.pieces(from, to)) {
    parts.push(piece.slice());
    length += piece.length;
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
