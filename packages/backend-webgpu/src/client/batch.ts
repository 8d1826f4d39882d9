import type { LastCall } from '../kernels/launch-plan.ts';
import { USAGE } from './gpu-source.ts';

/** Bytes of a buffer that collects what goes to the device in one go. */
export const RING_BYTES = 65_536;

/** The maximum number of bytes of uniforms that a kernel may have; what a dynamic offset is bound with. */
export const MAX_UNIFORM_BYTES = 512;

/** A dispatch, ready but for the pass that it goes to. */
export interface ReadyDispatch {
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
  /** The offset of its uniforms in the batch that it is added to. */
  offset: number;
  readonly grid: readonly [x: number, y: number, z: number];
  readonly variant: string | undefined;
  /** The launches of its variant. */
  readonly runs: { count: number };
}

/** Counts the launches of each variant. */
export class VariantRuns {
  readonly #runs = new Map<string, { count: number }>();

  /** The count of a variant, to be raised. */
  of(variant: string | undefined): { count: number } {
    const known = variant === undefined ? { count: 0 } : this.#runs.get(variant);
    if (known !== undefined) return known;
    const made = { count: 0 };
    this.#runs.set(variant as string, made);
    return made;
  }

  /** Counts of the variants that ran, by their ids. */
  get counts(): ReadonlyMap<string, number> {
    return new Map([...this.#runs].flatMap(([id, { count }]) => (count === 0 ? [] : [[id, count] as const])));
  }
}

/** The encoder of one batch: dispatches are in one pass as long as nothing else comes between. */
export class OpenEncoder {
  readonly #encoder: GPUCommandEncoder;
  #pass: GPUComputePassEncoder | undefined;
  /** The state of the pass. */
  #pipeline: GPUComputePipeline | undefined;
  #group: GPUBindGroup | undefined;
  #offset = 0;

  constructor(device: GPUDevice) {
    this.#encoder = device.createCommandEncoder();
  }

  /** Begins the pass of the next dispatch, where none is open. */
  protected beginPass(description?: GPUComputePassDescriptor): GPUComputePassEncoder {
    return (this.#pass = this.#encoder.beginComputePass(description));
  }

  dispatch({ pipeline, group, offset, grid }: ReadyDispatch): void {
    this.#pass ??= this.beginPass();
    if (this.#pipeline !== pipeline) {
      this.#pass.setPipeline(pipeline);
      this.#pipeline = pipeline;
    }
    if (this.#group !== group || this.#offset !== offset) {
      this.#pass.setBindGroup(0, group, [offset]);
      this.#group = group;
      this.#offset = offset;
    }
    this.#pass.dispatchWorkgroups(grid[0], grid[1], grid[2]);
  }

  /** Returns the encoder for what is no dispatch. */
  outsidePass(): GPUCommandEncoder {
    this.#endPass();
    return this.#encoder;
  }

  finish(): GPUCommandBuffer {
    this.#endPass();
    return this.#encoder.finish();
  }

  #endPass(): void {
    this.#pass?.end();
    this.#pass = undefined;
    this.#pipeline = undefined;
    this.#group = undefined;
  }
}

/** The last number of any ring's batch: a step may go to one and then to another. */
let lastBatch = 0;

/**
 * The uniforms of one batch of launches, each at its own offset of one buffer. They are written to the device in one go
 * before the batch is submitted; the queue's order keeps them apart from those of the batch before.
 */
export class UniformRing {
  readonly gpu: GPUBuffer;
  readonly #queue: GPUQueue;
  readonly #stride: number;
  readonly #words = new Uint32Array(RING_BYTES / 4);
  #used = 0;
  /** The number of the batch. */
  #batch = ++lastBatch;

  constructor(device: GPUDevice) {
    this.#queue = device.queue;
    this.#stride = Math.max(MAX_UNIFORM_BYTES, device.limits.minUniformBufferOffsetAlignment);
    this.gpu = device.createBuffer({ size: RING_BYTES, usage: USAGE.uniform | USAGE.copyDst, label: 'uniforms' });
  }

  get isFull(): boolean {
    return this.#used + this.#stride > RING_BYTES;
  }

  /** Gives the offset of words, or of those that a step was last called with, which may be there already. */
  place(step: LastCall | Uint32Array): number {
    if (step instanceof Uint32Array) return this.write(step);
    if (step.lastBatch !== this.#batch) {
      step.lastOffset = this.write(step.lastWords);
      step.lastBatch = this.#batch;
    }
    return step.lastOffset;
  }

  /** Adds the uniforms of one dispatch and gives their offset. */
  write(words: Uint32Array): number {
    if (words.byteLength > MAX_UNIFORM_BYTES)
      throw new RangeError(`${words.byteLength} bytes of uniforms are too many`);
    const offset = this.#used;
    this.#words.set(words, offset / 4);
    this.#used += this.#stride;
    return offset;
  }

  /** Sends what was added since the last time to the device. */
  upload(): void {
    if (this.#used > 0) this.#queue.writeBuffer(this.gpu, 0, this.#words, 0, this.#used / 4);
    this.#used = 0;
    this.#batch = ++lastBatch;
  }

  destroy(): void {
    this.gpu.destroy();
  }
}
