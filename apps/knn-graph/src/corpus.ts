import { UserError } from '@concord/example-command';
import { readSafetensors } from '@concord/ops';
import { fileSource } from '@concord/ops/node';

/** The vectors of a file, which are read in parts. */
export interface Corpus {
  readonly vectors: number;
  readonly dimensions: number;
  /**
   * The vectors from `from` up to before `to`, float32 `[to - from, dimensions]`, each divided by its length, in float64 and
   * rounded once: the same on every machine.
   *
   * @throws {UserError} BAD_CORPUS for one that is not finite or has no direction
   */
  read(from: number, to: number): Promise<Float32Array>;
  close(): Promise<void>;
}

/**
 * Opens a safetensors file that has one matrix of float32, `[vectors, dimensions]`.
 *
 * @throws {UserError} BAD_CORPUS; `BackendError` INVALID_ARGUMENT for a file that is missing or damaged
 */
export async function openCorpus(path: string): Promise<Corpus> {
  const { tensors } = await readSafetensors(fileSource(path));
  const [matrix, second] = tensors.filter(({ format, shape }) => format === 'F32' && shape.length === 2);
  if (matrix === undefined || second !== undefined || matrix.bytes === 0) {
    const has = tensors.map(({ name, format, shape }) => `${name} ${format}[${shape.join(', ')}]`).join(', ');
    const hint = 'write the vectors as one tensor, F32[vectors, dimensions]';
    throw new UserError('BAD_CORPUS', `${path} must have one matrix of F32; it has ${has || 'no tensor'}`, { hint });
  }
  const [vectors, dimensions] = matrix.shape as [number, number];
  const rowBytes = dimensions * Float32Array.BYTES_PER_ELEMENT;
  const file = await fileSource(path).open();
  // The tensors follow each other up to the end of the file.
  const bytesToEnd = tensors.slice(tensors.indexOf(matrix)).reduce((sum, { bytes }) => sum + bytes, 0);
  const start = (file.size as number) - bytesToEnd;
  const read = async (from: number, to: number): Promise<Float32Array> => {
    const rows = new Float32Array((to - from) * dimensions);
    let at = 0;
    for await (const piece of file.pieces(start + from * rowBytes, start + to * rowBytes)) {
      new Uint8Array(rows.buffer).set(piece, at);
      at += piece.length;
    }
    if (at < rows.byteLength) throw new UserError('BAD_CORPUS', `${path} became shorter while it was read`);
    for (let row = from; row < to; row++) {
      const start = (row - from) * dimensions;
      normalize(rows.subarray(start, start + dimensions), `vector ${row} of ${path}`);
    }
    return rows;
  };
  return { vectors, dimensions, read, close: async () => file.close() };
}

function normalize(vector: Float32Array, name: string): void {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares);
  if (!(length > 0 && length < Infinity)) {
    const what = length === 0 ? 'is all zeros, which has no direction' : 'has an element that is not finite';
    throw new UserError('BAD_CORPUS', `${name} ${what}`, { hint: 'leave it out of the corpus' });
  }
  for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] as number) / length;
}
