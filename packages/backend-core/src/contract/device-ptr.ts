import { invalid } from '../errors/invalid.ts';
import { describe } from './checks.ts';

/**
 * An address in a backend's virtual address space: a branded number. `0` is never valid; a pointer means nothing in
 * another thread or to another backend object, which recognises it as foreign.
 *
 * The brand is a string key, so that two installed copies of this package agree on the type.
 */
export type DevicePtr = number & { readonly __concordDevicePtr: true };

/** The null pointer. Never names memory; accepted only where a zero size makes the call a no-op. */
export const NULL_PTR: DevicePtr = 0 as DevicePtr;

/**
 * The address `bytes` bytes after `ptr`, for naming a part of an allocation. Not checked here: the op that gets the
 * pointer checks it against the allocation.
 *
 * @throws {BackendError} INVALID_ARGUMENT when the result is not a non-negative safe integer
 */
export function offsetPtr(ptr: DevicePtr, bytes: number): DevicePtr {
  // Not added before they are numbers: a BigInt or a symbol would throw.
  const address = typeof ptr === 'number' && Number.isSafeInteger(bytes) ? ptr + bytes : Number.NaN;
  if (!Number.isSafeInteger(address) || address < 0) {
    throw invalid(`cannot offset pointer ${describe(ptr)} by ${describe(bytes)} bytes`);
  }
  return address as DevicePtr;
}
