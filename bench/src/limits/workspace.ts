import {
  type ComputeBackend,
  type DevicePtr,
  type DType,
  fromF16Array,
  offsetPtr,
  toF16Array,
} from '@concord/backend-core';
import { noise } from '../noise.ts';

/** An array of noise that is on the device, and known at every index on the host. */
export interface NoiseOperand {
  readonly ptr: DevicePtr;
  at(index: number): number;
}

/** Twice a prime: no matrix has rows that repeat with it, and of any type it is whole words. */
const BLOCK = 2 * 2_097_143;
const blocks = new Map<string, Float32Array>();

/** The operands of one case. The inputs are one block of noise again and again, so they may be larger than the host. */
export class Workspace {
  readonly #backend: ComputeBackend;
  readonly #memory: DevicePtr[] = [];

  constructor(backend: ComputeBackend) {
    this.#backend = backend;
  }

  input(length: number, seed: number, dtype: DType = 'f32'): NoiseOperand {
    const block = blockOf(Math.min(length, BLOCK), seed, dtype);
    const raw = dtype === 'f16' ? toF16Array(block) : block;
    const ptr = this.output(length, dtype);
    for (let at = 0; at < length; at += BLOCK) {
      const place = offsetPtr(ptr, at * raw.BYTES_PER_ELEMENT);
      this.#backend.copyHtod(place, raw.subarray(0, length - at));
    }
    return { ptr, at: (index) => block[index % BLOCK] as number };
  }

  /** Memory full of NaN, so that an entry that is not written shows. */
  output(length: number, dtype: DType = 'f32'): DevicePtr {
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

function blockOf(length: number, seed: number, dtype: DType): Float32Array {
  const key = `${seed} ${dtype}`;
  let block = blocks.get(key);
  if (block === undefined || block.length < length) {
    block = noise(length, seed);
    if (dtype === 'f16') block = fromF16Array(toF16Array(block));
    blocks.set(key, block);
  }
  return block.subarray(0, length);
}
