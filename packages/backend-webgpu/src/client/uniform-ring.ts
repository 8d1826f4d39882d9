import { type Kernel, uniformBytes } from '../kernels/kernel.ts';
import { USAGE } from './gpu-constants.ts';

const RING_BYTES = 65_536;

/** Most bytes of uniforms that a kernel may have; what a dynamic offset is bound with. */
export const MAX_UNIFORM_BYTES = 256;

/**
 * The uniforms of one batch of launches, each at its own offset of one buffer. They are written to the device in one go
 * before the batch is submitted; the queue's order keeps them apart from those of the batch before.
 */
export class UniformRing {
  readonly gpu: GPUBuffer;
  readonly #queue: GPUQueue;
  readonly #stride: number;
  readonly #bytes = new ArrayBuffer(RING_BYTES);
  readonly #view = new DataView(this.#bytes);
  #used = 0;

  constructor(device: GPUDevice) {
    this.#queue = device.queue;
    this.#stride = Math.max(MAX_UNIFORM_BYTES, device.limits.minUniformBufferOffsetAlignment);
    this.gpu = device.createBuffer({ size: RING_BYTES, usage: USAGE.uniform | USAGE.copyDst, label: 'uniforms' });
  }

  get isFull(): boolean {
    return this.#used + this.#stride > RING_BYTES;
  }

  /** Adds the uniforms of one dispatch and gives their offset. */
  write(kernel: Kernel, firstGroup: number, groupCount: number, values: Readonly<Record<string, number>>): number {
    if (uniformBytes(kernel) > MAX_UNIFORM_BYTES) throw new RangeError(`${kernel.name} has too many uniforms`);
    const offset = this.#used;
    this.#used += this.#stride;
    const view = this.#view;
    view.setUint32(offset, firstGroup, true);
    view.setUint32(offset + 4, groupCount, true);
    let at = offset + 8;
    for (const { name, type } of kernel.uniforms) {
      const value = values[name];
      if (value === undefined) throw new TypeError(`${kernel.name}: uniform ${name} is not given`);
      if (type === 'f32') view.setFloat32(at, value, true);
      else view.setUint32(at, value, true);
      at += 4;
    }
    return offset;
  }

  /** Sends what was added since the last time to the device. */
  upload(): void {
    if (this.#used > 0) this.#queue.writeBuffer(this.gpu, 0, this.#bytes, 0, this.#used);
    this.#used = 0;
  }

  destroy(): void {
    this.gpu.destroy();
  }
}
