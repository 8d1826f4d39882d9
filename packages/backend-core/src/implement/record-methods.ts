import type { Recording } from '../contract/backend.ts';
import { describe } from '../contract/checks.ts';
import { annotate, isBackendError } from '../errors/backend-error.ts';
import { invalid } from '../errors/invalid.ts';
import type { ResolvedCall } from './backend-kernels.ts';
import { MemoryMethods } from './memory-methods.ts';
import { type Sequence, Tape } from './tape.ts';

/** `record`, for every backend: what a replay does was checked once. */
export abstract class RecordMethods<Buffer> extends MemoryMethods<Buffer> {
  /**
   * For implementers: calls that were queued, and will be again and again. Default: their kernels run again. A backend
   * that can prepare more than that does.
   */
  protected abstract doSequence(calls: readonly ResolvedCall<Buffer>[]): Sequence;

  record(work: (anew: (work: () => void) => void) => void): Recording {
    this.assertUsable('record');
    if (typeof work !== 'function') throw this.#refusal(`record takes a function, got ${describe(work)}`);
    if (this.tape !== undefined) throw this.#refusal('record must not be called while something is recorded');
    const tape = new Tape<Buffer>({
      sequence: (calls) => this.doSequence(calls),
      assertReplayable: () => {
        this.assertUsable('replay');
        if (this.tape !== undefined) throw this.#refusal('replay must not be called while something is recorded');
      },
      onDispose: () => {
        // What is closing frees all that is there.
        if (this.isDead) return;
        this.tapes.delete(tape);
        for (const buffer of tape.spareBuffers()) this.doFree(buffer);
      },
    });
    this.tape = tape;
    this.tapes.add(tape);
    try {
      refusePromise(work((each) => tape.anew(each)));
      tape.finish();
      return tape;
    } catch (error) {
      tape.dispose();
      throw isBackendError(error) ? annotate(error, { backend: this.name, op: 'record' }) : error;
    } finally {
      this.tape = undefined;
    }
  }

  #refusal(detail: string): Error {
    return annotate(invalid(detail), { backend: this.name, op: 'record' });
  }
}

/** @throws {BackendError} INVALID_ARGUMENT for what an async function returns: its calls would come too late */
function refusePromise(returned: unknown): void {
  if (typeof (returned as PromiseLike<unknown> | null | undefined)?.then !== 'function') return;
  // Nobody else waits for it.
  Promise.resolve(returned).catch(() => undefined);
  throw invalid('record takes a function that returns at once, got one that returns a promise');
}
