import { BackendError } from '@concord/backend-core';
import type { Sequence } from '@concord/backend-core/implement';
import { type PlannedCall, spanAt } from '@concord/variants';
import type { LaunchPlan, PlannedDispatch } from '../kernels/launch-plan.ts';
import type { DeviceTraits, Span, StorageBuffer } from '../kernels/recorder.ts';
import { BindGroupCache, callWords, spansOf, withinBuffer } from './bind-group-cache.ts';
import { MAX_UNIFORM_BYTES, type ReadyDispatch, type VariantRuns } from './batch.ts';
import type { BufferPool } from './buffer-pool.ts';
import { inScopes, type Scoped } from './errors.ts';
import { type GpuContext, USAGE } from './gpu-source.ts';
import type { PipelineCache, ReadyKernel } from './pipeline-cache.ts';

/** @throws {BackendError} INVALID_ARGUMENT for what an async function returns: its commands would come too late */
export function refusePromise(returned: unknown): void {
  if (typeof (returned as PromiseLike<unknown> | null | undefined)?.then !== 'function') return;
  // No other call waits for it.
  Promise.resolve(returned).catch(() => undefined);
  throw new BackendError('INVALID_ARGUMENT', 'the callback of encode must not return a promise', {
    hint: 'await what you need before encode, and add all commands before the callback returns',
  });
}

type Call = PlannedCall<StorageBuffer, LaunchPlan>;

/** The content of a sequence. */
export type ReadyCommand = ReadyDispatch | { readonly dst: Span; readonly src: Span };

/** The parts that a {@link PlannedSequence} works with. */
interface SequenceOptions {
  readonly context: GpuContext;
  readonly traits: DeviceTraits;
  readonly pipelines: PipelineCache;
  readonly pool: BufferPool;
  readonly onCheck: (caught: Scoped<unknown>['caught'], what: string) => void;
  /** Gives the operands of a call places that they may have together. */
  readonly place: (call: Call) => void;
  /** Queues a call as any other. */
  readonly run: (call: Call) => void;
  readonly runs: VariantRuns;
  readonly replay: (op: string, commands: readonly ReadyCommand[]) => void;
  /** Destroys a buffer once what is collected is submitted. */
  readonly retire: (buffer: GPUBuffer) => void;
  readonly onRelease: (sequence: PlannedSequence) => void;
}

/** Calls that are queued again and again: their bind groups are made once, their uniforms are written once. */
export class PlannedSequence implements Sequence {
  readonly #options: SequenceOptions;
  readonly #calls: readonly Call[];
  readonly #op: string;
  #commands: readonly ReadyCommand[] | undefined;
  #uniforms: GPUBuffer | undefined;
  #scratch: StorageBuffer[] = [];
  /** The backing of the memory that the commands use. */
  readonly #backings = new Map<StorageBuffer, StorageBuffer['backing']>();
  /** {@link BufferPool.moves} when that was looked at. */
  #moves = 0;

  constructor(calls: readonly Call[], options: SequenceOptions) {
    this.#calls = calls;
    this.#options = options;
    this.#op = [...new Set(calls.map(({ op }) => op))].join(', ');
  }

  run(): void {
    const { pool, replay, run } = this.#options;
    if (this.#commands === undefined || (this.#moves !== pool.moves && this.#hasMoved())) this.#prepare();
    this.#moves = pool.moves;
    if (this.#commands !== undefined) replay(this.#op, this.#commands);
    else for (const call of this.#calls) run(call);
  }

  release(): void {
    this.#forget();
    this.#options.onRelease(this);
  }

  /** Makes the commands, if the device has judged all of their pipelines. */
  #prepare(): void {
    const { context, onCheck } = this.#options;
    this.#forget();
    const dispatches = this.#calls.flatMap(({ plan }) => plan.steps.flatMap((step) => ('dst' in step ? [] : step)));
    const ready = this.#readyKernels(dispatches);
    if (ready === undefined) return;
    // One call may move what another one has.
    for (const call of this.#calls) this.#options.place(call);
    this.#takeScratch();

    const stride = Math.max(MAX_UNIFORM_BYTES, context.device.limits.minUniformBufferOffsetAlignment);
    const size = Math.max(1, dispatches.length) * stride;
    const made = inScopes(context, () =>
      context.device.createBuffer({ size, usage: USAGE.uniform | USAGE.copyDst, label: 'uniforms of a recording' }),
    );
    onCheck(made.caught, this.#op);
    this.#uniforms = made.value;
    const groups = new BindGroupCache(context, { gpu: made.value });
    const words = new Uint32Array(size / 4);
    let index = 0;
    this.#commands = this.#calls.flatMap(({ plan, operands, params }) => {
      const scratch = plan.scratch.map((byteLength, which) => {
        return { buffer: this.#scratch[which] as StorageBuffer, byteOffset: 0, byteLength };
      });
      const memory = [...operands, ...scratch];
      const { maxBindingBytes } = this.#options.traits;
      for (const { buffer } of memory) this.#backings.set(buffer, buffer.backing);
      return plan.steps.map((step): ReadyCommand => {
        if ('dst' in step) return { dst: spanAt(memory, step.dst), src: withinBuffer(spanAt(memory, step.src)) };
        const { pipeline, layout } = ready[index] as (typeof ready)[number];
        const spans = spansOf(step, memory, maxBindingBytes);
        const group = groups.get(layout, spans, (caught) => onCheck(caught, step.kernel.name));
        const offset = stride * index++;
        words.set(callWords(plan, step, params, memory, maxBindingBytes), offset / 4);
        const { grid, variant } = step;
        return { pipeline, group, offset, grid, variant, runs: this.#options.runs.of(variant) };
      });
    });
    const written = inScopes(context, () => context.device.queue.writeBuffer(made.value, 0, words));
    onCheck(written.caught, this.#op);
  }

  #hasMoved(): boolean {
    for (const [buffer, backing] of this.#backings) if (buffer.backing !== backing) return true;
    return false;
  }

  /**
   * Returns the kernels; undefined if the device has yet to judge one of them, or has refused it: then the call that
   * needs it says so.
   */
  #readyKernels(dispatches: readonly PlannedDispatch[]): ReadyKernel[] | undefined {
    try {
      const ready = dispatches.map(({ kernel }) => this.#options.pipelines.now(kernel));
      return ready.some(({ judging }) => judging !== undefined) ? undefined : ready;
    } catch {
      return undefined;
    }
  }

  /** Calls of one sequence use the same scratch memory, one after the other. */
  #takeScratch(): void {
    const { pool } = this.#options;
    const sizes: number[] = [];
    for (const { plan } of this.#calls) {
      for (const [which, bytes] of plan.scratch.entries()) sizes[which] = Math.max(bytes, sizes[which] ?? 0);
    }
    this.#scratch = sizes.map((bytes) => {
      const buffer = pool.take(bytes, `scratch of ${this.#op}`);
      pool.ensureBacking(buffer, false);
      return buffer;
    });
  }

  #forget(): void {
    for (const buffer of this.#scratch) this.#options.pool.release(buffer);
    this.#scratch = [];
    this.#commands = undefined;
    this.#backings.clear();
    if (this.#uniforms !== undefined) this.#options.retire(this.#uniforms);
    this.#uniforms = undefined;
  }
}
