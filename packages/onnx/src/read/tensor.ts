import { refuse } from '../errors.ts';
import {
  arrayOf,
  elementType,
  type HostData,
  type HostTensor,
  hostTensor,
  lengthOf,
  type Scalar,
} from '../graph/host-tensor.ts';
import type { Proto } from './schema.ts';

/** The bytes of files beside the model, by their names in it. */
export type ExternalData = ReadonlyMap<string, Uint8Array>;

/** The maximum number of a tensor's elements. */
const MAX_SIZE = 2 ** 40;

/** @throws {BackendError} INVALID_ARGUMENT for sizes that are none, or beyond any memory */
export function dimsOf(what: string, dims: readonly bigint[]): number[] {
  const numbers = dims.map(Number);
  const size = numbers.reduce((product, dim) => product * dim, 1);
  if (numbers.some((dim) => !Number.isSafeInteger(dim) || dim < 0) || size > MAX_SIZE || numbers.length > 64) {
    throw refuse(`${what} has the shape [${dims.slice(0, 64).join(', ')}], which is none`);
  }
  return numbers;
}

/**
 * A TensorProto's tensor: a view of the model's bytes where they lie so.
 *
 * @throws {BackendError} INVALID_ARGUMENT for data of another length than the shape says, or that is not there
 * @throws {BackendError} UNSUPPORTED for element types that models here cannot have
 */
export function readTensor(what: string, proto: Proto<'Tensor'>, external: ExternalData): HostTensor {
  const type = elementType(what, proto.dataType);
  const dims = dimsOf(what, proto.dims ?? []);
  const length = lengthOf(type, dims);
  const fits = <T extends { readonly length: number }>(data: T, unit = 1): T => {
    if (data.length !== length * unit) throw refuse(`${what} has ${data.length / unit} elements, its shape ${length}`);
    return data;
  };
  if (type === 'string') {
    const decoder = new TextDecoder();
    return { type, dims, data: fits(proto.strings ?? []).map((text) => decoder.decode(text)) };
  }
  const raw = proto.location === 1 ? externalBytes(what, proto, external) : proto.raw;
  if (raw !== undefined) {
    const { BYTES_PER_ELEMENT } = arrayOf(type);
    return { type, dims, data: viewOf(type, fits(raw, BYTES_PER_ELEMENT)) };
  }
  const { floats, doubles, int64s, uint64s, int32s } = proto;
  const listed: readonly Scalar[] = floats ?? doubles ?? int64s ?? uint64s ?? int32s ?? [];
  // Integers and halves of 16 bits or fewer lie in int32_data, the latter by their bits.
  const isBits = type === 'float16' || type === 'bfloat16';
  if (isBits) return { type, dims, data: Uint16Array.from(fits(listed), Number) };
  if (type === 'int4' || type === 'uint4') return { type, dims, data: Uint8Array.from(fits(listed), Number) };
  return hostTensor(type, dims, fits(listed));
}

/** Bytes as elements; a copy where they do not lie as the elements must. Files are little-endian, as every platform is. */
function viewOf(type: Exclude<HostTensor['type'], 'string'>, bytes: Uint8Array): HostData {
  const array = arrayOf(type);
  const isAligned = bytes.byteOffset % array.BYTES_PER_ELEMENT === 0;
  const { buffer, byteOffset, byteLength } = (isAligned ? bytes : Uint8Array.from(bytes)) as Uint8Array<ArrayBuffer>;
  return new array(buffer, byteOffset, byteLength / array.BYTES_PER_ELEMENT);
}

function externalBytes(what: string, proto: Proto<'Tensor'>, external: ExternalData): Uint8Array {
  const entries = new Map((proto.external ?? []).map(({ key = '', value = '' }) => [key, value]));
  const location = entries.get('location') ?? '';
  const bytes = external.get(location);
  if (bytes === undefined) {
    throw refuse(`${what} lies in the file ${location}, which was not given`, {
      hint: 'give externalData, or open the model by its path or URL',
    });
  }
  const from = Number(entries.get('offset') ?? 0);
  const length = Number(entries.get('length') ?? bytes.length - from);
  if (
    !(Number.isSafeInteger(from) && Number.isSafeInteger(length) && from >= 0 && length >= 0) ||
    from + length > bytes.length
  ) {
    throw refuse(`${what} lies at ${from} of ${location}, ${length} bytes, where the file has ${bytes.length}`);
  }
  return bytes.subarray(from, from + length);
}

/**
 * The names of the files that a model's tensors lie in.
 *
 * @throws {BackendError} INVALID_ARGUMENT for one that leaves the model's folder
 */
export function externalFile(what: string, proto: Proto<'Tensor'>): string | undefined {
  if (proto.location !== 1) return undefined;
  const location = proto.external?.find(({ key }) => key === 'location')?.value ?? '';
  const leaves =
    location === '' || /^[\\/]|^[a-z][a-z0-9+.-]*:|\0/i.test(location) || location.split(/[\\/]/).includes('..');
  if (leaves) throw refuse(`${what} lies in ${JSON.stringify(location)}, which is not beside the model`);
  return location;
}
