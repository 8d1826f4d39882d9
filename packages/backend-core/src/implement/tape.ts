import type { Recording } from '../contract/backend.ts';
import { invalid } from '../errors/invalid.ts';
import type { Allocation } from './allocation-table.ts';
import type { ResolvedCall } from './backend-kernels.ts';
import { operandsOf } from './call-operands.ts';
import type { Operand } from './operand.ts';

/** Calls that are queued again and again. */
export interface Sequence {
  /** Queues them, as if each of them was made now. */
  run(): void;
  /** Gives back what {@link Sequence.run} needs. It is not called any more. */
  release(): void;
}

/** What a {@link Tape} needs of its backend. */
export interface TapeOptions<Buffer> {
  readonly sequence: (calls: readonly ResolvedCall<Buffer>[]) => Sequence;
  readonly assertReplayable: () => void;
  /** Gives back {@link Tape.spareBuffers}. */
  readonly onDispose: () => void;
}

type Step<Buffer> = ResolvedCall<Buffer> | (() => void);

/**
 * What `record` has taken down: calls with their operands in device memory, copies and fills, and what the caller runs
 * anew. Memory that was allocated and freed meanwhile stays, since a replay writes it again.
 */
export class Tape<Buffer> implements Recording {
  readonly #options: TapeOptions<Buffer>;
  readonly #steps: Step<Buffer>[] = [];
  readonly #uses = new Set<Buffer>();
  /** Memory that was allocated in it. */
  readonly #made = new Set<Buffer>();
  /** Of that, what was freed in it, by size: the next allocation of that size gets it. */
  readonly #spare = new Map<number, Buffer[]>();
  readonly #sequences: Sequence[] = [];
  #replays: (() => void)[] = [];
  #isFinished = false;
  #stale: string | undefined;
  #isRunningAnew = false;
  #isDisposed = false;

  constructor(options: TapeOptions<Buffer>) {
    this.#options = options;
  }

  /** Whether calls are taken down: until the end, but not in what is run anew. */
  get isRecording(): boolean {
    return !this.#isFinished && !this.#isRunningAnew;
  }

  /** Memory that was freed and is kept. */
  *spareBuffers(): Generator<Buffer> {
    for (const buffers of this.#spare.values()) yield* buffers;
  }

  /** Bytes of it. */
  get spareBytes(): number {
    let bytes = 0;
    for (const [size, buffers] of this.#spare) bytes += size * buffers.length;
    return bytes;
  }

  call(call: ResolvedCall<Buffer>): void {
    if (!this.isRecording) return;
    for (const { buffer } of operandsOf(call)) this.#uses.add(buffer);
    this.#steps.push(call);
  }

  memory(operands: readonly Operand<Buffer>[], queue: () => void): void {
    if (!this.isRecording) return;
    for (const { buffer } of operands) this.#uses.add(buffer);
    this.#steps.push(queue);
  }

  anew(work: () => void): void {
    if (!this.isRecording) throw invalid('anew works directly in the function that record is given, while it runs');
    this.#steps.push(work);
    this.#isRunningAnew = true;
    try {
      work();
    } finally {
      this.#isRunningAnew = false;
    }
  }

  /** Memory of exactly that size, freed earlier in the recording. */
  reuse(bytes: number): Buffer | undefined {
    return this.#spare.get(bytes)?.pop();
  }

  allocated(buffer: Buffer): void {
    this.#made.add(buffer);
  }

  /** Is told of each allocation that is freed. @returns whether the recording keeps the memory */
  freed({ buffer, bytes, label }: Allocation<Buffer>): boolean {
    if (!this.#isFinished && this.#made.has(buffer)) {
      const spare = this.#spare.get(bytes);
      if (spare === undefined) this.#spare.set(bytes, [buffer]);
      else spare.push(buffer);
      return true;
    }
    const what = label === undefined ? `an allocation of ${bytes} bytes` : `the allocation "${label}"`;
    if (this.#uses.has(buffer)) this.#stale ??= what;
    return false;
  }

  /** @throws {BackendError} INVALID_ARGUMENT while calls are taken down */
  refuse(op: string): void {
    if (!this.isRecording) return;
    throw invalid(`${op} cannot be recorded`, { hint: `call ${op} after record, or in what it runs anew` });
  }

  /** Ends the recording: from now on it can be replayed. */
  finish(): void {
    this.#isFinished = true;
    let calls: ResolvedCall<Buffer>[] = [];
    const flush = (): void => {
      if (calls.length === 0) return;
      const sequence = this.#options.sequence(calls);
      this.#sequences.push(sequence);
      this.#replays.push(() => sequence.run());
      calls = [];
    };
    for (const step of this.#steps) {
      if (typeof step !== 'function') {
        calls.push(step);
        continue;
      }
      flush();
      this.#replays.push(step);
    }
    flush();
    this.#steps.length = 0;
  }

  replay(): void {
    if (this.#isDisposed) throw invalid('the recording was disposed');
    this.#options.assertReplayable();
    if (this.#stale !== undefined) {
      throw invalid(`the recording uses memory that was freed: ${this.#stale}`, { hint: 'record again' });
    }
    for (const step of this.#replays) step();
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    for (const sequence of this.#sequences) sequence.release();
    this.#replays = [];
    this.#options.onDispose();
  }
}
