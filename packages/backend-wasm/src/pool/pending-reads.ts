/** A read that waits for what was queued before it. */
interface PendingRead {
  address: number;
  readonly length: number;
  /** How many commands have to be done. */
  target: number;
  readonly deliver: (bytes: Uint8Array) => void;
  /** Where it reads from memory of its own. */
  ownsMemory: boolean;
  /** Whether it has got its bytes, and what `deliver` threw. */
  isDelivered: boolean;
  failure: { readonly error: unknown } | undefined;
}

/** What reads need of the machine. */
export interface ReadSource {
  done(): number;
  queued(): number;
  bytesAt(address: number, length: number): Uint8Array;
  /** Queues a copy into memory that is the read's until it gives it back; undefined where there is no memory. */
  copyOut(address: number, length: number): number | undefined;
  /** Blocks until the first `target` commands are done. */
  waitFor(target: number): void;
  give(address: number): void;
}

/**
 * Reads take effect in the order of the queue, but the caller gets the bytes later. Only where something is queued behind a read
 * is its source copied first: most reads are the last thing that a program asks for.
 */
export class PendingReads {
  readonly #source: ReadSource;
  #reads: PendingRead[] = [];

  constructor(source: ReadSource) {
    this.#source = source;
  }

  /** Reads what is there behind the commands queued so far, when `until` says that they are done. */
  async read(
    address: number,
    length: number,
    deliver: (bytes: Uint8Array) => void,
    until: (target: number) => Promise<void>,
  ): Promise<void> {
    const target = this.#source.queued();
    const read: PendingRead = {
      address,
      length,
      target,
      deliver,
      ownsMemory: false,
      isDelivered: false,
      failure: undefined,
    };
    this.#reads.push(read);
    try {
      // It moves on when the source is copied first.
      for (let waited = -1; waited < read.target;) {
        waited = read.target;
        await until(waited);
      }
      this.#deliver(read);
    } finally {
      this.#reads = this.#reads.filter((other) => other !== read);
      if (read.ownsMemory) this.#source.give(read.address);
    }
    if (read.failure !== undefined) throw read.failure.error;
  }

  /** Called before anything is queued or written. */
  beforeChange(): void {
    for (const read of this.#reads) {
      if (read.isDelivered || read.ownsMemory) continue;
      const copied = this.#source.done() >= read.target ? undefined : this.#source.copyOut(read.address, read.length);
      if (copied === undefined) {
        this.#source.waitFor(read.target);
        this.#deliver(read);
      } else {
        read.ownsMemory = true;
        read.address = copied;
        read.target = this.#source.queued();
      }
    }
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
