import type { Recording } from '../contract/backend.ts';
import { describe } from '../contract/checks.ts';
import { annotate, isBackendError } from '../errors/backend-error.ts';
import { invalid } from '../errors/invalid.ts';
import type { Launch } from './backend-kernels.ts';
import { Capture, refusePromise, type Sequence } from './capture.ts';
import { MemoryMethods } from './memory-methods.ts';

/** `record`, for every backend: what a replay does was checked once. */
export abstract class RecordMethods<Buffer> extends MemoryMethods<Buffer> {
  /**
   * For implementers: calls that were queued, and will be again and again. Default: their kernels run again. A backend
   * that can prepare more than that does.
   */
  protected abstract doSequence(calls: readonly Launch<Buffer>[]): Sequence;

  record(work: (anew: (work: () => void) => void) => void): Recording {
    this.assertUsable('record');
    return this.#named('record', () => {
      if (typeof work !== 'function') throw invalid(`record takes a function, got ${describe(work)}`);
      this.#assertIdle('record');
      const capture = this.#open();
      try {
        refusePromise(
          'record',
          work((each) => capture.anew(each)),
        );
        capture.finish();
      } catch (error) {
        capture.dispose();
        throw error;
      } finally {
        this.capture = undefined;
      }
      return Object.freeze({
        replay: () => this.#named('replay', () => capture.replay()),
        dispose: () => this.#named('dispose', () => capture.dispose()),
      });
    });
  }

  #open(): Capture<Buffer> {
    const capture = new Capture<Buffer>({
      sequence: (calls) => this.doSequence(calls),
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

  /** Errors of a backend say where they are from; those of the caller's own functions are left alone. */
  #named<T>(op: string, action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw isBackendError(error) ? annotate(error, { backend: this.name, op }) : error;
    }
  }
}
