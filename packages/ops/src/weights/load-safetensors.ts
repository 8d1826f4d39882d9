import { BYTES_OF, BackendError, type ComputeBackend, type DType, type WaitOptions } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { checkBackend, checkOptions, shown } from '../tensor/arguments.ts';
import { checkDType, checkShape } from '../tensor/create.ts';
import { allocate } from '../tensor/allocate.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { sizeOf } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { byName, missing } from './by-name.ts';
import type { ByteSource, OpenBytes } from './byte-source.ts';
import { fillTensor, PIECE_BYTES, type Staging } from './fill-tensor.ts';
import type { PlacedEntry } from './format.ts';
import { readHeader } from './read-safetensors.ts';
import { readShards } from './shards.ts';
import { byteSource, type SafetensorsSource } from './source.ts';
import type { WeightCache } from './weight-cache.ts';

/** Options of {@link loadSafetensors}. */
export interface LoadOptions extends Pick<WaitOptions, 'signal'> {
  /** The names of the tensors to load, or a test of a name. Default: all. */
  readonly names?: readonly string[] | ((name: string) => boolean);
  /** The type of f32, f16 and bf16 on the device. Default: that in the file. Integers stay as they are. */
  readonly dtype?: 'f32' | 'f16' | 'bf16';
  /**
   * The cache for the files of a URL: `pageCache()`, or in Node `folderCache(path)`. They are fetched once, resume
   * after a broken connection, and are there without a network.
   */
  readonly cache?: WeightCache;
  /** Called with the bytes sent to the device so far, and those of all tensors asked for in a file. */
  readonly onProgress?: (loadedBytes: number, totalBytes: number, file: string) => void;
}

/** Bytes that may wait in the device's queue. */
const QUEUED_BYTES = 64 * 2 ** 20;

/**
 * The tensors of a safetensors file on a device, by name; to read a name that is not there throws, `name in weights` asks. Their bytes go there piece by piece as they are read: the host
 * never holds them all.
 *
 * A source whose name ends in `.json` is the index of a model in several files (`model.safetensors.index.json`), which
 * lie beside it.
 *
 * @throws {BackendError} INVALID_ARGUMENT for what is no such file, and for names that it does not have
 * @throws {BackendError} UNSUPPORTED for a tensor of a type that devices do not have, such as I64
 * @throws {BackendError} OUT_OF_MEMORY for a tensor larger than the device's largest allocation
 * @example
 * ```ts
 * const file = await writeSafetensors({ weight: tensor(backend, [[1, 2], [3, 4]]), bias: tensor(backend, [5, 6]) });
 * const { bias } = await loadSafetensors(backend, file, { names: ['bias'], dtype: 'f16' });
 * bias.dtype; // 'f16'
 * await bias.toArray(); // [5, 6]
 * ```
 */
