import type { Recording } from '../contract/backend.ts';
import { describe } from '../contract/checks.ts';
import { invalid } from '../errors/invalid.ts';
import type { Allocation } from './allocation-table.ts';
import type { Launch } from './backend-kernels.ts';
import type { Operand } from './operand.ts';

/** Calls that are queued again and again. */
export interface Sequence {
  /** Queues them, as if each of them was made now. */
  run(): void;
  /** Gives back what {@link Sequence.run} needs. It is not called any more. */
  release(): void;
}

/** The parts of its backend that a {@link Capture} needs. */
export interface CaptureOptions<Buffer> {
  readonly sequence: (calls: readonly Launch<Buffer>[]) => Sequence;
  readonly assertReplayable: () => void;
  /** Gives back {@link Capture.takeSpare}. */
  readonly onDispose: () => void;
}

type Step<Buffer> = Launch<Buffer> | (() => void);

/**
 * The content of a recording: calls with their operands in device memory, copies and fills, and what the caller runs
 * anew. Memory that was allocated and freed meanwhile stays, since a replay writes it again.
 */
export class Capture<Buffer> implements Recording {
  readonly #options: CaptureOptions<Buffer>;
  readonly #steps: Step<Buffer>[] = [];
  readonly #uses = new Set<Buffer>();
  /** Memory that was allocated in it. */
  readonly #made = new Set<Buffer>();
  /** Of that, what was freed in it. */
  #spare: Allocation<Buffer>[] = [];
  #sequences: Sequence[] = [];
  #replays: (() => void)[] = [];
  #state: 'recording' | 'running anew' | 'ready' | 'replaying' | 'disposed' = 'recording';
  #freed: string | undefined;

  constructor(options: CaptureOptions<Buffer>) {
    this.#options = options;
  }

  /** True if calls are taken down: until the end, but not in what is run anew. */
  get isRecording(): boolean {
    return this.#state === 'recording';
  }

  /** Bytes that were freed and are kept. */
  get spareBytes(): number {
    return this.#spare.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Memory that was freed and is kept. */
  *spareBuffers(): Generator<Buffer> {
    for (const { buffer } of this.#spare) yield buffer;
  }

  /** The same, which is the caller's from now on. */
  takeSpare(): Buffer[] {
    const buffers = this.#spare.map(({ buffer }) => buffer);
    this.#spare = [];
    return buffers;
  }

  /** Takes a call down. */
  call(call: Launch<Buffer>): void {
    if (!this.isRecording) return;
    for (const { buffer } of call.operands) this.#uses.add(buffer);
    this.#steps.push(call);
  }

  /** Takes a copy or fill down. */
  memory(operands: readonly Operand<Buffer>[], queue: () => void): void {
    if (!this.isRecording) return;
    for (const { buffer } of operands) this.#uses.add(buffer);
    this.#steps.push(queue);
  }

  /** @throws {BackendError} INVALID_ARGUMENT for what is no function or returns a promise, and within another one */
  anew(work: () => unknown): void {
    if (!this.isRecording) throw invalid('anew works directly in the function that record is given, while it runs');
    if (typeof work !== 'function') throw invalid(`anew takes a function, got ${describe(work)}`);
    const step = (): void => refusePromise('anew', work());
    this.#steps.push(step);
    this.#state = 'running anew';
    try {
      step();
    } finally {
      this.#state = 'recording';
    }
  }

  /** Is told of each allocation that is made while calls are taken down. */
  allocated(buffer: Buffer): void {
    this.#made.add(buffer);
  }

  /** Is told of each allocation that is freed. @returns whether the recording keeps the memory */
  freed(allocation: Allocation<Buffer>): boolean {
    const { buffer, bytes, label } = allocation;
    if (this.#state !== 'ready' && this.#state !== 'replaying' && this.#made.has(buffer)) {
      this.#spare.push(allocation);
      return true;
    }
    const what = label === undefined ? `an allocation of ${bytes} bytes` : `the allocation "${label}"`;
    if (this.#uses.has(buffer)) this.#freed ??= what;
    return false;
  }

  /** @throws {BackendError} INVALID_ARGUMENT while calls are taken down */
  refuse(op: string): void {
    if (!this.isRecording) return;
    throw invalid(`${op} cannot be recorded`, { hint: `call ${op} after record, or in what it runs anew` });
  }

  /** Ends the recording: from now on it can be replayed. */
  finish(): void {
    this.#state = 'ready';
    this.#made.clear();
    let calls: Launch<Buffer>[] = [];
    const flush = (): void => {
      if (calls.length === 0) return;
      const sequence = this.#options.sequence(calls);
      this.#sequences.push(sequence);
      this.#replays.push(() => sequence.run());
      calls = [];
    };
    for (const step of this.#steps.splice(0)) {
      if (typeof step !== 'function') {
        calls.push(step);
        continue;
      }
      flush();
      this.#replays.push(step);
    }
    flush();
  }

  replay(): void {
    if (this.#state === 'disposed') throw invalid('the recording was disposed');
    if (this.#state === 'replaying') throw invalid('a recording must not be replayed in what it runs anew');
    this.#assertReplayable();
    this.#state = 'replaying';
    try {
      for (const step of this.#replays) {
        // Each time: what runs anew may free memory, and dispose the backend.
        this.#assertReplayable();
        step();
      }
    } finally {
      this.#state = 'ready';
    }
  }

  #assertReplayable(): void {
    this.#options.assertReplayable();
    if (this.#freed === undefined) return;
    throw invalid(`the recording uses memory that was freed: ${this.#freed}`, { hint: 'record again' });
  }

  dispose(): void {
    if (this.#state === 'disposed') return;
    if (this.#state === 'replaying') throw invalid('a recording must not be disposed in what it runs anew');
    this.#state = 'disposed';
    for (const sequence of this.#sequences) sequence.release();
    this.#sequences = [];
    this.#replays = [];
    this.#uses.clear();
    this.#options.onDispose();
  }
}

/** @throws {BackendError} INVALID_ARGUMENT for what an async function returns: its calls would come too late */
export function refusePromise(op: string, returned: unknown): void {
  if (typeof (returned as PromiseLike<unknown> | null | undefined)?.then !== 'function') return;
  // No other call waits for it.
  Promise.resolve(returned).catch(() => undefined);
  throw invalid(`${op} takes a function that returns at once, got one that returns a promise`);
}
