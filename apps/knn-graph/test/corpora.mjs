// @ts-check
import { CpuBackend } from '@concord/backend-cpu';
import { randomNumbers } from '@concord/example-command';
import { tensor } from '@concord/ops';
import { saveSafetensors } from '@concord/ops/node';

/**
 * Writes a matrix of float32 as the one tensor of a safetensors file.
 *
 * @param {string} path
 * @param {Float32Array} values
 * @param {number} dimensions
 */
export async function writeMatrix(path, values, dimensions) {
  const backend = await CpuBackend.create();
  const vectors = tensor(backend, values, [values.length / dimensions, dimensions]);
  await saveSafetensors(path, { vectors });
  vectors.dispose();
  await backend.dispose();
}

/**
 * Writes random vectors.
 *
 * @param {string} path
 * @param {number} vectors
 * @param {number} dimensions
 * @param {number} [seed]
 */
export function writeCorpus(path, vectors, dimensions, seed = 1) {
  const random = randomNumbers(seed);
  return writeMatrix(
    path,
    Float32Array.from({ length: vectors * dimensions }, () => random() - 0.5),
    dimensions,
  );
}
