/** Bytes of a shuffle that takes whole words of 32 bits by their places: 0 to 3 of the first vector, 4 to 7 of the second. */
export const wordsOfShuffle = (...places: number[]): readonly number[] =>
  places.flatMap((place) => [0, 1, 2, 3].map((byte) => 4 * place + byte));
