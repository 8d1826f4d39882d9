import { type OpenBytes, readBytes } from './byte-source.ts';
import { LENGTH_BYTES, type SafetensorsEntry, type SafetensorsHeader } from './format.ts';
import { damaged, headerLength, parseHeader } from './header.ts';
import { byteSource, type SafetensorsSource } from './source.ts';

/** The content of a safetensors file, without its elements. */
export interface SafetensorsInfo {
  /** Tensors in the order of their elements in the file. */
  readonly tensors: readonly SafetensorsEntry[];
  /** The notes of its writer. */
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * The names, shapes and element types of a safetensors file. Reads its header only.
 *
 * The format: https://huggingface.co/docs/safetensors. A file that breaks one of its rules is refused, with the rule:
 * lengths and offsets that do not fit, holes, overlaps, keys twice.
 *
 * @throws {BackendError} INVALID_ARGUMENT for what is no such file
 * @example
 * ```ts
 * const file = await writeSafetensors({ bias: tensor(backend, [1, 2]) });
 * const { tensors } = await readSafetensors(file);
 * tensors[0].name; // 'bias'
 * tensors[0].shape; // [2]
 * tensors[0].dtype; // 'f32'
 * ```
 */
export async function readSafetensors(source: SafetensorsSource): Promise<SafetensorsInfo> {
  const open = await byteSource(source).open();
  try {
    const { tensors, metadata } = await readHeader(open);
    return { tensors: tensors.map(({ start: _, ...entry }) => entry), metadata };
  } finally {
    await open.close();
  }
}

/** @throws {BackendError} INVALID_ARGUMENT */
export async function readHeader(open: OpenBytes): Promise<SafetensorsHeader> {
  const length = headerLength(await readBytes(open, 0, LENGTH_BYTES), open.size);
  const header = await readBytes(open, LENGTH_BYTES, LENGTH_BYTES + length);
  if (header.length < length) throw damaged(`ends in its header, ${header.length} of ${length} bytes`);
  return parseHeader(header, open.size);
}
