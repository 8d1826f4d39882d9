import { BackendError } from '@concord/backend-core';

const PAGE_BYTES = 65_536;
/** 4 GiB, all that a 32-bit address reaches. */
const MAX_PAGES = 65_536;
/** Smaller limits are tried where the engine cannot reserve so much address space. */
const MIN_PAGES = 1024;
const FIRST_PAGES = 32;

/** The one memory of a backend, as far as it is known to the thread that owns it. */
export interface LinearMemory {
  readonly memory: WebAssembly.Memory;
  /** Bytes that it can grow to. */
  readonly maxBytes: number;
}

/**
 * Makes a memory that grows to 4 GiB, or to less where the address space is limited.
 *
 * @throws {BackendError} BACKEND_UNAVAILABLE when not even 64 MiB can be reserved
 */
export function makeMemory(isShared: boolean): LinearMemory {
  for (let pages = MAX_PAGES; ; pages /= 2) {
    try {
      const memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: pages, shared: isShared });
      return { memory, maxBytes: pages * PAGE_BYTES };
    } catch (cause) {
      if (pages > MIN_PAGES) continue;
      throw new BackendError('BACKEND_UNAVAILABLE', 'the engine makes no memory for WebAssembly', {
        reason: 'failed',
        hint: 'raise the limit of address space (ulimit -v), or dispose backend objects that are no longer used',
        cause,
      });
    }
  }
}

/**
 * Grows a memory to at least `end` bytes, in steps of an eighth of its size.
 *
 * @throws {BackendError} OUT_OF_MEMORY
 */
export function growTo({ memory, maxBytes }: LinearMemory, end: number): void {
  const has = memory.buffer.byteLength;
  if (end <= has) return;
  const wanted = Math.min(maxBytes, Math.max(end, has + has / 8));
  try {
    if (end > maxBytes) throw new RangeError(`${end} bytes exceed the ${maxBytes} of the address space`);
    memory.grow(Math.ceil((wanted - has) / PAGE_BYTES));
  } catch (cause) {
    throw new BackendError('OUT_OF_MEMORY', `the memory of WebAssembly does not grow from ${has} to ${end} bytes`, {
      cause,
      limitBytes: maxBytes,
    });
  }
}
