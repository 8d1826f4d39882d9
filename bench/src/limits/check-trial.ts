import { type ComputeBackend, download, offsetPtr } from '@concord/backend-core';
import type { Trial } from './limit-case.ts';

/** Of the magnitude of the terms: hundreds of roundings, while a wrong term is a million. */
const TOLERANCE = 1e-5;
/** One rounding to f16. */
const HALF_ROUNDING = 2 ** -10;

/**
 * Runs a trial once and compares entries all over its output, the first and the last among them, with float64.
 *
 * @throws {Error} at the first one that is wrong
 */
export async function checkTrial(backend: ComputeBackend, trial: Trial, samples = 64): Promise<void> {
  trial.run();
  const { output, dtype, length } = trial;
  const entryBytes = dtype === 'f16' ? 2 : 4;
  // A step without a common factor with the row length visits all columns.
  const step = Math.max(1, Math.floor(length / samples)) | 1;
  const indices = [...Array.from({ length: Math.ceil(length / step) }, (_, i) => i * step), length - 1];
  const got = await Promise.all(
    indices.map((index) => download(backend, offsetPtr(output, index * entryBytes), 1, { dtype })),
  );
  for (const [i, index] of indices.entries()) {
    const { value, magnitude } = trial.expected(index);
    const entry = got[i]?.[0] as number;
    const most = TOLERANCE * magnitude + (dtype === 'f16' ? HALF_ROUNDING * Math.abs(value) : 0);
    if (!(Math.abs(entry - value) <= most)) {
      throw new Error(`wrong result: entry ${index} is ${entry} instead of ${value} (at most ${most} off)`);
    }
  }
}
