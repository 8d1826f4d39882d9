import type { WebGpuBackend } from '@concord/backend-webgpu';
import { median } from '../table.ts';

/** How long to measure. */
export interface GpuSchedule {
  /** Rounds that count. */
  readonly rounds: number;
  /** Milliseconds of a round, at least. */
  readonly roundMs: number;
}

const MAX_CALLS = 400;
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

  constructor(backend: WebGpuBackend) {
    const { device } = backend.native;
    this.#backend = backend;
    this.#queries = device.createQuerySet({ type: 'timestamp', count: 2 });
    this.#resolved = device.createBuffer({ size: 16, usage: USAGE.queryResolve | USAGE.copySrc });
    this.#staging = device.createBuffer({ size: 16, usage: USAGE.mapRead | USAGE.copyDst });
  }

  async medianMs(run: () => void, { rounds, roundMs }: GpuSchedule): Promise<number> {
    await this.#time(run, 3);
    const once = (await this.#time(run, 3)) / 3;
    const calls = Math.max(1, Math.min(MAX_CALLS, Math.ceil(roundMs / Math.max(once, 1e-3))));
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) times.push((await this.#time(run, calls)) / calls);
    return median(times);
  }

  destroy(): void {
    this.#queries.destroy();
    this.#resolved.destroy();
    this.#staging.destroy();
  }

  async #time(run: () => void, calls: number): Promise<number> {
    const { native } = this.#backend;
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
