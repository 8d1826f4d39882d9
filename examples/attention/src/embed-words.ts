import { DIMENSIONS, Vocabulary } from '@concord/example-search';

/**
 * The vectors of words, {@link DIMENSIONS} long: a word is what else is written where it is used. It is the mean of the
 * TF-IDF vectors of the passages that have the word, each without the word itself and of length 1, less the mean of all
 * passages; and has length 1 again. Words that are used in the same places so point in like directions.
 *
 * @param passages - the tokens of each
 * @returns nothing for a word that no passage has
 */
export function embedWords(
  words: readonly string[],
  passages: readonly (readonly string[])[],
): Map<string, Float32Array> {
  const vocabulary = new Vocabulary();
  for (const [index, tokens] of passages.entries()) vocabulary.learn(index, tokens);
  const everything = new Direction();
  const directions = new Map(words.map((word) => [word, new Direction()]));
  for (const tokens of passages.filter(({ length }) => length > 0)) {
    everything.add(vocabulary.vectorOf(tokens));
    for (const word of new Set(tokens)) {
      directions.get(word)?.add(vocabulary.vectorOf(tokens.filter((token) => token !== word)));
    }
  }
  return new Map(
    [...directions]
      .filter(([, direction]) => direction.count > 0)
      .map(([word, direction]) => [word, direction.awayFrom(everything)]),
  );
}

/** The mean of vectors of length 1, or 0: a passage may have no other word. */
class Direction {
  count = 0;
  readonly #sum = new Float64Array(DIMENSIONS);

  add(vector: Float32Array): void {
    this.count++;
    for (let i = 0; i < DIMENSIONS; i++) this.#sum[i] = (this.#sum[i] as number) + (vector[i] as number);
  }

  awayFrom(other: Direction): Float32Array {
    const difference = this.#sum.map((sum, i) => sum / this.count - (other.#sum[i] as number) / other.count);
    // A word that every passage has points nowhere, and stays at 0.
    const length = Math.sqrt(difference.reduce((sum, value) => sum + value * value, 0)) || 1;
    return Float32Array.from(difference, (value) => value / length);
  }
}
