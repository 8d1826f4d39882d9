import { BackendError } from '@concord/backend-core';
import { annotate } from '@concord/backend-core/implement';
import type { Kernel } from '../kernels/kernel.ts';
import type { DeviceTraits, Launch, Recorder, Span, StorageBuffer } from '../kernels/recorder.ts';
import { BindGroupCache } from './bind-group-cache.ts';
import type { BufferPool } from './buffer-pool.ts';
import { inScopes, type Scoped, toCodedError } from './error-scopes.ts';
import type { GpuContext } from './gpu-source.ts';
import { dispatches } from './grid.ts';
import type { PipelineCache } from './pipeline-cache.ts';
import { UniformRing } from './uniform-ring.ts';

/** What a {@link CommandStream} works with. */
export interface CommandStreamOptions {
  readonly context: GpuContext;
  readonly traits: DeviceTraits;
  readonly pipelines: PipelineCache;
  readonly pool: BufferPool;
  /** Work that was accepted has failed. */
  readonly onError: (error: BackendError) => void;
  /** A check of the device that is under way. */
  readonly onCheck: (check: Promise<void>) => void;
}

/** Launches that are collected before they are submitted without anybody waiting. */
const MAX_LAUNCHES = 128;

/**
 * Commands in call order. They are collected in one encoder, launches in one pass as long as no copy comes between, and
 * submitted by `flush`, when the uniforms' ring is full, or before something that cannot be recorded.
 */
export class CommandStream implements Recorder {
  readonly #options: CommandStreamOptions;
  readonly #uniforms: UniformRing;
  readonly #bindGroups: BindGroupCache;
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;
  #launches = 0;
  /** The ops in the batch, for the message when it fails. */
  readonly #ops = new Set<string>();
  #op = '';
  /** Kernels whose compilation the device has yet to judge. */
  readonly #compilations = new Set<Promise<void>>();
  readonly #scratch: StorageBuffer[] = [];

  constructor(options: CommandStreamOptions) {
    this.#options = options;
    this.#uniforms = new UniformRing(options.context.device);
    this.#bindGroups = new BindGroupCache(options.context, this.#uniforms);
  }

  get traits(): DeviceTraits {
    return this.#options.traits;
  }

  /** Records one op: `plan` gets this stream as its recorder. Scratch memory is released when it returns. */
  record(op: string, plan: (recorder: Recorder) => void): void {
    this.#op = op;
    try {
      plan(this);
    } finally {
      for (const buffer of this.#scratch.splice(0)) this.#options.pool.release(buffer);
    }
  }

  launch({ kernel, storage, uniforms, groups }: Launch): void {
    const { pipelines, traits } = this.#options;
    const { pipeline, layout } = pipelines.now(kernel, (compilation) => this.#watchCompilation(compilation));
    for (const { first, grid } of dispatches(groups, traits.maxWorkgroupsPerDimension)) {
      if (this.#launches >= MAX_LAUNCHES || this.#uniforms.isFull) this.flush();
      const offset = this.#uniforms.write(kernel, first, groups, uniforms);
      const spans = kernel.storage.map(({ name }) => span(kernel, storage, name));
      const group = this.#bindGroups.get(layout, spans, (caught) => this.#check(caught, kernel.name));
      const pass = this.#computePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group, [offset]);
      pass.dispatchWorkgroups(...grid);
      this.#launches++;
      this.#ops.add(this.#op);
    }
  }

  scratch(bytes: number): Span {
    const buffer = this.#options.pool.take(bytes, `scratch of ${this.#op}`);
    this.#scratch.push(buffer);
    return { buffer, byteOffset: 0, byteLength: bytes };
  }

  copy(dst: Span, src: Span): void {
    const bytes = Math.min(src.byteLength, dst.byteLength);
    this.encoder().copyBufferToBuffer(src.buffer.gpu, src.byteOffset, dst.buffer.gpu, dst.byteOffset, bytes);
  }

  /** Sets `span` to zeros; offset and length are multiples of 4. */
  clear({ buffer, byteOffset, byteLength }: Span): void {
    this.encoder('fill').clearBuffer(buffer.gpu, byteOffset, byteLength);
  }

  /** Writes host memory; offset and length are multiples of 4. The bytes may be changed when this returns. */
  write({ buffer, byteOffset }: Span, bytes: Uint8Array): void {
    // `writeBuffer` overtakes what is recorded but not submitted.
    this.flush();
    // Of a shared buffer, it would crash Dawn.
    const source = bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : bytes.slice();
    const { context } = this.#options;
    const { caught } = inScopes(context, () => context.device.queue.writeBuffer(buffer.gpu, byteOffset, source));
    this.#check(caught, 'copyHtod');
  }

  /**
   * The encoder that collects commands, outside of any pass. What is added to it takes its place in call order; `op`
   * names it in messages.
   */
  encoder(op: string = this.#op): GPUCommandEncoder {
    this.#ops.add(op);
    this.#pass?.end();
    this.#pass = undefined;
    this.#encoder ??= this.#options.context.device.createCommandEncoder();
    return this.#encoder;
  }

  /** Submits what is collected. */
  flush(): void {
    const encoder = this.#encoder;
    if (encoder !== undefined) {
      const ops = [...this.#ops].join(', ');
      this.#pass?.end();
      this.#pass = undefined;
      const { context } = this.#options;
      const { caught } = inScopes(context, () => {
        this.#uniforms.upload();
        context.device.queue.submit([encoder.finish()]);
      });
      this.#check(caught, ops);
      this.#encoder = undefined;
      this.#launches = 0;
      this.#ops.clear();
    }
    this.#options.pool.destroyCondemned();
  }

  destroy(): void {
    this.#uniforms.destroy();
  }

  #computePass(): GPUComputePassEncoder {
    this.#encoder ??= this.#options.context.device.createCommandEncoder();
    this.#pass ??= this.#encoder.beginComputePass();
    return this.#pass;
  }

  #check(caught: Scoped<unknown>['caught'], what: string): void {
    const check = async (): Promise<void> => {
      const error = await caught;
      if (error === undefined) return;
      // A kernel that does not compile says more than the batch that failed with it.
      await Promise.all(this.#compilations);
      this.#options.onError(toCodedError(error, what));
    };
    this.#options.onCheck(check());
  }

  #watchCompilation(compilation: Promise<unknown>): void {
    const op = this.#op;
    const check = async (): Promise<void> => {
      try {
        await compilation;
      } catch (error) {
        this.#options.onError(annotate(error as BackendError, { op }));
      } finally {
        this.#compilations.delete(checked);
      }
    };
    const checked = check();
    this.#compilations.add(checked);
    this.#options.onCheck(checked);
  }
}

function span(kernel: Kernel, storage: Launch['storage'], name: string): Span {
  const found = storage[name];
  if (found === undefined) throw new BackendError('DEVICE_ERROR', `kernel ${kernel.name}: nothing is bound to ${name}`);
  return found;
}
