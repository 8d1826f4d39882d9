import { BackendError } from '@concord/backend-core';
import { LAYOUT as L } from './layout.ts';
import type { MachineEvents } from './machine.ts';

/** A caller that waits for a place in the ring looks that often. */
const LOOK_MS = 1;
/** The time without a tile taken after which a caller that waits asks whether the workers are still there. */
const ASK_MS = 100;
/** Workers that do nothing for that long are taken to hang: one tile of the largest ops takes tens of seconds on a busy machine. */
const STALL_MS = 60_000;
/** The most of the time between two looks that counts. */
const MAX_STEP_MS = 100;

/** The arguments of a slot besides the counters. */
export interface SlotContent {
  readonly tiles: number;
  readonly codeIndex: number;
  readonly codeVersion: number;
  readonly codeAddress: number;
  readonly codeBytes: number;
  readonly scratchAddress: number;
  readonly scratchBytes: number;
  /** The arguments, at `argsAddress` or in the slot. */
  readonly args: Uint32Array | readonly number[];
  readonly argsAddress: number | undefined;
}

/** The caller's end of the ring of commands; the workers' is `serveRing`. */
export class CommandRing {
  readonly #words: Int32Array;
  readonly #threads: number;
  readonly #whatIsGone: () => string | undefined;
  readonly #events: MachineEvents;
  #queued = 0;
  #done = 0;
  /** Slots of commands before this one are free. */
  #left = 0;

  /**
   * @param whatIsGone - gives the message about a worker that has ended, where that can be seen while the caller blocks
   * @param events - told before `waitUntil` throws
   */
  constructor(
    memory: WebAssembly.Memory,
    threads: number,
    whatIsGone: () => string | undefined,
    events: MachineEvents,
  ) {
    this.#words = new Int32Array(memory.buffer, 0, L.slots + L.slotCount * L.slotWords);
    this.#threads = threads;
    this.#whatIsGone = whatIsGone;
    this.#events = events;
  }

  /** The number of commands queued so far. */
  get queued(): number {
    return this.#queued;
  }

  /** The number of commands done so far. */
  get done(): number {
    this.#done += (Atomics.load(this.#words, L.done) - this.#done) | 0;
    return this.#done;
  }

  /** The arguments of the ring and its counters. */
  get words(): Int32Array {
    return this.#words;
  }

  /** Queues a command; waits for a slot if 1,024 are under way. */
  push(content: SlotContent): void {
    this.waitUntil(() => this.#hasSlot());
    const words = this.#words;
    const slot = L.slots + (this.#queued % L.slotCount) * L.slotWords;
    words[slot + L.next] = 0;
    words[slot + L.left] = content.tiles;
    words[slot + L.tiles] = content.tiles;
    words[slot + L.codeIndex] = content.codeIndex;
    words[slot + L.codeVersion] = content.codeVersion;
    words[slot + L.codeAddress] = content.codeAddress;
    words[slot + L.codeBytes] = content.codeBytes;
    words[slot + L.scratchAddress] = content.scratchAddress;
    words[slot + L.scratchBytes] = content.scratchBytes;
    words[slot + L.argsAddress] = content.argsAddress ?? (slot + L.args) * 4;
    if (content.argsAddress === undefined) words.set(content.args, slot + L.args);
    this.#queued++;
    Atomics.store(words, L.queued, this.#queued | 0);
    Atomics.notify(words, L.queued, Math.min(content.tiles, this.#threads));
  }

  /**
   * Blocks the caller until something is so that workers bring about.
   *
   * @param target - commands with which it is so: workers wake the caller then, who else looks now and then
   * @throws {BackendError} DEVICE_LOST when a worker has ended, DEVICE_ERROR when they do nothing for a minute
   */
  waitUntil(isSo: () => boolean, target?: number): void {
    let seen = this.#progress();
    let idleMs = 0;
    let askAt = ASK_MS;
    let last = Date.now();
    for (let looks = 0; !isSo(); looks++) {
      if (looks < L.spins) continue;
      if (canBlock) {
        const signal = Atomics.load(this.#words, L.signal);
        if (target !== undefined) {
          Atomics.store(this.#words, L.target, target | 0);
          Atomics.store(this.#words, L.isWanted, 1);
          // A worker that came just before has not seen that it is wanted.
          if (isSo()) return;
        }
        Atomics.wait(this.#words, L.signal, signal, LOOK_MS);
      }
      const [progress, now] = [this.#progress(), Date.now()];
      // A machine that was asleep meanwhile has lost nothing.
      idleMs = progress === seen ? idleMs + Math.min(now - last, MAX_STEP_MS) : 0;
      [seen, last] = [progress, now];
      if (idleMs === 0) askAt = ASK_MS;
      else if (idleMs >= askAt) {
        askAt = idleMs + ASK_MS;
        this.#assertWorking(idleMs);
      }
    }
  }

  #assertWorking(idleMs: number): void {
    const gone = this.#whatIsGone();
    if (gone !== undefined) {
      this.#events.onLost(gone);
      throw new BackendError('DEVICE_LOST', gone, { hint: 'make a new backend object' });
    }
    if (idleMs < STALL_MS) return;
    const stall = new BackendError('DEVICE_ERROR', `the workers have done nothing for ${STALL_MS / 1000} s`, {
      hint: 'a worker may have been terminated; make a new backend object',
    });
    this.#events.onFailure(stall);
    throw stall;
  }

  /** The message of a worker about the first command that failed; undefined if none has. */
  fault(): string | undefined {
    const length = Atomics.load(this.#words, L.fault) - 1;
    if (length < 0) return undefined;
    const bytes = new Uint8Array(this.#words.buffer, L.faultText * 4, length);
    return String.fromCharCode(...bytes);
  }

  #hasSlot(): boolean {
    const needed = this.#queued - L.slotCount;
    if (needed < this.#left) return true;
    // In this order: a worker that comes later sees that its command is done.
    const done = this.done;
    this.#left = done;
    for (let index = 0; index < this.#threads; index++) {
      const position = L.positions + 2 * index;
      if (Atomics.load(this.#words, position + 1) === 0) continue;
      const at = done + ((Atomics.load(this.#words, position) - done) | 0);
      this.#left = Math.min(this.#left, at);
    }
    return needed < this.#left;
  }

  /** Changes with every tile that is taken. */
  #progress(): number {
    const done = this.done;
    const slot = L.slots + (done % L.slotCount) * L.slotWords;
    return done * 2 ** 20 + Atomics.load(this.#words, slot + L.next);
  }
}

/** True if this thread may sleep: that of a page may not. */
const canBlock = ((): boolean => {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
    return true;
  } catch {
    return false;
  }
})();
