import { BackendError } from '@concord/backend-core';
import { annotate } from '@concord/backend-core/implement';
import { type PlannedCall, spanAt } from '@concord/variants';
import { type Dispatch, dispatchesOf } from '../kernels/dispatch.ts';
import type { LaunchPlan, PlannedDispatch } from '../kernels/launch-plan.ts';
import type { DeviceTraits, Backing, Launch, Recorder, Span, StorageBuffer } from '../kernels/recorder.ts';
import { OpenEncoder, type ReadyDispatch, UniformRing, VariantRuns } from './batch.ts';
import { BindGroupCache, callWords, spansOf, withinBuffer } from './bind-group-cache.ts';
import type { BufferPool } from './buffer-pool.ts';
import { inScopes, type Scoped, toCodedError } from './errors.ts';
import type { GpuContext } from './gpu-source.ts';
import { PlannedSequence, type ReadyCommand, refusePromise } from './sequence.ts';
import type { PipelineCache, ReadyKernel } from './pipeline-cache.ts';
import { MAX_UPLOAD_BYTES, UploadRing } from './upload-ring.ts';

/** The parts that a {@link CommandStream} works with. */
export interface CommandStreamOptions {
  readonly context: GpuContext;
  readonly traits: DeviceTraits;
  readonly pipelines: PipelineCache;
  readonly pool: BufferPool;
  /** Work that was accepted has failed. */
  readonly onError: (error: BackendError) => void;
  /** An op that was accepted has failed, and nothing else: the device refuses its kernel. */
  readonly onRefusal: (error: BackendError) => void;
  /** A check of the device that is under way. */
  readonly onCheck: (check: Promise<void>) => void;
}

/** Launches and copies that are collected before they are submitted without anybody waiting. */
export const MAX_COMMANDS = 128;
/** The same, after a wait: the device, which has nothing to do, should not wait for more. From then on it doubles. */
export const FIRST_COMMANDS = 16;

/**
 * Commands in call order. They are collected in one encoder, launches in one pass as long as no copy comes between, and
 * submitted by `flush`, when there are {@link FIRST_COMMANDS} to {@link MAX_COMMANDS}, when the uniforms' ring is full or
 * freed memory has piled up, and before something that cannot be recorded.
 */
