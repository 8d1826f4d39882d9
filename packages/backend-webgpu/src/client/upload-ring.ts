import { RING_BYTES } from './batch.ts';
import { USAGE } from './gpu-source.ts';

/** Host memory of at most this many bytes goes through the ring. */
export const MAX_UPLOAD_BYTES = 4096;

/**
 * Small pieces of host memory on their way to the device: in one buffer, from where recorded copies take them. They are
 * sent in one go before a batch is submitted, as uniforms are; a `writeBuffer` for each would cut the batch, and cost 60 us
 * with what watches for its errors.
 */
export class UploadRing {
  readonly gpu: GPUBuffer;
  readonly #queue: GPUQueue;
  readonly #bytes = new Uint8Array(RING_BYTES);
  #used = 0;

  constructor(device: GPUDevice) {
    this.#queue = device.queue;
    this.gpu = device.createBuffer({ size: RING_BYTES, usage: USAGE.copySrc | USAGE.copyDst, label: 'uploads' });
  }

  /** True if {@link MAX_UPLOAD_BYTES} more may not fit. */
  get isFull(): boolean {
    return this.#used + MAX_UPLOAD_BYTES > RING_BYTES;
  }

  /** Adds bytes, a multiple of 4 of them, and gives their offset. */
  add(bytes: Uint8Array): number {
    const offset = this.#used;
    this.#bytes.set(bytes, offset);
    this.#used += bytes.byteLength;
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
