import { USAGE } from './gpu-source.ts';

const RING_BYTES = 65_536;

/** The maximum number of bytes of uniforms that a kernel may have; what a dynamic offset is bound with. */
export const MAX_UNIFORM_BYTES = 512;

/**
 * The uniforms of one batch of launches, each at its own offset of one buffer. They are written to the device in one go
 * before the batch is submitted; the queue's order keeps them apart from those of the batch before.
 */
export class UniformRing {
  readonly gpu: GPUBuffer;
  readonly #queue: GPUQueue;
  readonly #stride: number;
  readonly #words = new Uint32Array(RING_BYTES / 4);
  readonly #offsets = new Map<Uint32Array, number>();
  #used = 0;

  constructor(device: GPUDevice) {
    this.#queue = device.queue;
    this.#stride = Math.max(MAX_UNIFORM_BYTES, device.limits.minUniformBufferOffsetAlignment);
    this.gpu = device.createBuffer({ size: RING_BYTES, usage: USAGE.uniform | USAGE.copyDst, label: 'uniforms' });
  }

  get isFull(): boolean {
    return this.#used + this.#stride > RING_BYTES;
  }

  /**
   * Adds the uniforms of one dispatch and gives their offset. An array that was added since the last upload is there
   * already: it must not be changed.
   */
  write(words: Uint32Array): number {
    const known = this.#offsets.get(words);
    if (known !== undefined) return known;
    if (words.byteLength > MAX_UNIFORM_BYTES)
      throw new RangeError(`${words.byteLength} bytes of uniforms are too many`);
    const offset = this.#used;
    this.#words.set(words, offset / 4);
    this.#used += this.#stride;
    this.#offsets.set(words, offset);
    return offset;
  }

  /** Sends what was added since the last time to the device. */
  upload(): void {
    if (this.#used > 0) this.#queue.writeBuffer(this.gpu, 0, this.#words, 0, this.#used / 4);
    this.#used = 0;
    this.#offsets.clear();
  }

  destroy(): void {
    this.gpu.destroy();
  }
}

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
