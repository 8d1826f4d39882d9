import { CaseFailure } from '../harness/case.ts';
import type { Place } from './step.ts';

/** What is known of a byte: nothing; its value; its value but for the highest bit, the sign of a floating-point zero. */
export const KNOWN = { nothing: 0, byte: 1, butSign: 2 } as const;

/** Bytes of an allocation and, for each, one of {@link KNOWN}. */
export interface ModelBytes {
  readonly bytes: Uint8Array;
  readonly known: Uint8Array;
}

/** The memory of a device as a program leaves it. New memory holds anything, and so do results that are not exact. */
export class ModelMemory {
  readonly #allocations = new Map<number, ModelBytes>();

  /** The numbers of the live allocations. */
  get live(): readonly number[] {
    return [...this.#allocations.keys()];
  }

  alloc(id: number, bytes: number): void {
    this.#allocations.set(id, { bytes: new Uint8Array(bytes), known: new Uint8Array(bytes) });
  }

  free(id: number): void {
    this.#allocations.delete(id);
  }

  /** The size of an allocation; 0 for one that is not live. */
  sizeOf(id: number): number {
    return this.#allocations.get(id)?.bytes.length ?? 0;
  }

  /** True if that many bytes from there on are those of a live allocation. */
  holds({ id, at }: Place, length: number): boolean {
    return this.#allocations.has(id) && at >= 0 && at + length <= this.sizeOf(id);
  }

  /** A view of what {@link holds} says is there. */
  at({ id, at }: Place, length: number): ModelBytes {
    const { bytes, known } = this.#allocations.get(id) as ModelBytes;
    return { bytes: bytes.subarray(at, at + length), known: known.subarray(at, at + length) };
  }

  write(to: Place, bytes: Uint8Array): void {
    const own = this.at(to, bytes.length);
    own.bytes.set(bytes);
    own.known.fill(KNOWN.byte);
  }

  fill(to: Place, length: number, value: number): void {
    const own = this.at(to, length);
    own.bytes.fill(value);
    own.known.fill(KNOWN.byte);
  }

  copy(to: Place, from: Place, length: number): void {
    const source = this.at(from, length);
    const own = this.at(to, length);
    own.bytes.set(source.bytes);
    own.known.set(source.known);
  }
}

/** Copies bytes, so that later steps do not change them. */
export const snapshotOf = ({ bytes, known }: ModelBytes): ModelBytes => ({
  bytes: bytes.slice(),
  known: known.slice(),
});

/** The first byte that is not what is known of it; -1 where all are. */
function firstWrong({ bytes, known }: ModelBytes, got: Uint8Array): number {
  for (let i = 0; i < bytes.length; i++) {
    if (got[i] === bytes[i] || known[i] === KNOWN.nothing) continue;
    if (known[i] === KNOWN.byte || ((got[i] as number) ^ (bytes[i] as number)) !== 0x80) return i;
  }
  return -1;
}

/**
 * Compares bytes that were read with what is known of them.
 *
 * @throws {CaseFailure} where one is another
 */
export function compareKnown({ id, at }: Place, expected: ModelBytes, got: Uint8Array): void {
  const first = firstWrong(expected, got);
  if (first < 0) return;
  const wrong = got.reduce(
    (count, byte, i) => count + (expected.known[i] === KNOWN.byte && byte !== expected.bytes[i] ? 1 : 0),
    0,
  );
  throw new CaseFailure(
    `byte ${first} of ${got.length} read from p${id}${at === 0 ? '' : ` + ${at}`} is ${got[first]}, want ${expected.bytes[first]}; ${wrong} wrong`,
  );
}
