import { BYTES_OF, type WaitOptions } from '@concord/backend-core';
import { checkOptions, checkTensors, shown } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';
import { Tensor } from '../tensor/tensor.ts';
import { pack } from '../views/pack.ts';
import { FORMAT_OF_DTYPE, LENGTH_BYTES } from './format.ts';
import { METADATA } from './header.ts';

/** Options of the functions that write safetensors. */
export interface WriteOptions extends WaitOptions {
  /** The notes for the file. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * A safetensors file of tensors: its bytes.
 *
 * @throws {BackendError} INVALID_ARGUMENT for the names `__metadata__` and `__proto__`
 * @throws {BackendError} DEVICE_ERROR on timeout
 * @example
 * ```ts
 * const file = await writeSafetensors({ x: tensor(backend, [1, 2]) }, { metadata: { step: '7' } });
 * file.length % 8; // 0
 * const { x } = await loadSafetensors(backend, file);
 * await x.toArray(); // [1, 2]
 * ```
 */
export async function writeSafetensors(
  tensors: Readonly<Record<string, Tensor>>,
  options: WriteOptions = {},
): Promise<Uint8Array> {
  const { header, order, bytes } = layOut('writeSafetensors', tensors, options);
  const file = new Uint8Array(header.length + bytes);
  file.set(header);
  let at = header.length;
  for (const tensor of order) {
    const length = tensor.size * BYTES_OF[tensor.dtype];
    await readStored(tensor, file.subarray(at, at + length), options);
    at += length;
  }
  return file;
}

/** The beginning of a file, and the tensors that follow, in order. */
export interface SafetensorsPlan {
  readonly header: Uint8Array;
  readonly order: readonly Tensor[];
  /** Bytes of all tensors. */
  readonly bytes: number;
}

/** @throws {BackendError} INVALID_ARGUMENT */
export function layOut(op: string, tensors: Readonly<Record<string, Tensor>>, options: WriteOptions): SafetensorsPlan {
  checkOptions(op, options, { metadata: 'any', timeoutMs: 'any', signal: 'any' });
  const { metadata } = options;
  if (typeof tensors !== 'object' || tensors === null || tensors instanceof Tensor) {
    throw refuse(op, `takes tensors by name, such as { weight }, got ${shown(tensors)}`);
  }
  checkTensors(op, tensors);
  const isText = (value: unknown): boolean => typeof value === 'string';
  if (metadata !== undefined && (Object(metadata) !== metadata || !Object.values(metadata).every(isText))) {
    throw refuse(op, `metadata must be texts by name, got ${shown(metadata)}`);
  }
  const reserved = [METADATA, '__proto__'].find((name) => Object.hasOwn(tensors, name));
  if (reserved !== undefined) throw refuse(op, `a tensor cannot have the name ${reserved}`);
  // The widest first, so that the elements of each are aligned; by name within a width, so that files are the same.
  const entries = Object.entries(tensors).sort(
    ([nameA, a], [nameB, b]) => BYTES_OF[b.dtype] - BYTES_OF[a.dtype] || (nameA < nameB ? -1 : 1),
  );
  let end = 0;
  const described = entries.map(([name, { dtype, shape, size }]) => {
    const start = end;
    end += size * BYTES_OF[dtype];
    return [name, { dtype: FORMAT_OF_DTYPE[dtype], shape, data_offsets: [start, end] }] as const;
  });
  const notes = metadata === undefined ? {} : { [METADATA]: metadata };
  const json = new TextEncoder().encode(JSON.stringify({ ...notes, ...Object.fromEntries(described) }));
  const length = Math.ceil(json.length / 8) * 8;
  const header = new Uint8Array(LENGTH_BYTES + length).fill(0x20);
  new DataView(header.buffer).setBigUint64(0, BigInt(length), true);
  header.set(json, LENGTH_BYTES);
  return { header, order: entries.map(([, tensor]) => tensor), bytes: end };
}

/** Reads the elements of a tensor as the device holds them. */
export async function readStored(tensor: Tensor, into: Uint8Array, wait: WaitOptions): Promise<void> {
  if (into.length === 0) return;
  const { timeoutMs, signal } = wait;
  const options = { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(signal === undefined ? {} : { signal }) };
  const packed = pack(tensor);
  try {
    await tensor.backend.copyDtoh(into, packed.ptr, options);
  } finally {
    packed.dispose();
  }
}
