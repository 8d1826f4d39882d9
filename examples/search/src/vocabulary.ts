import { unitVector } from './unit-vector.ts';

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
