import type { DevicePtr } from '@concord/backend-core';
import {
  type BackendKernels,
  BaseBackend,
  type InitResult,
  type Launch,
  type LaunchTimer,
  type Operand,
  type Sequence,
} from '@concord/backend-core/implement';
import { chooseFma } from './engine/simd.ts';
import { allKernels, scopedKernels } from './kernels/all-kernels.ts';
import { copyCode, copyCommand, fillCode, fillCommand } from './kernels/memory/ranges.ts';
import type { WasmBuffer, WasmCode } from './kernels/kernel.ts';
import { checkOptions, type WasmBackendOptions, type WasmOptions } from './options.ts';
import { HEAP_START } from './pool/layout.ts';
import type { Machine, MachineEvents, WasmMode } from './pool/machine.ts';
import { openMachine } from './pool/open-machine.ts';
import { wasmDevice } from './wasm-device.ts';

/** The `native` object of a {@link WasmBackend}. */
export interface WasmNative {
  /** The mode that `init` chose. */
  readonly mode: WasmMode;
  /**
   * The address of a pointer in the linear memory, in bytes.
   *
   * @throws {BackendError} INVALID_ARGUMENT for a pointer that is not live
   */
  addressOf(ptr: DevicePtr): number;
}

/** Heads and k take memory of each thread, no more. */
const MOST = 65_536;
/** The largest address is 2^32; where the engine reserves less, `alloc` says so. */
const MAX_ALLOCATION_BYTES = 2 ** 32 - 2 * HEAP_START;

interface Opened {
  readonly machine: Machine;
  readonly kernels: BackendKernels<WasmBuffer>;
  readonly copy: WasmCode;
  readonly fill: WasmCode;
}

/**
 * The contract on WebAssembly: SIMD, in threads that share one memory, off the caller's thread. Where memory cannot be shared, in one
 * worker; if there are no workers, in the call.
 */
export class WasmBackend extends BaseBackend<WasmBuffer> {
  readonly name = 'wasm';
  readonly native: WasmNative;
  readonly #options: WasmOptions;
  #opened: Opened | undefined;

  /** @throws {BackendError} INVALID_ARGUMENT for unknown options, or out of range */
  constructor(options: WasmBackendOptions = {}) {
    super(options);
    checkOptions(options);
    this.#options = { ...options };
    const machine = (): Machine => this.#machine;
    const addressOf = (ptr: DevicePtr): number => addressAt(this.operandAt(ptr));
    this.native = {
      get mode() {
        return machine().mode;
      },
      addressOf,
    };
  }

  protected get kernels(): BackendKernels<WasmBuffer> {
    return this.#device.kernels;
  }

  protected async doInit(signal: AbortSignal): Promise<InitResult> {
    const hasFma = chooseFma(this.#options.relaxedSimd);
    const events: MachineEvents = {
      onFailure: (error) => this.reportFailure(error),
      onLost: (message) => this.reportLost(message),
    };
    const { machine, obstacles } = await openMachine(this.#options, hasFma, events, signal);
    const { traits } = machine;
    this.#opened = {
      machine,
      kernels: scopedKernels(allKernels(machine), () => machine.endOp()),
      copy: copyCode(traits),
      fill: fillCode(traits),
    };
    return {
      device: wasmDevice(machine.mode, traits, obstacles),
      limits: { maxAllocationBytes: MAX_ALLOCATION_BYTES, maxHeadDim: MOST, maxTopK: MOST },
      numerics: { f32Subnormals: 'kept' },
    };
  }

  protected async doDispose(): Promise<void> {
    const { machine } = this.#device;
    this.#opened = undefined;
    await machine.close();
  }

  protected override pooledBytes(): number {
    const machine = this.#opened?.machine;
    return machine === undefined ? 0 : machine.heap.freeBytes + machine.listedBytes;
  }

  protected doAlloc(bytes: number): WasmBuffer {
    return { address: this.#machine.heap.take(bytes), bytes };
  }

  protected doFree({ address }: WasmBuffer): void {
    this.#machine.heap.give(address, this.#machine.queued);
  }

  protected doCopyHtod(dst: Operand<WasmBuffer>, src: Uint8Array): void {
    this.#machine.write(addressAt(dst), src);
  }

  protected doCopyDtoh(
    src: Operand<WasmBuffer>,
    deliver: (bytes: Uint8Array) => void,
    isWanted: () => boolean,
  ): Promise<void> {
    return this.#machine.read(addressAt(src), src.byteLength, deliver, isWanted);
  }

  protected doCopyDtod(dst: Operand<WasmBuffer>, src: Operand<WasmBuffer>): void {
    this.#machine.launch(copyCommand(this.#device.copy, addressAt(dst), addressAt(src), src.byteLength));
  }

  protected doFill(dst: Operand<WasmBuffer>, byte: number): void {
    this.#machine.launch(fillCommand(this.#device.fill, addressAt(dst), byte, dst.byteLength));
  }

  protected override doSequence(calls: readonly Launch<WasmBuffer>[]): Sequence {
    const planned = super.doSequence(calls);
    return this.#machine.list(() => planned.run());
  }

  /** Times launches if the host may wait for the threads. */
  protected override startTimer(): LaunchTimer | undefined {
    const machine = this.#machine;
    return machine.mode === 'worker'
      ? undefined
      : { passes: [], wait: () => machine.waitNow(), stop: async () => undefined };
  }

  protected doSynchronize(isWanted: () => boolean): Promise<void> {
    return this.#machine.finish(isWanted);
  }

  get #machine(): Machine {
    return this.#device.machine;
  }

  get #device(): Opened {
    if (this.#opened === undefined) throw this.notReady();
    return this.#opened;
  }
}

const addressAt = ({ buffer, byteOffset }: Operand<WasmBuffer>): number => buffer.address + byteOffset;
