import { annotate } from '@concord/backend-core/implement';
import type { BackendError } from '@concord/backend-core';
import { type CommandListHandle, type FenceHandle, handleIn, handleSlot } from '../ffi/prototypes.ts';
import { RESULTS } from '../ffi/result.ts';
import { Struct } from '../ffi/structs.ts';
import type { OpenDevice } from './open-device.ts';

/** A wait on another thread ends after this long, and is begun again while a caller wants it. */
const SLICE_NS = 100_000_000;
/** Lists that are done and kept for later. */
const MAX_IDLE = 64;

/** A command list with the fence that tells when it is done. */
interface Submission {
  readonly list: CommandListHandle;
  readonly fence: FenceHandle;
  /** Number of its submit, ascending. */
  sequence: number;
  /** The ops in it, for the message when it fails. */
  ops: string;
}

interface Waiter {
  readonly sequence: number;
  readonly isWanted: () => boolean;
  readonly resolve: (isDone: boolean) => void;
  readonly reject: (error: BackendError) => void;
}

/**
 * Command lists on their way through the queue, numbered by when they were submitted. Lists and fences are used again
 * when their work is done.
 */
export class Submissions {
  readonly #device: OpenDevice;
  /** Submitted and not known to be done, oldest first. */
  readonly #running: Submission[] = [];
  readonly #idle: Submission[] = [];
  #open: Submission | undefined;
  #submitted = 0;
  #completed = 0;
  #waiters: Waiter[] = [];
  /** A thread of koffi's waits at its fence, which must not be reset or destroyed before the thread is back. */
  #awaited: Submission | undefined;
  #back: Promise<void> = Promise.resolve();
  /** The first submit that the queue refused: it, and what is submitted after it, is never done. */
  #refused: { readonly sequence: number; readonly error: BackendError } | undefined;
  /** Called with each failure of work that was submitted. */
  readonly #onError: (error: BackendError) => void;

  constructor(device: OpenDevice, onError: (error: BackendError) => void) {
    this.#device = device;
    this.#onError = onError;
  }

  /** Number of the last submit. */
  get submitted(): number {
    return this.#submitted;
  }

  /** Number that the next submit will have: what is recorded now is done when this one is. */
  get next(): number {
    return this.#submitted + 1;
  }

  /** True if commands are recorded that are not submitted. */
  get isRecording(): boolean {
    return this.#open !== undefined;
  }

  /** All submits up to this number are done, as far as was looked. */
  get completed(): number {
    return this.#completed;
  }

  /** The list that commands are recorded into. */
  get list(): CommandListHandle {
    this.#open ??= this.#idle.pop() ?? this.#create();
    return this.#open.list;
  }

  /** Hands the list to the queue; `ops` are what is in it. */
  submit(ops: string): void {
    const submission = this.#open;
    if (submission === undefined) return;
    this.#open = undefined;
    submission.ops = ops;
    submission.sequence = ++this.#submitted;
    const { api, queue } = this.#device;
    this.#running.push(submission);
    try {
      this.#device.check(api.zeCommandListClose(submission.list), 'zeCommandListClose');
      const execute = 'zeCommandQueueExecuteCommandLists';
      this.#listSlot[0] = submission.list;
      this.#device.check(api[execute](queue, 1, this.#listSlot, submission.fence), execute);
    } catch (error) {
      // Its fence will never be signaled. What it held stays in use: how far the device got is unknown.
      const failure = annotate(error as BackendError, { op: ops });
      this.#refused ??= { sequence: submission.sequence, error: failure };
      this.#onError(failure);
      throw failure;
    }
  }

  readonly #listSlot: BigUint64Array = new BigUint64Array(1);

  /** Looks which submits are done, without waiting. */
  poll(): number {
    for (let oldest = this.#running[0]; oldest !== undefined; oldest = this.#running[0]) {
      const result = this.#device.api.zeFenceQueryStatus(oldest.fence);
      if (result === RESULTS.NOT_READY) break;
      if (result !== RESULTS.SUCCESS) {
        this.#fail(oldest, result, 'zeFenceQueryStatus');
        break;
      }
      this.#recycle(oldest);
    }
    return this.#completed;
  }

