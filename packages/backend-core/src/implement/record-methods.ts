import type { MemorySlot, Recording, RecordOptions } from '../contract/backend.ts';
import { checkOptions, checkPointerType, checkPositive, describe } from '../contract/checks.ts';
import { checkFields } from '../contract/fields.ts';
import { annotate, isBackendError } from '../errors/backend-error.ts';
import { invalid } from '../errors/invalid.ts';
import { reading } from '../errors/reading.ts';
import type { Launch } from './backend-kernels.ts';
import { Capture, type Sequence } from './capture.ts';
import { MemoryMethods } from './memory-methods.ts';
import { RecordingSlots } from './recording-slots.ts';

/** `record`, for every backend: what a replay does was checked once. */
export abstract class RecordMethods<Buffer> extends MemoryMethods<Buffer> {
  /** Prepares calls that were queued and will be queued again and again. Default: their kernels run again. */
  protected abstract doSequence(calls: readonly Launch<Buffer>[]): Sequence;

  /** Queues a sequence. A trace puts its calls in its place. */
  protected runSequence(sequence: Sequence, _calls: readonly Launch<Buffer>[]): void {
    sequence.run();
  }

  record(work: () => void, options: RecordOptions = {}): Recording {
    this.assertUsable('record');
    return this.#named('record', () => {
      if (typeof work !== 'function') throw invalid(`record takes a function, got ${describe(work)}`);
      const slots = reading('options', () => readSlots(options));
      // The getters of the options may have done anything.
      this.assertUsable('record');
      this.#assertIdle('record');
      const capture = this.#open(new RecordingSlots(this.allocations, slots));
      try {
        refusePromise(work());
        capture.finish();
      } catch (error) {
        capture.dispose();
        throw error;
      } finally {
        this.capture = undefined;
      }
      return Object.freeze({
        replay: (given?: unknown) => this.#named('replay', () => capture.replay(given)),
        dispose: () => this.#named('dispose', () => capture.dispose()),
      });
    });
  }

  #open(slots: RecordingSlots<Buffer>): Capture<Buffer> {
    const capture = new Capture<Buffer>({
      slots,
      sequence: (calls) => this.doSequence(calls),
      run: (sequence, calls) => this.runSequence(sequence, calls),
      assertReplayable: () => {
        this.assertUsable('replay');
        this.#assertIdle('replay');
      },
      onDispose: () => {
        // What is closing frees all that is there.
        if (this.isDead) return;
        this.captures.delete(capture);
        for (const buffer of capture.takeSpare()) this.doFree(buffer);
      },
    });
    this.capture = capture;
    this.captures.add(capture);
    return capture;
  }

  #assertIdle(op: string): void {
    if (this.capture !== undefined) throw invalid(`${op} must not be called while something is recorded`);
  }

  /** Errors of a backend say where they are from; those of the caller's own function are left alone. */
  #named<T>(op: string, action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw isBackendError(error) ? annotate(error, { backend: this.name, op }) : error;
    }
  }
}

/** @throws {BackendError} INVALID_ARGUMENT for what an async function returns: its calls would come too late */
function refusePromise(returned: unknown): void {
  if (typeof (returned as PromiseLike<unknown> | null | undefined)?.then !== 'function') return;
  // No other call waits for it.
  Promise.resolve(returned).catch(() => undefined);
  throw invalid('record takes a function that returns at once, got one that returns a promise');
}

/** @throws {BackendError} INVALID_ARGUMENT */
function readSlots(options: RecordOptions): ReadonlyMap<string, MemorySlot> {
  checkOptions(options);
  checkFields('record', options, ['slots']);
  const { slots = {} } = options;
  if (typeof slots !== 'object' || slots === null) throw invalid(`slots must be an object, got ${describe(slots)}`);
  const read = new Map<string, MemorySlot>();
  for (const name of Object.keys(slots)) {
    const slot: unknown = slots[name];
    if (slot === undefined) continue;
    if (typeof slot !== 'object' || slot === null) {
      throw invalid(`slots.${name} must be { ptr, bytes }, got ${describe(slot)}`);
    }
    checkFields(`slots.${name}`, slot, ['ptr', 'bytes']);
    const { ptr, bytes } = slot as MemorySlot;
    checkPointerType(`slots.${name}.ptr`, ptr);
    checkPositive(`slots.${name}.bytes`, bytes);
    read.set(name, { ptr, bytes });
  }
  return read;
}
