import { DIMENSIONS, type TermCounts, type Vocabulary } from './vocabulary.ts';

/** Some rows of the passage matrix. */
export interface VectorBlock {
  /** Row-major, {@link DIMENSIONS} columns. Overwritten when the next block is asked for. */
  readonly values: Float32Array;
  /** For each row: which passage it is the vector of. */
  readonly passages: readonly number[];
}

/**
 * The vectors of all passages, some rows at a time, so that the whole matrix is never in host memory. Passages whose
 * vector is zero have no direction to compare and get no row.
 */
export function* vectorBlocks(
  texts: readonly TermCounts[],
  vocabulary: Vocabulary,
  rowsPerBlock: number,
): Generator<VectorBlock> {
  const staging = new Float32Array(Math.min(rowsPerBlock, texts.length) * DIMENSIONS);
  let passages: number[] = [];
  const block = (): VectorBlock => ({ values: staging.subarray(0, passages.length * DIMENSIONS), passages });
  for (const [index, counts] of texts.entries()) {
    const row = staging.subarray(passages.length * DIMENSIONS, (passages.length + 1) * DIMENSIONS).fill(0);
    if (vocabulary.addVector(counts, row)) passages.push(index);
    if (passages.length < rowsPerBlock) continue;
    yield block();
    passages = [];
  }
  if (passages.length > 0) yield block();
}