  /**
   * Resolves with true when a submit is done, with false when `isWanted` turned false first.
   *
   * @throws {BackendError} the failure of the work
   */
  wait(sequence: number, isWanted: () => boolean): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.poll();
      if (sequence <= this.#completed) {
        resolve(true);
        return;
      }
      if (this.#refused !== undefined && sequence >= this.#refused.sequence) {
        reject(this.#refused.error);
        return;
      }
      this.#waiters.push({ sequence, isWanted, resolve, reject });
      if (this.#awaited === undefined) this.#waitForOldest();
    });
  }

  /** Resolves when no thread waits at a fence any more: within a slice, and soon where the fence is signaled. */
  settled(): Promise<void> {
    return this.#back;
  }

  /** Waits on this thread, at most this long. Returns whether the submit is done. */
  waitNow(sequence: number, milliseconds: number): boolean {
    const submission = this.#running.find((each) => each.sequence === sequence);
    if (submission !== undefined) this.#device.api.zeFenceHostSynchronize(submission.fence, milliseconds * 1_000_000);
    return this.poll() >= sequence;
  }

  /** Frees the lists and fences. Whether all were done and settled; if not, they are left to the driver. */
  destroy(): boolean {
    if (this.#running.length > 0 || this.#awaited !== undefined) return false;
    const { api } = this.#device;
    const all = this.#open === undefined ? this.#idle : [...this.#idle, this.#open];
    for (const { list, fence } of all) {
      api.zeFenceDestroy(fence);
      api.zeCommandListDestroy(list);
    }
    this.#idle.length = 0;
    this.#open = undefined;
    return true;
  }

  /** The thread of koffi's that waits is at the oldest submit that anybody waits for. */
  #waitForOldest(): void {
    this.#waiters = this.#waiters.filter((waiter) => {
      if (waiter.isWanted()) return true;
      waiter.resolve(false);
      return false;
    });
    const first = this.#waiters.reduce((min, { sequence }) => Math.min(min, sequence), Infinity);
    const submission = this.#running.find(({ sequence }) => sequence >= first);
    if (submission === undefined) return;
    const call = 'zeFenceHostSynchronize';
    let isBack = (): void => undefined;
    try {
      this.#device.api[call].async(submission.fence, SLICE_NS, (error, result) => {
        this.#awaited = undefined;
        isBack();
        if (submission.sequence <= this.#completed) this.#reuse(submission);
        if (error !== null) this.#reject(this.#device.error(RESULTS.ERROR_UNKNOWN, call, { cause: error }));
        else if (result === RESULTS.SUCCESS || result === RESULTS.NOT_READY) this.#settle();
        else this.#fail(submission, result, call);
        this.#waitForOldest();
      });
      this.#awaited = submission;
      this.#back = new Promise((resolve) => (isBack = resolve));
    } catch (cause) {
      // More calls are under way than koffi takes, by other code in this process.
      this.#reject(this.#device.error(RESULTS.ERROR_UNKNOWN, call, { cause }));
    }
  }

  #settle(): void {
    this.poll();
    const done = this.#waiters.filter(({ sequence }) => sequence <= this.#completed);
    this.#waiters = this.#waiters.filter(({ sequence }) => sequence > this.#completed);
    for (const { resolve } of done) resolve(true);
  }

  #fail({ ops }: Submission, result: number, call: string): void {
    const error = this.#device.error(result, call, { op: ops });
    this.#onError(error);
    this.#reject(error);
  }

  #reject(error: BackendError): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const { reject } of waiters) reject(error);
  }

  /** The oldest running submit is done. */
  #recycle(submission: Submission): void {
    this.#running.shift();
    this.#completed = submission.sequence;
    if (submission !== this.#awaited) this.#reuse(submission);
  }

  /** Keeps the list and fence of a submit that is done, if they are worth it. */
  #reuse(submission: Submission): void {
    const { api } = this.#device;
    const isReusable =
      this.#idle.length < MAX_IDLE &&
      api.zeFenceReset(submission.fence) === RESULTS.SUCCESS &&
      api.zeCommandListReset(submission.list) === RESULTS.SUCCESS;
    if (isReusable) {
      this.#idle.push(submission);
    } else {
      api.zeFenceDestroy(submission.fence);
      api.zeCommandListDestroy(submission.list);
    }
  }

  #create(): Submission {
    const { api, context, device, queue, queueOrdinal } = this.#device;
    const list = handleSlot<'command list'>();
    const description = new Struct('ze_command_list_desc_t').set('commandQueueGroupOrdinal', queueOrdinal);
    this.#device.check(api.zeCommandListCreate(context, device, description.bytes, list), 'zeCommandListCreate');
    const fence = handleSlot<'fence'>();
    const result = api.zeFenceCreate(queue, new Struct('ze_fence_desc_t').bytes, fence);
    if (result !== RESULTS.SUCCESS) {
      api.zeCommandListDestroy(handleIn(list));
      throw this.#device.error(result, 'zeFenceCreate');
    }
    return { list: handleIn(list), fence: handleIn(fence), sequence: 0, ops: '' };
  }
}
