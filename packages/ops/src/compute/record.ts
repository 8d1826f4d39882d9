/// <reference lib="esnext.disposable" preserve="true" />
import { BackendError, type ComputeBackend } from '@concord/backend-core';
import { checkBackend, shown } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';
import { keepAll, keepNone } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** Runs a function now, and again in each replay, in its place among what was recorded. */
export type Anew = (work: () => unknown) => void;

/** Work that was recorded, and what it gave. */
export interface Recorded<Result> extends Disposable {
  /** The result of the recorded function: each replay fills its tensors again, which are the recording's. */
  readonly result: Result;
  /**
   * Queues the work again: the same calls, on the same memory, with the same numbers.
   *
   * @throws {BackendError} INVALID_ARGUMENT after `dispose`, when a tensor that it uses was disposed, while something is
   *   recorded, and in what it runs anew; DISPOSED, DEVICE_LOST
   */
  replay(): void;
  /** Gives back the recording and every tensor that was made in it. Idempotent. */
  dispose(): void;
}

/**
 * Runs a function, and takes down what it queues: a replay queues it again for a small part of what the calls cost the host.
 * Worth it for steps of many small calls, such as a token of a transformer.
 *
 * Numbers and places that change from step to step are given to `anew`, whose function is run at each replay and writes into
 * tensors that are there (`out`). All tensors that are made in the recording live as long as it does; `tidy` in it disposes none.
 *
 * @param backend - whose calls are taken down; those of tensors on another one are only made
 * @param work - must not wait for anything
 * @throws {BackendError} INVALID_ARGUMENT when `work` waits, records, replays or returns a promise
 * @throws {BackendError} UNSUPPORTED by a backend without `record`
 * @example
 * ```ts
 * const x = tensor(backend, [1, 2]);
 * const squares = record(backend, () => mul(x, x));
 * await squares.result.toArray(); // [1, 4]
 * add(x, 2, { out: x });
 * squares.replay();
 * await squares.result.toArray(); // [9, 16]
 * squares.dispose();
 * ```
 */
export function record<Result>(backend: ComputeBackend, work: (anew: Anew) => Result): Recorded<Result> {
  if (typeof (backend as ComputeBackend | null | undefined)?.name !== 'string') checkBackend('record', backend);
  if (backend.record === undefined) {
    throw new BackendError('UNSUPPORTED', `${backend.name} cannot record`, { backend: backend.name, op: 'record' });
  }
  if (typeof work !== 'function') throw refuse('record', `takes a function, got ${shown(work)}`);
  const tensors: Tensor[] = [];
  const disposeTensors = (): void => {
    for (const tensor of tensors.splice(0)) tensor.dispose();
  };
  let result: Result | undefined;
  try {
    const recording = backend.record((anew) => {
      result = keepAll(tensors, () => work((each) => anew(() => keepNone(each))));
      return result;
    });
    const dispose = (): void => {
      recording.dispose();
      disposeTensors();
    };
    return { result: result as Result, replay: () => recording.replay(), dispose, [Symbol.dispose]: dispose };
  } catch (error) {
    disposeTensors();
    throw error;
  }
}
