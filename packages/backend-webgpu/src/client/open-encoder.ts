import { BackendError } from '@concord/backend-core';

/** A dispatch, ready but for the pass that it goes to. */
export interface ReadyDispatch {
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
  /** Of its uniforms. */
  readonly offset: number;
  readonly grid: readonly [x: number, y: number, z: number];
  readonly variant: string | undefined;
}

/** The encoder of one batch: dispatches are in one pass as long as nothing else comes between. */
export class OpenEncoder {
  readonly #encoder: GPUCommandEncoder;
  #pass: GPUComputePassEncoder | undefined;
  /** The state of the pass. */
  #pipeline: GPUComputePipeline | undefined;
  #group: GPUBindGroup | undefined;
  #offset = 0;

  constructor(device: GPUDevice) {
    this.#encoder = device.createCommandEncoder();
  }

  dispatch({ pipeline, group, offset, grid }: ReadyDispatch): void {
    this.#pass ??= this.#encoder.beginComputePass();
    if (this.#pipeline !== pipeline) {
      this.#pass.setPipeline(pipeline);
      this.#pipeline = pipeline;
    }
    if (this.#group !== group || this.#offset !== offset) {
      this.#pass.setBindGroup(0, group, [offset]);
      this.#group = group;
      this.#offset = offset;
    }
    this.#pass.dispatchWorkgroups(grid[0], grid[1], grid[2]);
  }

  /** For what is no dispatch. */
  outsidePass(): GPUCommandEncoder {
    this.#endPass();
    return this.#encoder;
  }

  finish(): GPUCommandBuffer {
    this.#endPass();
    return this.#encoder.finish();
  }

  #endPass(): void {
    this.#pass?.end();
    this.#pass = undefined;
    this.#pipeline = undefined;
    this.#group = undefined;
  }
}

/** @throws {BackendError} INVALID_ARGUMENT for what an async function returns: its commands would come too late */
export function refusePromise(returned: unknown): void {
  if (typeof (returned as PromiseLike<unknown> | null | undefined)?.then !== 'function') return;
  // No other call waits for it.
  Promise.resolve(returned).catch(() => undefined);
  throw new BackendError('INVALID_ARGUMENT', 'the callback of encode must not return a promise', {
    hint: 'await what you need before encode, and add all commands before the callback returns',
  });
}
