import { type ComputeBackend, type DevicePtr, upload } from '@concord/backend-core';
import { median, row } from './table.ts';

/** What a backend costs beside the work on the device, in microseconds, medians. */
export interface Overhead {
  /** JavaScript of one tiny op among many. */
  readonly queueMicros: number;
  /** The same until the device has done it. */
  readonly doneMicros: number;
  /** JavaScript of handing one op to the device. */
  readonly flushMicros: number;
  /** One op and the wait for it. */
  readonly roundTripMicros: number;
  /** Reading four bytes back from a device that has nothing else to do. */
  readonly readMicros: number;
}

/** Measures `backend`, which is open and idle, with ops on so many elements. */
export async function measureOverhead(backend: ComputeBackend, quick: boolean, n = 16): Promise<Overhead> {
  const [ops, rounds, singles] = quick ? [10, 2, 2] : [1000, 15, 200];
  const input = upload(backend, new Float32Array(n));
  const output = upload(backend, new Float32Array(n));
  const run = (): void => backend.unary({ op: 'neg', n, input, output });
  const queued: number[] = [];
  const done: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    for (let i = 0; i < ops; i++) run();
    queued.push(microsSince(start) / ops);
    await backend.synchronize();
    done.push(microsSince(start) / ops);
  }
  const flushes: number[] = [];
  const trips: number[] = [];
  const reads: number[] = [];
  for (let i = 0; i < singles; i++) {
    run();
    const flushed = performance.now();
    backend.flush();
    flushes.push(microsSince(flushed));
    await backend.synchronize();
    const started = performance.now();
    run();
    await backend.synchronize();
    trips.push(microsSince(started));
    reads.push(await readMicros(backend, output));
  }
  for (const ptr of [input, output]) backend.free(ptr);
  return {
    queueMicros: median(queued),
    doneMicros: median(done),
    flushMicros: median(flushes),
    roundTripMicros: median(trips),
    readMicros: median(reads),
  };
}

/** The measurements as a Markdown table. */
export function formatOverhead(overhead: Overhead): string {
  const micros = (value: number): string => value.toFixed(1);
  return [
    '### Cost of a tiny op',
    '',
    row('', 'microseconds, median'),
    '|---|---|',
    row('JavaScript of an op, one of 1,000', micros(overhead.queueMicros)),
    row('the same, until the device has done all', micros(overhead.doneMicros)),
    row('JavaScript of `flush` behind one op', micros(overhead.flushMicros)),
    row('one op and `synchronize`', micros(overhead.roundTripMicros)),
    row('reading 4 bytes back', micros(overhead.readMicros)),
  ].join('\n');
}

async function readMicros(backend: ComputeBackend, ptr: DevicePtr): Promise<number> {
  const start = performance.now();
  await backend.copyDtoh(new Float32Array(1), ptr);
  return microsSince(start);
}

function microsSince(start: number): number {
  return (performance.now() - start) * 1000;
}
