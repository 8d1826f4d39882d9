import { CpuBackend } from '@concord/backend-cpu';
import { tensor } from '@concord/ops';
import { saveSafetensors } from '@concord/ops/node';

/** The best candidates of some vectors, the best first: cosines and the numbers of the candidates, `[rows, width]`. */
export type Neighbours = Readonly<{ rows: number; width: number; scores: Float32Array; vectors: Uint32Array }>;

/**
 * The `k` best of several lists for each row, without the row itself. Of equal scores the lower number is first: the order
 * of the lists does not matter, and merging again changes nothing.
 *
 * @param parts - of different candidates, each sorted, with at least `k` others than the row among them
 * @param first - the number of the first row
 */
export function merge(parts: readonly Neighbours[], k: number, first: number): Neighbours {
  const { rows } = parts[0] as Neighbours;
  const merged = { rows, width: k, scores: new Float32Array(rows * k), vectors: new Uint32Array(rows * k) };
  const heads = new Uint32Array(parts.length);
  for (let row = 0; row < rows; row++) {
    heads.fill(0);
    for (let place = 0; place < k;) {
      let [best, score, vector] = [-1, -Infinity, Infinity];
      for (let index = 0; index < parts.length; index++) {
        const { width, scores, vectors } = parts[index] as Neighbours;
        const at = row * width + (heads[index] as number);
        if (heads[index] === width) continue;
        const [itsScore, itsVector] = [scores[at] as number, vectors[at] as number];
        const isBetter = itsScore > score || (itsScore === score && itsVector < vector);
        if (isBetter) [best, score, vector] = [index, itsScore, itsVector];
      }
      if (best < 0) throw new Error(`vector ${first + row} has fewer than ${k} candidates`);
      (heads[best] as number)++;
      if (vector === first + row) continue;
      merged.scores[row * k + place] = score;
      merged.vectors[row * k + place++] = vector;
    }
  }
  return merged;
}

/** From the scores and then the numbers, float32 and u32 in the byte order of the host. */
export function fromBytes(bytes: Uint8Array, rows: number): Neighbours {
  const { buffer } = new Uint8Array(bytes); // a copy, which is aligned
  const count = buffer.byteLength / 8;
  const [scores, vectors] = [new Float32Array(buffer, 0, count), new Uint32Array(buffer, count * 4)];
  return { rows, width: count / rows, scores, vectors };
}

/** Writes `neighbours` and `scores`, `[rows, width]`, to a safetensors file. */
export async function saveGraph(path: string, { rows, width, scores, vectors }: Neighbours): Promise<void> {
  await using backend = await CpuBackend.create();
  using neighbours = tensor(backend, vectors, [rows, width]);
  using cosines = tensor(backend, scores, [rows, width]);
  await saveSafetensors(path, { neighbours, scores: cosines });
}
