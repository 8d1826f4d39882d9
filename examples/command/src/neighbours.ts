import { randomNumbers } from './random.ts';

/** Vectors, and queries whose nearest vectors are known. */
export interface Neighbours {
  /** `[queries, dimensions]` */
  readonly queries: Float32Array;
  /** `[vectors, dimensions]` */
  readonly vectors: Float32Array;
  /** The vector that a query is made from. */
  readonly answerOf: (query: number) => number;
}

/** Random vectors, and queries that are some of them with noise. */
export function neighbours(queries: number, vectors: number, dimensions: number): Neighbours {
  const random = randomNumbers(1);
  const answerOf = (query: number): number => (7 * query) % vectors;
  const all = Float32Array.from({ length: vectors * dimensions }, () => random() - 0.5);
  const noisy = Float32Array.from({ length: queries * dimensions }, (_, at) => {
    const query = Math.floor(at / dimensions);
    return (all[answerOf(query) * dimensions + (at % dimensions)] as number) + 0.05 * (random() - 0.5);
  });
  return { queries: noisy, vectors: all, answerOf };
}
