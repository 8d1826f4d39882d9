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
  const counts = passages.map((tokens) => vocabulary.learn(tokens));
  const everything = new Direction();
  const directions = new Map(words.map((word) => [word, new Direction()]));
  const row = new Float32Array(DIMENSIONS);
  for (const [index, tokens] of passages.entries()) {
    if (!vocabulary.addVector(counts[index] as Uint32Array, row.fill(0))) continue;
    everything.add(row);
    for (const word of new Set(tokens)) {
      const direction = directions.get(word);
      if (direction === undefined) continue;
      const others = vocabulary.count(tokens.filter((token) => token !== word));
      direction.add(vocabulary.addVector(others, row.fill(0)) ? row : undefined);
    }
  }
  return new Map(
    [...directions]
      .filter(([, direction]) => direction.count > 0)
      .map(([word, direction]) => [word, direction.awayFrom(everything)]),
  );
}

/** The mean of vectors that are each brought to length 1. */
class Direction {
  count = 0;
  readonly #sum = new Float64Array(DIMENSIONS);

  /** Nothing to add counts as well: a passage may have no other word. */
  add(row: Float32Array | undefined): void {
    this.count++;
    if (row === undefined) return;
    const length = lengthOf(row);
    for (let i = 0; i < DIMENSIONS; i++) this.#sum[i] = (this.#sum[i] as number) + (row[i] as number) / length;
  }

  awayFrom(other: Direction): Float32Array {
    const difference = this.#sum.map((sum, i) => sum / this.count - (other.#sum[i] as number) / other.count);
    // A word that every passage has points nowhere, and stays at 0.
    const length = lengthOf(difference) || 1;
    return Float32Array.from(difference, (value) => value / length);
  }
}

function lengthOf(vector: Float32Array | Float64Array): number {
  let squares = 0;
  for (const value of vector) squares += value * value;
  return Math.sqrt(squares);
}