export class CommandStream implements Recorder {
  readonly #options: CommandStreamOptions;
  readonly #uniforms: UniformRing;
  readonly #uploads: UploadRing;
  readonly #bindGroups: BindGroupCache;
  #encoder: OpenEncoder | undefined;
  #commands = 0;
  /** This many commands are a batch. */
  #enough = FIRST_COMMANDS;
  /** While a caller adds its own commands, nothing else can be put in order. */
  #isEncoding = false;
  /** The ops in the batch, for the message when it fails. */
  readonly #ops = new Set<string>();
  #op = '';
  /** The judgement on the kernel whose launches the batch consists of, if the device has yet to judge it. */
  #judging: Promise<unknown> | undefined;
  readonly #scratch: StorageBuffer[] = [];
  readonly #sequences = new Set<PlannedSequence>();
  /** Buffers to destroy after the batch, which may use them. */
  readonly #retired: GPUBuffer[] = [];
  /** Makes the encoder of a batch; in its place stands what times dispatches. */
  makeEncoder = (): OpenEncoder => new OpenEncoder(this.#options.context.device);
  readonly runs: VariantRuns = new VariantRuns();

  constructor(options: CommandStreamOptions) {
    this.#options = options;
    this.#uniforms = new UniformRing(options.context.device);
    this.#uploads = new UploadRing(options.context.device);
    this.#bindGroups = new BindGroupCache(options.context, this.#uniforms);
  }

  get traits(): DeviceTraits {
    return this.#options.traits;
  }

  /** Records one op: `plan` gets this stream as its recorder. Scratch memory is released when it returns. */
  record(op: string, plan: (recorder: Recorder) => void): void {
    this.#assertNotEncoding();
    const outer = this.#op;
    const held = this.#scratch.length;
    this.#op = op;
    try {
      plan(this);
    } finally {
      this.#endOp(outer, held);
    }
  }

  #endOp(outer: string, held: number): void {
    this.#op = outer;
    while (this.#scratch.length > held) this.#options.pool.release(this.#scratch.pop() as StorageBuffer);
  }

  /** Records what was planned for an op, with the operands and the parameters of a call. */
  run(op: string, plan: LaunchPlan, operands: readonly Span[], params: readonly number[]): void {
    this.#assertNotEncoding();
    const outer = this.#op;
    const held = this.#scratch.length;
    this.#op = op;
    try {
      this.#place(operands, plan.written);
      const { steps, scratch } = plan;
      const memory = scratch.length === 0 ? operands : [...operands, ...scratch.map((bytes) => this.scratch(bytes))];
      const { maxBindingBytes } = this.#options.traits;
      const known = this.#bindGroups.ofPlan(plan, memory, maxBindingBytes);
      for (let index = 0; index < steps.length; index++) {
        const step = steps[index] as LaunchPlan['steps'][number];
        if ('dst' in step) {
          this.copy(spanAt(memory, step.dst), withinBuffer(spanAt(memory, step.src)));
          continue;
        }
        callWords(plan, step, params, memory, maxBindingBytes);
        const ready = known[index];
        if (ready !== undefined) {
          this.#add(ready, step, undefined);
          continue;
        }
        const kernel = this.#options.pipelines.now(step.kernel);
        const made = this.#ready(step, kernel, spansOf(step, memory, maxBindingBytes));
        this.#add(made, step.lastWords, kernel.judging);
        // Until its kernel is judged it has batches of its own.
        if (kernel.judging === undefined) known[index] = made;
      }
    } finally {
      this.#endOp(outer, held);
    }
  }

  /** Calls that will be queued again and again. */
  sequence(calls: readonly PlannedCall<StorageBuffer, LaunchPlan>[]): PlannedSequence {
    const { context, traits, pipelines, pool } = this.#options;
    const sequence = new PlannedSequence(calls, {
      context,
      traits,
      pipelines,
      pool,
      onCheck: (caught, what) => this.#check(caught, what),
      place: ({ op, plan, operands }) => this.record(op, () => this.#place(operands, plan.written)),
      run: ({ op, plan, operands, params }) => this.run(op, plan, operands, params),
      replay: (op, commands) => this.#replay(op, commands),
      runs: this.runs,
      retire: (buffer) => this.#retired.push(buffer),
      onRelease: () => this.#sequences.delete(sequence),
    });
    this.#sequences.add(sequence);
    return sequence;
  }

  #replay(op: string, commands: readonly ReadyCommand[]): void {
    this.record(op, () => {
      for (const command of commands) {
        if ('dst' in command) this.copy(command.dst, command.src);
        else this.#add(command, undefined, undefined);
      }
    });
  }

  launch(launch: Launch): void {
    for (const dispatch of dispatchesOf(launch, this.traits.maxWorkgroupsPerDimension)) {
      const { storage } = dispatch.kernel;
      this.#place(
        dispatch.spans,
        storage.flatMap(({ access }, index) => (access === 'read_write' ? [index] : [])),
      );
      const kernel = this.#options.pipelines.now(dispatch.kernel);
      this.#add(this.#ready(dispatch, kernel, dispatch.spans), dispatch.words, kernel.judging);
    }
  }

  scratch(bytes: number): Span {
    const buffer = this.#options.pool.take(bytes, `scratch of ${this.#op}`);
    this.#options.pool.ensureBacking(buffer, false);
    this.#scratch.push(buffer);
    return { buffer, byteOffset: 0, byteLength: bytes };
  }

  copy(dst: Span, src: Span): void {
    this.#place([dst, src], [0]);
    const [from, to] = [src.buffer.backing as Backing, dst.buffer.backing as Backing];
    const bytes = Math.min(src.byteLength, dst.byteLength);
    const encoder = this.#outsidePass(this.#op);
    encoder.copyBufferToBuffer(from.gpu, from.start + src.byteOffset, to.gpu, to.start + dst.byteOffset, bytes);
  }

  /** Sets `span` to zeros; offset and length are multiples of 4. */
  clear({ buffer, byteOffset, byteLength }: Span): void {
    const { gpu, start } = this.#options.pool.ensureBacking(buffer, true);
    this.#outsidePass('fill').clearBuffer(gpu, start + byteOffset, byteLength);
  }