export async function loadSafetensors(
  backend: ComputeBackend,
  source: SafetensorsSource,
  options: LoadOptions = {},
): Promise<Record<string, Tensor>> {
  checkBackend('safetensors', backend);
  checkLoadOptions(options);
  const own = byteSource(source, options.cache);
  const tensors = new Map<string, Tensor>();
  try {
    options.signal?.throwIfAborted();
    if (own.name.replace(/[?#].*$/, '').endsWith('.json')) {
      const shards = await readShards(own, options);
      for (const { shard, names } of shards) await loadFile(backend, shard, { ...options, names }, tensors);
    } else await loadFile(backend, own, options, tensors);
  } catch (error) {
    for (const tensor of tensors.values()) tensor.dispose();
    // What an abort broke off fails with its own errors.
    options.signal?.throwIfAborted();
    throw error;
  }
  return byName(tensors);
}

async function loadFile(
  backend: ComputeBackend,
  source: ByteSource,
  options: LoadOptions,
  tensors: Map<string, Tensor>,
): Promise<void> {
  const { signal } = options;
  const open = await source.open(signal);
  const stop = (): void => void open.close().catch(() => undefined);
  signal?.addEventListener('abort', stop);
  const staging: Staging = { host: new Uint8Array(PIECE_BYTES), device: undefined };
  try {
    await loadOpen(backend, open, source.name, options, staging, tensors);
  } finally {
    signal?.removeEventListener('abort', stop);
    if (staging.device !== undefined) backend.free(staging.device);
    await open.close();
  }
}

async function loadOpen(
  backend: ComputeBackend,
  open: OpenBytes,
  file: string,
  { names, dtype, onProgress, signal }: LoadOptions,
  staging: Staging,
  tensors: Map<string, Tensor>,
): Promise<void> {
  const wanted = chosen(file, (await readHeader(open)).tensors, names).map((entry) => loadable(backend, entry, dtype));
  const total = wanted.reduce((sum, { entry }) => sum + entry.bytes, 0);
  let loaded = 0;
  let queued = 0;
  const arrived = async (bytes: number): Promise<void> => {
    loaded += bytes;
    queued += bytes;
    onProgress?.(loaded, total, file);
    if (queued >= QUEUED_BYTES) {
      queued = 0;
      await backend.synchronize(signal === undefined ? {} : { signal });
    }
    signal?.throwIfAborted();
  };
  for (const { entry, to } of wanted) {
    const result = allocate('safetensors', backend, entry.shape, to, entry.name);
    tensors.set(entry.name, result);
    await fillTensor(open, entry, result, staging, arrived);
  }
}

function chosen(file: string, entries: readonly PlacedEntry[], names: LoadOptions['names']): readonly PlacedEntry[] {
  if (names === undefined) return entries;
  if (typeof names === 'function') return entries.filter(({ name }) => names(name));
  const absent = names.find((name) => !entries.some((entry) => entry.name === name));
  if (absent !== undefined) {
    const given = entries.map(({ name }) => name);
    throw missing(file, absent, given);
  }
  return entries.filter(({ name }) => names.includes(name));
}

/** A tensor of a file, and its type on the device. */
interface Loadable {
  readonly entry: PlacedEntry & { readonly dtype: DType };
  readonly to: DType;
}

function loadable(backend: ComputeBackend, entry: PlacedEntry, wanted: LoadOptions['dtype']): Loadable {
  const { name, format, shape, dtype } = entry;
  if (dtype === undefined) {
    throw new BackendError(
      'UNSUPPORTED',
      `safetensors: ${name} is ${format}${shapeText(shape)}, which no device holds`,
      {
        op: 'safetensors',
        hint: 'leave it out: name those that you need in `names`',
      },
    );
  }
  checkShape('safetensors', shape);
  const to = isFloat(dtype) ? (wanted ?? dtype) : dtype;
  const requestedBytes = sizeOf(shape) * BYTES_OF[to];
  const limitBytes = backend.capabilities.limits.maxAllocationBytes;
  if (requestedBytes > limitBytes) {
    const detail = `safetensors: ${name}, ${to}${shapeText(shape)}, needs ${requestedBytes} bytes, an allocation has at most ${limitBytes}`;
    throw new BackendError('OUT_OF_MEMORY', detail, { op: 'safetensors', requestedBytes, limitBytes });
  }
  return { entry: { ...entry, dtype }, to };
}

function isFloat(dtype: DType): boolean {
  return ELEMENT_TYPES[dtype].float !== undefined;
}

function checkLoadOptions(options: LoadOptions): void {
  checkOptions('safetensors', options, {
    names: 'any',
    dtype: 'any',
    onProgress: 'function',
    signal: 'any',
    cache: 'any',
  });
  const { names, dtype, signal } = options;
  if (dtype !== undefined) checkFloat(dtype);
  const areNames = Array.isArray(names) && names.every((name) => typeof name === 'string');
  if (names !== undefined && typeof names !== 'function' && !areNames) {
    throw refuse('safetensors', `names must be a list of names or a function, got ${shown(names)}`);
  }
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.throwIfAborted !== 'function') {
    throw refuse('safetensors', `signal must be an AbortSignal, got ${shown(signal)}`);
  }
}

function checkFloat(dtype: DType): void {
  if (!isFloat(checkDType('safetensors', dtype))) {
    throw refuse('safetensors', `dtype must be f32, f16 or bf16, got ${dtype}`);
  }
}
