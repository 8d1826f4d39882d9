import type { TracedPass } from '@concord/backend-core';
import type { LaunchTimer } from '@concord/backend-core/implement';
import { type EventHandle, type EventPoolHandle, handleIn, handleSlot } from '../ffi/prototypes.ts';
import { RESULTS } from '../ffi/result.ts';
import { ENUMS, Struct } from '../ffi/structs.ts';
import type { CommandStream } from './command-stream.ts';
import type { OpenDevice } from './open-device.ts';

/** Events that are made together. */
const POOL_EVENTS = 256;
/** `ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2`: resolutions in ticks a second then, not in whole nanoseconds a tick. */
const PROPERTIES_1_2 = 0x20006;

interface Pool {
  readonly handle: EventPoolHandle;
  readonly events: readonly EventHandle[];
  /** The kernels that signal them, in their order. */
  readonly passes: TracedPass[];
}

/** Times kernels: each launch signals an event, which has the times when it began and ended by the device's clock. */
export class EventTimer implements LaunchTimer {
  readonly passes: TracedPass[] = [];
  readonly #device: OpenDevice;
  readonly #stream: CommandStream;
  readonly #finish: () => Promise<void>;
  readonly #msPerTick: number;
  readonly #bits: number;
  /** The last one is filled; those before it are full. */
  readonly #pools: Pool[] = [];
  readonly #stamps = new BigUint64Array(4);
  /** The time at which the last kernel began, as read, and without the overflows since the first. */
  #last = 0n;
  #ticks = 0n;

  /**
   * @param finish - resolves when all work is done
   * @throws {BackendError} DEVICE_ERROR, DEVICE_LOST
   */
  constructor(device: OpenDevice, stream: CommandStream, finish: () => Promise<void>) {
    this.#device = device;
    this.#stream = stream;
    this.#finish = finish;
    const properties = new Struct('ze_device_properties_t', undefined, PROPERTIES_1_2);
    device.check(device.api.zeDeviceGetProperties(device.device, properties.bytes), 'zeDeviceGetProperties');
    this.#msPerTick = 1000 / properties.get('timerResolution');
    this.#bits = properties.get('kernelTimestampValidBits');
    this.#pools.push(this.#makePool());
    const launchKernel = stream.launchKernel.bind(stream);
    stream.launchKernel = (kernel, groups, name, seconds, variant) => {
      stream.signal = this.#event();
      try {
        launchKernel(kernel, groups, name, seconds, variant);
        const pass = { kernel: name, variant };
        this.passes.push(pass);
        this.#pools.at(-1)?.passes.push(pass);
      } finally {
        stream.signal = null;
      }
    };
  }

  async stop(): Promise<void> {
    delete (this.#stream as Partial<CommandStream>).launchKernel;
    // Where that fails, events may be in use: they are left to the driver.
    await this.#finish();
    const { api } = this.#device;
    for (const pool of this.#pools) {
      this.#read(pool);
      for (const event of pool.events) api.zeEventDestroy(event);
      api.zeEventPoolDestroy(pool.handle);
    }
  }

  #event(): EventHandle {
    if (this.#pools.at(-1)?.passes.length === POOL_EVENTS) this.#pools.push(this.#makePool());
    const { events, passes } = this.#pools.at(-1) as Pool;
    return events[passes.length] as EventHandle;
  }

  #makePool(): Pool {
    const { api, context } = this.#device;
    const description = new Struct('ze_event_pool_desc_t')
      .set('flags', ENUMS.ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ENUMS.ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP)
      .set('count', POOL_EVENTS);
    const slot = handleSlot<'event pool'>();
    this.#device.check(api.zeEventPoolCreate(context, description.bytes, 0, null, slot), 'zeEventPoolCreate');
    const handle = handleIn(slot);
    const events = Array.from({ length: POOL_EVENTS }, (_, index) => {
      const event = handleSlot<'event'>();
      const { bytes } = new Struct('ze_event_desc_t').set('index', index).set('signal', ENUMS.ZE_EVENT_SCOPE_FLAG_HOST);
      this.#device.check(api.zeEventCreate(handle, bytes, event), 'zeEventCreate');
      return handleIn(event);
    });
    return { handle, events, passes: [] };
  }

  #read({ events, passes }: Pool): void {
    for (const [index, pass] of passes.entries()) {
      const event = events[index] as EventHandle;
      if (this.#device.api.zeEventQueryKernelTimestamp(event, this.#stamps) !== RESULTS.SUCCESS) continue;
      const [start, end] = this.#stamps as unknown as readonly [bigint, bigint];
      this.#ticks += BigInt.asIntN(this.#bits, start - this.#last);
      this.#last = start;
      const took = BigInt.asUintN(this.#bits, end - start);
      const ms = Number(took) * this.#msPerTick;
      Object.assign(pass, { startMs: Number(this.#ticks) * this.#msPerTick, ms });
    }
  }
}
