import { type ComputeBackend, download, offsetPtr } from '@concord/backend-core';
import type { Trial } from './limit-case.ts';
import { findError, sampleIndices } from './sample.ts';

/**
 * Runs a trial once and compares entries all over its output with float64.
 *
 * @throws {Error} at the first one that is wrong
 */
export async function checkTrial(backend: ComputeBackend, trial: Trial, samples?: number): Promise<void> {
  trial.run();
  const indices = sampleIndices(trial.length, samples);
  const got = await downloadEntries(backend, trial, indices);
  for (const [i, index] of indices.entries()) {
    const error = findError(index, got[i] as number, trial.expected(index), trial.dtype);
    if (error !== undefined) throw new Error(error);
  }
}

/** These entries of the output of a trial, which may be larger than what the host would hold. */
export async function downloadEntries(
  backend: ComputeBackend,
  { output, dtype }: Trial,
  indices: readonly number[],
): Promise<number[]> {
  const entryBytes = dtype === 'f16' ? 2 : 4;
  const entries = indices.map((index) => download(backend, offsetPtr(output, index * entryBytes), 1, { dtype }));
  return (await Promise.all(entries)).map(([entry]) => entry as number);
}
