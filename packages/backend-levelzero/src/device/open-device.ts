import { BackendError, type BackendErrorFields } from '@concord/backend-core';
import {
  type ContextHandle,
  type DeviceHandle,
  type DriverHandle,
  handleIn,
  handleSlot,
  type LevelZeroApi,
  type QueueHandle,
} from '../ffi/prototypes.ts';
import type { Koffi, LevelZeroLibrary } from '../ffi/load.ts';
import { RESULTS, resultError } from '../ffi/result.ts';
import { ENUMS, Struct } from '../ffi/structs.ts';
import { type ListedDevice, listStructs } from './list-devices.ts';

/** A device with its own context and queue. */
export class OpenDevice {
  readonly api: LevelZeroApi;
  readonly koffi: Koffi;
  readonly driver: DriverHandle;
  readonly device: DeviceHandle;
  readonly context: ContextHandle;
  readonly queue: QueueHandle;
  /** The group of queues that `queue` is of; command lists for it name it. */
  readonly queueOrdinal: number;
  /** Called once, with the first sign that the device is gone. */
  onLost: ((error: BackendError) => void) | undefined;
  #frees = 0;

  /** @throws {BackendError} DEVICE_ERROR, OUT_OF_MEMORY, DEVICE_LOST */
  constructor({ api, koffi }: LevelZeroLibrary, { driver, device }: ListedDevice) {
    this.api = api;
    this.koffi = koffi;
    this.driver = driver;
    this.device = device;
    const context = handleSlot<'context'>();
    this.check(api.zeContextCreate(driver, new Struct('ze_context_desc_t').bytes, context), 'zeContextCreate');
    this.context = handleIn(context);
    try {
      this.queueOrdinal = this.#computeOrdinal();
      const queue = handleSlot<'queue'>();
      const description = new Struct('ze_command_queue_desc_t')
        .set('ordinal', this.queueOrdinal)
        .set('mode', ENUMS.ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
      this.check(api.zeCommandQueueCreate(this.context, device, description.bytes, queue), 'zeCommandQueueCreate');
      this.queue = handleIn(queue);
    } catch (error) {
      api.zeContextDestroy(this.context);
      throw error;
    }
  }

  /** @throws {BackendError} with the code of a result that is not success, and the name of the call */
  check(result: number, call: string, fields?: BackendErrorFields): void {
    if (result !== RESULTS.SUCCESS) throw this.error(result, call, fields);
  }

  /** The error of a result; a device that is gone is noted. */
  error(result: number, call: string, fields?: BackendErrorFields): BackendError {
    const error = resultError(result, call, { backend: 'level-zero', ...fields });
    if (error.code === 'DEVICE_LOST') this.onLost?.(error);
    return error;
  }

  /** The number of times that memory was freed: an address from before may mean other memory since. */
  get frees(): number {
    return this.#frees;
  }

  /** Frees memory of the context, of the device's or the host's. */
  free(address: bigint): void {
    this.#frees++;
    this.api.zeMemFree(this.context, address);
  }

  /** Whatever was made in the context must be gone by now. */
  destroy(): void {
    this.api.zeCommandQueueDestroy(this.queue);
    this.api.zeContextDestroy(this.context);
  }

  #computeOrdinal(): number {
    const { api, device } = this;
    const call = 'zeDeviceGetCommandQueueGroupProperties';
    const listed = listStructs('ze_command_queue_group_properties_t', (count, all) => api[call](device, count, all));
    this.check(listed.result, call);
    const ordinal = listed.structs.findIndex(
      (group) => (group.get('flags') & ENUMS.ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) !== 0,
    );
    if (ordinal < 0) throw new BackendError('DEVICE_ERROR', 'the device has no queue for compute kernels');
    return ordinal;
  }
}
