import { crc32 } from 'node:zlib';

/** Words that say nothing about what a text is about. */
const STOP_WORDS = new Set(
  `a about all also am an and any are as at be been but by can could did do does for from had has have he her his how i if
  in into is it its me my no nor not of on or our she should so some such than that the their them then there these they
  this those to too us was we were what when where which who why will with would you your`.split(/\s+/),
);

/** The words of a text that count: in lower case, without addresses, stop words and single letters. */
export function tokenize(text: string): string[] {
  const prose = text.normalize('NFKC').replace(/\bhttps?:\/\/\S+/gi, ' ');
  const words = prose.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return words.filter((word) => !STOP_WORDS.has(word) && !/^[a-z]$/.test(word));
}

/** Length of every vector. */
export const DIMENSIONS = 1024;

/**
 * The terms of a text hashed into a vector of length 1, or 0 without any. One that occurs n times weighs `(1 + ln n)
 * weightOf(term)`. Terms may share a dimension; their signs, hashed too, make that cancel out on average.
 */
export function unitVector(tokens: readonly string[], weightOf: (term: string) => number = () => 1): Float32Array {
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  const vector = new Float32Array(DIMENSIONS);
  for (const [term, count] of counts) {
    const hash = crc32(term);
    const weight = (1 + Math.log(count)) * weightOf(term);
    // The dimension does not depend on the top bit.
    vector[hash % DIMENSIONS] = (vector[hash % DIMENSIONS] as number) + (hash >= 2 ** 31 ? -weight : weight);
  }
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** Which passages, by number, have each term. */
export class Vocabulary {
  readonly #passagesWith = new Map<string, Set<number>>();
  #passages = 0;

  learn(passage: number, tokens: readonly string[]): void {
    this.#passages++;
    for (const token of tokens) this.#passagesWith.set(token, this.passagesWith(token).add(passage));
  }

  forget(passage: number, tokens: readonly string[]): void {
    this.#passages--;
    for (const token of tokens) {
      this.#passagesWith.get(token)?.delete(passage);
      if (this.passagesWith(token).size === 0) this.#passagesWith.delete(token);
    }
  }

  passagesWith(term: string): Set<number> {
    return this.#passagesWith.get(term) ?? new Set();
  }

  /** The unit vector of a text by TF-IDF: a term that df of N passages have weighs 1 + ln((1 + N) / (1 + df)) as much. */
  vectorOf(tokens: readonly string[]): Float32Array {
    return unitVector(tokens, (term) => 1 + Math.log((1 + this.#passages) / (1 + this.passagesWith(term).size)));
  }
}
