import type { LaunchTimer } from '@concord/backend-core/implement';
import type { TracedPass } from '@concord/backend-core';
import { MAP_READ, type GpuContext, USAGE } from './gpu-source.ts';
import { OpenEncoder, type ReadyDispatch } from './sequence.ts';

/** Dispatches whose times are resolved together: a batch has no more. */
const MAX_PASSES = 128;
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
  readonly #context: GpuContext;
  readonly #stream: TimedStream;
  readonly #plain: TimedStream['makeEncoder'];
  readonly #reads: (() => Promise<void>)[] = [];

  constructor(context: GpuContext, stream: TimedStream) {
    this.#context = context;
    this.#stream = stream;
    this.#plain = stream.makeEncoder;
    stream.flush();
    const { device } = context;
    const hasStamps = device.features.has('timestamp-query');
    stream.makeEncoder = () => new TimedEncoder(device, hasStamps, this.passes, (read) => this.#reads.push(read));
  }

  async stop(): Promise<void> {
    this.#stream.makeEncoder = this.#plain;
    this.#stream.flush();
    for (const read of this.#reads) await this.#context.awaiting(read).catch(() => undefined);
  }
}

/** The timestamps of some dispatches. */
interface Stamps {
  readonly queries: GPUQuerySet;
  readonly passes: TracedPass[];
}

class TimedEncoder extends OpenEncoder {
  readonly #device: GPUDevice;
  readonly #hasStamps: boolean;
  readonly #passes: TracedPass[];
  readonly #onRead: (read: () => Promise<void>) => void;
  #stamps: Stamps | undefined;

  constructor(
    device: GPUDevice,
    hasStamps: boolean,
    passes: TracedPass[],
    onRead: (read: () => Promise<void>) => void,
  ) {
    super(device);
    this.#device = device;
    this.#hasStamps = hasStamps;
    this.#passes = passes;
    this.#onRead = onRead;
  }

  override dispatch(dispatch: ReadyDispatch): void {
    const pass: TracedPass = { kernel: dispatch.pipeline.label, variant: dispatch.variant };
    this.#passes.push(pass);
    const encoder = this.outsidePass();
    if (!this.#hasStamps) return super.dispatch(dispatch);
    if (this.#stamps?.passes.length === MAX_PASSES) this.#resolve(encoder);
    this.#stamps ??= { queries: this.#device.createQuerySet({ type: 'timestamp', count: 2 * MAX_PASSES }), passes: [] };
    const { queries, passes } = this.#stamps;
    const beginningOfPassWriteIndex = 2 * passes.length;
    passes.push(pass);
    this.beginPass({
      timestampWrites: {
        querySet: queries,
        beginningOfPassWriteIndex,
        endOfPassWriteIndex: beginningOfPassWriteIndex + 1,
      },
    });
    super.dispatch(dispatch);
  }

  override finish(): GPUCommandBuffer {
    this.#resolve(this.outsidePass());
    return super.finish();
  }

  #resolve(encoder: GPUCommandEncoder): void {
    if (this.#stamps === undefined) return;
    const { queries, passes } = this.#stamps;
    this.#stamps = undefined;
    const size = 16 * passes.length;
    const resolved = this.#device.createBuffer({ size, usage: QUERY_RESOLVE | USAGE.copySrc });
    const staging = this.#device.createBuffer({ size, usage: USAGE.mapRead | USAGE.copyDst });
    encoder.resolveQuerySet(queries, 0, 2 * passes.length, resolved, 0);
    encoder.copyBufferToBuffer(resolved, 0, staging, 0, size);
    this.#onRead(async () => {
      try {
        await staging.mapAsync(MAP_READ);
        const nanoseconds = new BigInt64Array(staging.getMappedRange());
        for (const [index, pass] of passes.entries()) {
          const [start, end] = [nanoseconds[2 * index] as bigint, nanoseconds[2 * index + 1] as bigint];
          // Drivers may reset their clock; zeros are stamps that were not written.
          if (end >= start && start > 0n)
            Object.assign(pass, { startMs: Number(start) / 1e6, ms: Number(end - start) / 1e6 });
        }
      } finally {
        for (const each of [queries, resolved, staging]) each.destroy();
      }
    });
  }
}
