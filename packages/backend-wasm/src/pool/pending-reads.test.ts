import { expect, it } from 'vitest';
import { PendingReads } from './pending-reads.ts';

/** A queue of copies between ten bytes, which are made when it is said. */
class FakeSource {
  readonly bytes: Uint8Array = Uint8Array.from({ length: 10 }, (_, i) => i);
  readonly given: number[] = [];
  readonly freeSince: number[] = [];
  readonly #copies: Array<() => void> = [];
  #done = 0;
  #queued = 0;

  queue(action: () => void = () => undefined): void {
    this.#copies.push(action);
    this.#queued++;
  }
  run(count = this.#copies.length): void {
    for (const copy of this.#copies.splice(0, count)) copy();
    this.#done += count;
  }
  done(): number {
    return this.#done;
  }
  queued(): number {
    return this.#queued;
  }
  bytesAt(address: number, length: number): Uint8Array {
    return this.bytes.subarray(address, address + length);
  }
  copyOut(address: number, _length: number, freeSince: number): number | undefined {
    this.freeSince.push(freeSince);
    if (address === 9) return undefined;
    this.queue(() => this.bytes.copyWithin(5, address, address + 1));
    return 5;
  }
  waitFor(target: number): void {
    if (this.#done < target) this.run();
  }
  give(address: number): void {
    this.given.push(address);
  }
}

function begin(address: number) {
  const source = new FakeSource();
  const reads = new PendingReads(source);
  const got: number[] = [];
  source.queue();
  const read = reads.read(
    address,
    1,
    ([byte]) => got.push(byte as number),
    async (target) => {
      while (source.done() < target) await Promise.resolve();
    },
  );
  return { source, reads, got, read };
}

it('a read that nothing follows is delivered from where it is', async () => {
  const { source, got, read } = begin(3);
  source.run();
  await read;
  expect([got, source.given]).toEqual([[3], []]);
});

it('a read that something follows is copied first, and its memory is not idle before that', async () => {
  const { source, reads, got, read } = begin(3);
  source.queue();
  expect(reads.idle()).toBe(0);
  reads.beforeChange();
  reads.beforeChange();
  // The requested bytes are there, their copy is not.
  source.run(2);
  expect([source.queued(), source.done(), reads.idle()]).toEqual([3, 2, 0]);
  source.run();
  expect(reads.idle()).toBe(3);
  source.bytes[3] = 99;
  await read;
  expect([got, source.given]).toEqual([[3], [5]]);
});

it('a copy gets only memory that was free before the read, and so before each later one', () => {
  const { source, reads } = begin(3);
  source.queue();
  void reads.read(
    4,
    1,
    () => undefined,
    () => new Promise(() => undefined),
  );
  reads.beforeChange();
  expect(source.freeSince).toEqual([0, 1]);
  source.run();
});

it('memory of a read is not idle while only what came before the read is done', () => {
  const { source, reads } = begin(3);
  source.run();
  // The bytes are there, and have not been fetched.
  expect(reads.idle()).toBe(0);
  reads.beforeChange();
  expect(reads.idle()).toBe(1);
});

it('a read is delivered at once where what it waits for is done', async () => {
  const { source, reads, got, read } = begin(3);
  source.run();
  reads.beforeChange();
  expect(got).toEqual([3]);
  await read;
  expect(got).toEqual([3]);
});

it('where there is no memory for a copy, what comes next waits', async () => {
  const { reads, got, read } = begin(9);
  reads.beforeChange();
  expect(got).toEqual([9]);
  await read;
});

it('what the receiver throws is an error of the read', async () => {
  const source = new FakeSource();
  const reads = new PendingReads(source);
  const refuse = (): void => {
    throw new Error('detached');
  };
  const read = reads.read(1, 1, refuse, async () => undefined);
  reads.beforeChange();
  await expect(read).rejects.toThrow('detached');
});
