import type { TracedPass } from '@concord/backend-core';
import type { LaunchTimer } from '@concord/backend-core/implement';
import { type GpuContext, MAP_READ, USAGE } from './gpu-source.ts';
import { OpenEncoder, type ReadyDispatch } from './batch.ts';

/** Timestamps of a batch: two of each dispatch, of which it has 128 at most. */
const MAX_STAMPS = 256;
/** `GPUBufferUsage.QUERY_RESOLVE` */
const QUERY_RESOLVE = 512;

/** The parts of the stream whose dispatches are timed. */
interface TimedStream {
  makeEncoder: () => OpenEncoder;
  flush(): void;
}

/** Times dispatches: each is a pass that writes a timestamp where it begins and where it ends, if the device has them. */
export class PassTimer implements LaunchTimer {
  readonly passes: TracedPass[] = [];
  readonly reads: (() => Promise<void>)[] = [];
  readonly stop: () => Promise<void>;

  constructor({ device, awaiting }: GpuContext, stream: TimedStream) {
    const { makeEncoder } = stream;
    const use = (make: TimedStream['makeEncoder']): void => {
      stream.flush();
      stream.makeEncoder = make;
    };
    use(() => new TimedEncoder(device, this));
    this.stop = async () => {
      use(makeEncoder);
      for (const read of this.reads) await awaiting(read).catch(() => undefined);
    };
  }
}

class TimedEncoder extends OpenEncoder {
  readonly #device: GPUDevice;
  readonly #timer: PassTimer;
  /** The passes of this batch, in the order of their timestamps. */
  readonly #passes: TracedPass[] = [];
  readonly #querySet: GPUQuerySet | undefined;

  constructor(device: GPUDevice, timer: PassTimer) {
    super(device);
    this.#device = device;
    this.#timer = timer;
    const hasStamps = device.features.has('timestamp-query');
    this.#querySet = hasStamps ? device.createQuerySet({ type: 'timestamp', count: MAX_STAMPS }) : undefined;
  }

  override dispatch(dispatch: ReadyDispatch): void {
    const querySet = this.#querySet;
    const at = 2 * this.#passes.length;
    this.outsidePass();
    if (querySet !== undefined) {
      this.beginPass({ timestampWrites: { querySet, beginningOfPassWriteIndex: at, endOfPassWriteIndex: at + 1 } });
    }
    super.dispatch(dispatch);
    const pass = { kernel: dispatch.pipeline.label, variant: dispatch.variant };
    this.#passes.push(pass);
    this.#timer.passes.push(pass);
  }

  override finish(): GPUCommandBuffer {
    const querySet = this.#querySet;
    if (querySet === undefined || this.#passes.length === 0) return super.finish();
    const encoder = this.outsidePass();
    const size = 16 * this.#passes.length;
    const resolved = this.#device.createBuffer({ size, usage: QUERY_RESOLVE | USAGE.copySrc });
    const staging = this.#device.createBuffer({ size, usage: USAGE.mapRead | USAGE.copyDst });
    encoder.resolveQuerySet(querySet, 0, size / 8, resolved, 0);
    encoder.copyBufferToBuffer(resolved, 0, staging, 0, size);
    this.#timer.reads.push(async () => {
      try {
        await staging.mapAsync(MAP_READ);
        const stamps = new BigInt64Array(staging.getMappedRange());
        for (const [index, pass] of this.#passes.entries()) {
          const [start, end] = [stamps[2 * index] as bigint, stamps[2 * index + 1] as bigint];
          // Drivers may reset their clock; zeros are stamps that were not written.
          if (start > 0n && end >= start)
            Object.assign(pass, { startMs: Number(start) / 1e6, ms: Number(end - start) / 1e6 });
        }
      } finally {
        for (const each of [querySet, resolved, staging]) each.destroy();
      }
    });
    return super.finish();
  }
}
