import { shown } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';

/** A source of bytes: memory, a file, a response. */
export interface ByteSource {
  /** The name in messages; that of the list of a model's files ends in `.json`. */
  readonly name: string;
  /** @param signal - ends what is under way before it is open */
  open(signal?: AbortSignal): Promise<OpenBytes>;
  /** Returns the file of that name beside it, if there is one. */
  readonly beside?: (file: string) => ByteSource;
}

/** Bytes that are read from the front to the back. */
export interface OpenBytes {
  /** The size in bytes; undefined if it is unknown before the end. */
  readonly size: number | undefined;
  /**
   * The bytes from one place to another in pieces of any size, fewer where the source ends before. A piece holds until
   * the next one is asked for. No byte may be asked for that lies before one read already.
   */
  pieces(from: number, to: number): AsyncIterable<Uint8Array>;
  /** Ends all reads. Idempotent. */
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

/**
 * Bytes from one place to another in their own array, fewer where the source ends before. Held once where the size is known.
 *
 * @throws {BackendError} INVALID_ARGUMENT for what is no place
 * @example
 * ```ts
 * const open = await byteSource(new Uint8Array([1, 2, 3, 4])).open();
 * await readBytes(open, 1, 3); // [2, 3]
 * await open.close();
 * ```
 */
export async function readBytes(open: OpenBytes, from: number, to: number): Promise<Uint8Array> {
  const isRange = Number.isSafeInteger(from) && from >= 0 && (Number.isSafeInteger(to) || to === Infinity);
  if (typeof (Object(open) as OpenBytes).pieces !== 'function' || !isRange) {
    throw refuse(
      'readBytes',
      `takes an open source and two places in it, got ${[open, from, to].map(shown).join(', ')}`,
    );
  }
  let all = new Uint8Array(open.size === undefined ? 0 : Math.max(0, Math.min(to, open.size) - from));
  let length = 0;
  for await (const piece of open.pieces(from, to)) {
    if (length + piece.length > all.length) {
      const longer = new Uint8Array(Math.max(2 * all.length, length + piece.length));
      longer.set(all);
      all = longer;
    }
    all.set(piece, length);
    length += piece.length;
  }
  return all.subarray(0, length);
}
