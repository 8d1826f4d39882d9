import { type ComputeBackend, type DevicePtr, type FloatDType, offsetPtr, toF16Array } from '@concord/backend-core';
import type { NoiseArray } from './noise-array.ts';

/** The memory of one case on a device. */
export class Workspace {
  readonly #backend: ComputeBackend;
  readonly #memory: DevicePtr[] = [];

  constructor(backend: ComputeBackend) {
    this.#backend = backend;
  }

  input({ length, dtype, block }: NoiseArray): DevicePtr {
    const raw = dtype === 'f16' ? toF16Array(block) : block;
    const ptr = this.output(length, dtype);
    for (let at = 0; at < length; at += raw.length) {
      this.#backend.copyHtod(offsetPtr(ptr, at * raw.BYTES_PER_ELEMENT), raw.subarray(0, length - at));
    }
    return ptr;
  }

  /** Memory full of NaN, so that an entry that is not written shows. */
  output(length: number, dtype: FloatDType = 'f32'): DevicePtr {
    const bytes = length * (dtype === 'f16' ? 2 : 4);
    const ptr = this.#backend.alloc(bytes);
    this.#memory.push(ptr);
    this.#backend.fill(ptr, 0xff, bytes);
    return ptr;
  }

  free(): void {
    for (const ptr of this.#memory.splice(0)) this.#backend.free(ptr);
  }
}
