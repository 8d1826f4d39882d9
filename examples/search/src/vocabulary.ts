/** Length of every vector. */
export const DIMENSIONS = 1024;

/** One text as pairs of term id and count, one after the other. */
export type TermCounts = Uint32Array;

/**
 * The terms of all passages: how many passages have each, and where hashing puts it in a vector. Two terms may fall on
 * one dimension; the sign makes such collisions cancel out on average.
 */
export class Vocabulary {
  readonly #ids = new Map<string, number>();
  readonly #passagesWith: number[] = [];
  readonly #dimensions: number[] = [];
  readonly #signs: number[] = [];
  #passages = 0;

  /** Number of different terms. */
  get size(): number {
    return this.#ids.size;
  }

  /** Counts the terms of one passage and takes them into the vocabulary. */
  learn(tokens: readonly string[]): TermCounts {
    this.#passages++;
    for (const token of tokens) this.#intern(token);
    const counts = this.count(tokens);
    for (let i = 0; i < counts.length; i += 2) {
      const id = counts[i] as number;
      this.#passagesWith[id] = (this.#passagesWith[id] ?? 0) + 1;
    }
    return counts;
  }

  /** Counts the terms of a text; those that no passage has are left out. */
  count(tokens: readonly string[]): TermCounts {
    const counts = new Map<number, number>();
    for (const token of tokens) {
      const id = this.#ids.get(token);
      if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return Uint32Array.from([...counts].flat());
  }

  /**
   * Adds the TF-IDF vector of a text to `row`, which has {@link DIMENSIONS} elements: each term's weight is
   * `(1 + ln tf) (1 + ln((1 + N) / (1 + df)))`, tf its count in the text, df the number of passages that have it, of N.
   *
   * @returns whether anything but zeros is in the row afterwards
   */
  addVector(counts: TermCounts, row: Float32Array): boolean {
    for (let i = 0; i < counts.length; i += 2) {
      const id = counts[i] as number;
      const frequency = 1 + Math.log(counts[i + 1] as number);
      const rarity = 1 + Math.log((1 + this.#passages) / (1 + (this.#passagesWith[id] as number)));
      const dimension = this.#dimensions[id] as number;
      row[dimension] = (row[dimension] as number) + (this.#signs[id] as number) * frequency * rarity;
    }
    return row.some((value) => value !== 0);
  }

  #intern(term: string): void {
    if (this.#ids.has(term)) return;
    const hash = fnv1a(term);
    this.#ids.set(term, this.#ids.size);
    this.#passagesWith.push(0);
    this.#dimensions.push(hash % DIMENSIONS);
    // The top bit, which the dimension does not depend on.
    this.#signs.push(hash >= 2 ** 31 ? -1 : 1);
  }
}

/** The 32-bit FNV-1a hash of the UTF-16 code units, low byte first. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193);
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193);
  }
  return hash >>> 0;
}