  /** Writes host memory; offset and length are multiples of 4. The bytes may be changed when this returns. */
  write(span: Span, bytes: Uint8Array): void {
    this.#assertNotEncoding();
    if (bytes.byteLength <= MAX_UPLOAD_BYTES) {
      this.#writeSmall(span, bytes);
      return;
    }
    // `writeBuffer` overtakes what is recorded but not submitted.
    this.flush();
    // Of a shared buffer, it would crash Dawn.
    const source = bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : bytes.slice();
    const { context, pool } = this.#options;
    const { gpu, start } = pool.ensureBacking(span.buffer, true);
    const offset = start + span.byteOffset;
    const { caught } = inScopes(context, () => context.device.queue.writeBuffer(gpu, offset, source));
    this.#check(caught, 'copyHtod');
  }

  /** Copies into a buffer that is no storage memory, such as staging memory. */
  copyOut(dst: GPUBuffer, { buffer, byteOffset, byteLength }: Span): void {
    const { gpu, start } = this.#options.pool.ensureBacking(buffer, true);
    this.#outsidePass('copyDtoh').copyBufferToBuffer(gpu, start + byteOffset, dst, 0, byteLength);
  }

  /** The GPU buffer of memory, which is from now on its own and stays. */
  bufferOf(buffer: StorageBuffer): GPUBuffer {
    const { context, pool } = this.#options;
    const old = pool.relocate(buffer);
    const { gpu } = buffer.backing as Backing;
    if (old !== undefined) {
      // At once: commands that a caller is adding come after it.
      if (!this.#isEncoding) this.flush();
      const encoder = context.device.createCommandEncoder();
      encoder.copyBufferToBuffer(old.gpu, old.start, gpu, 0, buffer.size);
      const { caught } = inScopes(context, () => context.device.queue.submit([encoder.finish()]));
      this.#check(caught, 'bufferOf');
      pool.releaseBacking(old);
    }
    return gpu;
  }

  /**
   * Submits the caller's commands, after what is collected; `op` names them in messages. They are apart from
   * ours, so that what is wrong with them fails nothing else. When `callback` throws, they are dropped.
   *
   * @throws {BackendError} INVALID_ARGUMENT when `callback` does anything else with this stream, or returns a promise
   */
  encode(op: string, callback: (encoder: GPUCommandEncoder) => void): void {
    this.flush();
    const { context } = this.#options;
    const encoder = context.device.createCommandEncoder({ label: op });
    this.#isEncoding = true;
    try {
      refusePromise(callback(encoder));
    } finally {
      this.#isEncoding = false;
    }
    const { caught } = inScopes(context, () => context.device.queue.submit([encoder.finish()]));
    this.#check(caught, op);
  }

  /** Submits what is collected. */
  flush(): void {
    this.#assertNotEncoding();
    const encoder = this.#encoder;
    if (encoder !== undefined) {
      const ops = [...this.#ops].join(', ');
      const { context } = this.#options;
      const { caught } = inScopes(context, () => {
        this.#uniforms.upload();
        this.#uploads.upload();
        context.device.queue.submit([encoder.finish()]);
      });
      this.#check(caught, ops, this.#judging);
      this.#judging = undefined;
      this.#encoder = undefined;
      this.#commands = 0;
      this.#ops.clear();
    }
    for (const buffer of this.#retired.splice(0)) buffer.destroy();
    this.#enough = FIRST_COMMANDS;
    this.#options.pool.destroyRetired();
  }

  destroy(): void {
    for (const sequence of this.#sequences) sequence.release();
    for (const buffer of this.#retired.splice(0)) buffer.destroy();
    this.#uniforms.destroy();
    this.#uploads.destroy();
  }

  #writeSmall({ buffer, byteOffset }: Span, bytes: Uint8Array): void {
    const { gpu, start } = this.#options.pool.ensureBacking(buffer, true);
    if (this.#uploads.isFull) this.#submitBatch();
    const encoder = this.#outsidePass('copyHtod');
    encoder.copyBufferToBuffer(this.#uploads.gpu, this.#uploads.add(bytes), gpu, start + byteOffset, bytes.byteLength);
  }

  #assertNotEncoding(): void {
    if (!this.#isEncoding) return;
    throw new BackendError('INVALID_ARGUMENT', 'the callback of encode may only add commands to its encoder', {
      hint: 'call ops before or after encode',
    });
  }

  /** Submits what is collected while more is coming. */
  #submitBatch(): void {
    const next = Math.min(2 * this.#enough, MAX_COMMANDS);
    this.flush();
    this.#enough = next;
  }

  /**
   * Goes on in another batch: a pipeline that the device refuses fails all commands that are submitted with it, so while
   * the device has yet to judge one its launches are apart from all else.
   */
  #beginBatch(judging?: Promise<unknown>): void {
    const enough = this.#enough;
    this.flush();
    this.#enough = enough;
    this.#judging = judging;
    if (judging !== undefined) this.#watchJudgement(judging);
  }

  #ready(
    { kernel, grid, variant }: Pick<Dispatch, 'kernel' | 'grid' | 'variant'>,
    { pipeline, layout, judging }: ReadyKernel,
    spans: readonly Span[],
  ): ReadyDispatch {
    const group = this.#bindGroups.get(layout, spans, (caught) => this.#check(caught, kernel.name, judging));
    return { pipeline, group, offset: 0, grid, variant, runs: this.runs.of(variant) };
  }

  /** @param words - undefined where they lie in a buffer of their own; of a step those that it was last called with */
  #add(ready: ReadyDispatch, words: PlannedDispatch | Uint32Array | undefined, judging: ReadyKernel['judging']): void {
    if (this.#commands >= this.#enough || this.#uniforms.isFull) this.#submitBatch();
    if (this.#judging !== judging) this.#beginBatch(judging);
    // Only now, in the batch that the dispatch belongs to.
    if (words !== undefined) ready.offset = this.#uniforms.place(words);
    ready.runs.count++;
    this.#encoder ??= this.makeEncoder();
    this.#encoder.dispatch(ready);
    this.#commands++;
    this.#ops.add(this.#op);
  }

  /**
   * Gives operands that have no place yet one, and what is written a GPU buffer that no other of them lies in: WebGPU
   * refuses one that is both read and written, and copies within one.
   */
  #place(operands: readonly Span[], written: readonly number[]): void {
    const { pool } = this.#options;
    for (let index = 0; index < operands.length; index++) {
      const { buffer } = operands[index] as Span;
      if (buffer.backing === undefined) pool.ensureBacking(buffer, operands.length === 1);
    }
    for (let index = 0; index < written.length; index++) {
      const { buffer } = operands[written[index] as number] as Span;
      const backing = buffer.backing as Backing;
      if (backing.slab === undefined) continue;
      if (operands.every((other) => other.buffer === buffer || other.buffer.backing?.gpu !== backing.gpu)) continue;
      pool.relocate(buffer);
      const { gpu } = buffer.backing as Backing;
      this.#outsidePass(this.#op).copyBufferToBuffer(backing.gpu, backing.start, gpu, 0, buffer.size);
      pool.releaseBacking(backing);
    }
  }

  #outsidePass(op: string): GPUCommandEncoder {
    if (this.#commands >= this.#enough) this.#submitBatch();
    if (this.#judging !== undefined) this.#beginBatch();
    this.#commands++;
    this.#ops.add(op);
    this.#encoder ??= this.makeEncoder();
    return this.#encoder.outsidePass();
  }

  /** @param judging - the judgement on a kernel, whose refusal says more than the failure of what uses it */
  #check(caught: Scoped<unknown>['caught'], what: string, judging?: Promise<unknown>): void {
    const check = async (): Promise<void> => {
      const error = await caught;
      if (error === undefined || (await isRefused(judging))) return;
      this.#options.onError(toCodedError(error, what));
    };
    this.#options.onCheck(check());
  }

  #watchJudgement(judging: Promise<unknown>): void {
    const op = this.#op;
    const check = async (): Promise<void> => {
      try {
        await judging;
      } catch (error) {
        this.#options.onRefusal(annotate(error as BackendError, { op }));
      }
    };
    this.#options.onCheck(check());
  }
}

function isRefused(judging: Promise<unknown> | undefined): Promise<boolean> {
  return Promise.resolve(judging).then(
    () => false,
    () => true,
  );
}
