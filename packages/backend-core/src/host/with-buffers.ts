import type { AllocOptions, ComputeBackend } from '../contract/backend.ts';
import { describe } from '../contract/checks.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { invalid } from '../errors/invalid.ts';
import { checkBackend } from './check-backend.ts';
import type { HostData } from './stored-array.ts';
import { upload, type UploadOptions } from './transfer.ts';

/** Allocates what {@link withBuffers} frees. */
export interface BufferScope {
  /** `bytes` bytes with unspecified contents, as `backend.alloc` gives them. */
  alloc(bytes: number, options?: AllocOptions): DevicePtr;
  /** New memory that holds `data`, as `upload` gives it. */
  upload(data: HostData, options?: UploadOptions): DevicePtr;
}

/**
 * Runs `use` and then frees all that it has allocated through its scope, newest first, whether it returned or threw.
 * Frees take effect in stream order, so work that is still queued keeps its memory. What is read back has to be awaited
 * inside `use`; an error of `use` is never replaced by one of a free.
 *
 * @returns what `use` returns
 * @throws {BackendError} INVALID_ARGUMENT when the scope is used after its end, or its memory was freed by hand
 * @throws whatever `use` throws
 */
export async function withBuffers<T>(backend: ComputeBackend, use: (scope: BufferScope) => T | Promise<T>): Promise<T> {
  checkBackend('withBuffers', backend);
  if (typeof use !== 'function') throw invalid(`withBuffers takes a function second, got ${describe(use)}`);
  const owned: DevicePtr[] = [];
  let hasEnded = false;
  const own = (allocate: () => DevicePtr): DevicePtr => {
    if (hasEnded) {
      throw invalid('the scope of withBuffers has ended', { hint: 'await all work inside the function' });
    }
    const ptr = allocate();
    owned.push(ptr);
    return ptr;
  };

  let result: T;
  try {
    result = await use({
      alloc: (bytes, options) => own(() => backend.alloc(bytes, options)),
      upload: (data, options) => own(() => upload(backend, data, options)),
    });
  } catch (error) {
    hasEnded = true;
    freeAll(backend, owned);
    throw error;
  }
  hasEnded = true;
  const failed = freeAll(backend, owned);
  if (failed !== undefined) throw failed.error;
  return result;
}

/** Frees the newest first and all of them; the first error comes back. */
function freeAll(backend: ComputeBackend, owned: readonly DevicePtr[]): { readonly error: unknown } | undefined {
  let failed: { readonly error: unknown } | undefined;
  for (const ptr of [...owned].reverse()) {
    try {
      backend.free(ptr);
    } catch (error) {
      failed ??= { error };
    }
  }
  return failed;
}
