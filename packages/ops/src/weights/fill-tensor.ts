import { BYTES_OF, type ComputeBackend, type DevicePtr, type DType } from '@concord/backend-core';
import { copyElements } from '../compute/copy.ts';
import type { Tensor } from '../tensor/tensor.ts';
import type { OpenBytes } from './byte-source.ts';
import type { PlacedEntry } from './format.ts';
import { damaged } from './header.ts';

/** Bytes that go to the device at once. */
export const PIECE_BYTES: number = 4 * 2 ** 20;

/** Buffers for the bytes of a file on their way to a device. */
export interface Staging {
  readonly host: Uint8Array;
  /** Device memory for tensors that change their type there; made for the first one. */
  device: DevicePtr | undefined;
}

/**
 * Copies the elements of a tensor from a file to the device, piece by piece.
 *
 * @param arrived - is told of the bytes of each piece, and waited for
 * @throws {BackendError} INVALID_ARGUMENT where the file ends before
 */
export async function fillTensor(
  open: OpenBytes,
  entry: PlacedEntry & { readonly dtype: DType },
  to: Tensor,
  staging: Staging,
  arrived: (bytes: number) => Promise<void>,
): Promise<void> {
  const { host } = staging;
  let done = 0;
  let held = 0;
  const send = async (bytes: Uint8Array): Promise<void> => {
    place(bytes, done / BYTES_OF[entry.dtype], entry.dtype, to, staging);
    done += bytes.length;
    await arrived(bytes.length);
  };
  for await (let piece of open.pieces(entry.start, entry.start + entry.bytes)) {
    while (piece.length > 0) {
      const taken = piece.subarray(0, host.length - held);
      host.set(taken, held);
      held += taken.length;
      piece = piece.subarray(taken.length);
      if (held < host.length) continue;
      await send(host);
      held = 0;
    }
  }
  if (done + held < entry.bytes) throw damaged(`ends in ${entry.name}, ${done + held} of ${entry.bytes} bytes`);
  if (held > 0) await send(host.subarray(0, held));
}

function place(bytes: Uint8Array, first: number, stored: DType, to: Tensor, staging: Staging): void {
  const { backend, dtype } = to;
  const target = (to.ptr + first * BYTES_OF[dtype]) as DevicePtr;
  if (stored === dtype) {
    backend.copyHtod(target, bytes);
    return;
  }
  const ptr = (staging.device ??= stagingOn(backend, staging.host.length));
  backend.copyHtod(ptr, bytes);
  const strides = [1];
  const from = { ptr, strides, dtype: stored };
  copyElements(backend, [bytes.length / BYTES_OF[stored]], from, { ptr: target, strides, dtype });
}

function stagingOn(backend: ComputeBackend, bytes: number): DevicePtr {
  return backend.alloc(bytes, { label: 'safetensors' });
}
