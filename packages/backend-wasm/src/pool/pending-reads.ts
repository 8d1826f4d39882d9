/** A read that waits for the commands queued before it. */
interface PendingRead {
  address: number;
  readonly length: number;
  /** The number of commands queued when the read was called. */
  readonly asked: number;
  /** The number of commands that have to be done. */
  target: number;
  readonly deliver: (bytes: Uint8Array) => void;
  /** True if it reads from a copy, which is its own memory. */
  ownsMemory: boolean;
  /** `isDelivered`: it has got its bytes. `failure`: the error that `deliver` threw. */
  isDelivered: boolean;
  failure: { readonly error: unknown } | undefined;
}

/** The parts of the machine that reads need. */
export interface ReadSource {
  done(): number;
  queued(): number;
  bytesAt(address: number, length: number): Uint8Array;
  /**
   * Queues a copy into memory that is the read's until it gives it back; undefined if there is no memory.
   *
   * @param freeSince - only memory that was free when so many commands were queued: what was freed later may be
   *   the source of this read or of another one that is still to be copied
   */
  copyOut(address: number, length: number, freeSince: number): number | undefined;
  /** Blocks until the first `target` commands are done. */
  waitFor(target: number): void;
  give(address: number): void;
}

/**
 * Reads take effect in the order of the queue, but the caller gets the bytes later. The source of a read is
 * copied only if more is queued after it: most reads are the last call of a program.
 */
export class PendingReads {
  readonly #source: ReadSource;
  /** Reads that have neither their bytes nor a copy of them, oldest first. */
  #open: PendingRead[] = [];
  /** Reads whose copy was not yet made when last looked at, oldest first. */
  readonly #copied: PendingRead[] = [];

  constructor(source: ReadSource) {
    this.#source = source;
  }

  /** Reads the bytes as they are after the commands queued so far, when `until` says that they are done. */
  async read(
    address: number,
    length: number,
    deliver: (bytes: Uint8Array) => void,
    until: (target: number) => Promise<void>,
  ): Promise<void> {
    const asked = this.#source.queued();
    const read: PendingRead = {
      address,
      length,
      asked,
      target: asked,
      deliver,
      ownsMemory: false,
      isDelivered: false,
      failure: undefined,
    };
    this.#open.push(read);
    try {
      // It moves on when the source is copied first.
      for (let waited = -1; waited < read.target;) {
        waited = read.target;
        await until(waited);
      }
      this.#deliver(read);
    } finally {
      this.#open = this.#open.filter((other) => other !== read);
      if (read.ownsMemory) this.#source.give(read.address);
    }
    if (read.failure !== undefined) throw read.failure.error;
  }

  /** Called before anything is queued or written. */
  beforeChange(): void {
    for (let read = this.#open[0]; read !== undefined; read = this.#open[0]) {
      const isThere = this.#source.done() >= read.target;
      const copied = isThere ? undefined : this.#source.copyOut(read.address, read.length, read.asked - 1);
      if (copied === undefined) {
        this.#source.waitFor(read.target);
        this.#deliver(read);
      } else {
        read.ownsMemory = true;
        read.address = copied;
        read.target = this.#source.queued();
        this.#copied.push(read);
      }
      // Last: until then its source is not idle.
      this.#open.shift();
    }
  }

  /** The number of commands that are done, and before which no freed memory is the source of a read still to be copied. */
  idle(): number {
    const done = this.#source.done();
    while ((this.#copied[0]?.target ?? Infinity) <= done) this.#copied.shift();
    const [first = this.#open[0]] = this.#copied;
    return Math.min(done, (first?.asked ?? Infinity) - 1);
  }

  #deliver(read: PendingRead): void {
    if (read.isDelivered) return;
    read.isDelivered = true;
    try {
      read.deliver(this.#source.bytesAt(read.address, read.length));
    } catch (error) {
      read.failure = { error };
    }
  }
}
