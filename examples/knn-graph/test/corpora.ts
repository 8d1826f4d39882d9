import { CpuBackend } from '@concord/backend-cpu';
import { randomNumbers } from '@concord/example-command';
import { tensor } from '@concord/ops';
import { saveSafetensors } from '@concord/ops/node';

/** Writes a matrix of float32 as the one tensor of a safetensors file. */
export async function writeMatrix(path: string, values: Float32Array, dimensions: number): Promise<void> {
  await using backend = await CpuBackend.create();
  using vectors = tensor(backend, values, [values.length / dimensions, dimensions]);
  await saveSafetensors(path, { vectors });
}

/** Writes random vectors. */
export function writeCorpus(path: string, vectors: number, dimensions: number, seed = 1): Promise<void> {
  const random = randomNumbers(seed);
  return writeMatrix(
    path,
    Float32Array.from({ length: vectors * dimensions }, () => random() - 0.5),
    dimensions,
  );
}
