import { type AllocOptions, BackendError, type DevicePtr, type PlannedCall } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';

/** A backend that works until it is told to fail. */
export class FailingBackend extends CpuBackend {
  #left = Infinity;

  /** Lets a number of allocations and launches succeed; those after them fail. */
  failAfter(calls: number): void {
    this.#left = calls;
  }

  override alloc(bytes: number, options: AllocOptions = {}): DevicePtr {
    this.#count();
    return super.alloc(bytes, options);
  }

  override run(...args: Parameters<CpuBackend['run']>): void {
    this.#count();
    super.run(...args);
  }

  override topK(...args: Parameters<CpuBackend['topK']>): void {
    this.#count();
    super.topK(...args);
  }

  override plan(...args: Parameters<CpuBackend['plan']>): PlannedCall {
    const { operands, launch } = super.plan(...args);
    return {
      operands,
      launch: (...given) => {
        this.#count();
        launch(...given);
      },
    };
  }

  #count(): void {
    if (this.#left-- <= 0) throw new BackendError('OUT_OF_MEMORY', 'as asked', {});
  }
}
