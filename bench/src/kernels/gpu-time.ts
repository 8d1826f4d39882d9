import type { DevicePtr } from '@concord/backend-core';
import type { WebGpuBackend } from '@concord/backend-webgpu';
import { findCallsPerRound, median } from '@concord/cli/bench';

/** How long to measure. */
export interface GpuSchedule {
  /** Rounds that count. */
  readonly rounds: number;
  /** Milliseconds of a round, at least. */
  readonly roundMs: number;
}

const MAX_CALLS = 400;
/** Work that the device does while the calls to be timed are encoded: so many floats, which an H200 doubles in 0.12 ms. */
const BUSY_FLOATS = 2 ** 26;
/** Milliseconds that a call takes JavaScript at most, and those that the busy work takes at least. */
const ENCODE_MS = 0.02;
const BUSY_MS = 0.1;
/** WebGPU's names are not there in Node. */
const USAGE = { mapRead: 0x1, copySrc: 0x4, copyDst: 0x8, queryResolve: 0x200 };
const MAP_READ = 0x1;

/**
 * Milliseconds that the device takes for a call when many follow each other: timestamps before the first and behind the
 * last one, medians over rounds.
 */
export class GpuTimer {
  readonly #backend: WebGpuBackend;
  readonly #queries: GPUQuerySet;
  readonly #resolved: GPUBuffer;
  readonly #staging: GPUBuffer;
  readonly #busy: DevicePtr;
  readonly #busyFloats: number;

  constructor(backend: WebGpuBackend) {
    const { device } = backend.native;
    this.#backend = backend;
    this.#queries = device.createQuerySet({ type: 'timestamp', count: 2 });
    this.#resolved = device.createBuffer({ size: 16, usage: USAGE.queryResolve | USAGE.copySrc });
    this.#staging = device.createBuffer({ size: 16, usage: USAGE.mapRead | USAGE.copyDst });
    this.#busyFloats = backend.device.type === 'software' ? 1 : BUSY_FLOATS;
    this.#busy = backend.alloc(4 * this.#busyFloats);
    backend.fill(this.#busy, 0, 4 * this.#busyFloats);
  }

  async medianMs(run: () => void, { rounds, roundMs }: GpuSchedule): Promise<number> {
    const time = (calls: number): Promise<number> => this.#time(run, calls);
    const { calls } = await findCallsPerRound(time, { roundMs, maxCalls: MAX_CALLS });
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) times.push((await time(calls)) / calls);
    return median(times);
  }

  destroy(): void {
    this.#backend.free(this.#busy);
    this.#queries.destroy();
    this.#resolved.destroy();
    this.#staging.destroy();
  }

  async #time(run: () => void, calls: number): Promise<number> {
    const { native } = this.#backend;
    // Else a short call is timed by how fast it is encoded.
    const [n, a] = [this.#busyFloats, this.#busy];
    const busyCalls = Math.ceil((calls * ENCODE_MS) / BUSY_MS);
    for (let call = 0; call < busyCalls; call++) this.#backend.binary({ op: 'add', n, a, b: a, output: a });
    native.encode((encoder) => this.#stamp(encoder, 'beginningOfPassWriteIndex', 0));
    for (let call = 0; call < calls; call++) run();
    native.encode((encoder) => {
      this.#stamp(encoder, 'endOfPassWriteIndex', 1);
      encoder.resolveQuerySet(this.#queries, 0, 2, this.#resolved, 0);
      encoder.copyBufferToBuffer(this.#resolved, 0, this.#staging, 0, 16);
    });
    await this.#staging.mapAsync(MAP_READ);
    const [start, end] = new BigUint64Array(this.#staging.getMappedRange().slice(0)) as unknown as [bigint, bigint];
    this.#staging.unmap();
    return Number(end - start) / 1e6;
  }

  #stamp(encoder: GPUCommandEncoder, place: 'beginningOfPassWriteIndex' | 'endOfPassWriteIndex', index: number): void {
    encoder.beginComputePass({ timestampWrites: { querySet: this.#queries, [place]: index } }).end();
  }
}
