import type { DType } from '@concord/backend-core';
import { type BackendKernels, BaseBackend, type InitResult, type ResolvedCall } from '@concord/backend-core/implement';
import { planCall } from '@concord/variants';
import { FAMILIES } from '../../src/kernels/families.ts';
import type { DeviceTraits, StorageBuffer } from '../../src/kernels/recorder.ts';
import { fakeBuffer, PlanRecorder } from './plan-recorder.ts';

const FLOATS: readonly DType[] = ['f32', 'f16'];
const DTYPES: readonly DType[] = [...FLOATS, 'bf16', 'i32', 'u32', 'i8', 'u8'];

/**
 * Plans every op for a device that is not there: each call is checked as ever, and `recorder` refuses a wrong launch.
 */
export class PlanningBackend extends BaseBackend<StorageBuffer> {
  readonly name = 'planning';
  readonly native = null;
  /** The launches of the last call. */
  recorder: PlanRecorder;
  protected readonly kernels: BackendKernels<StorageBuffer> = {
    gemm: { dtypes: FLOATS, run: (call) => this.#plan({ kernel: 'gemm', call }) },
    conv2dForward: { dtypes: FLOATS, run: (call) => this.#plan({ kernel: 'conv2dForward', call }) },
    attention: { dtypes: FLOATS, run: (call) => this.#plan({ kernel: 'attention', call }) },
    topK: { dtypes: ['f32'], run: (call) => this.#plan({ kernel: 'topK', call }) },
    run: { dtypes: DTYPES, run: (call) => this.#plan({ kernel: 'run', call }) },
  };

  constructor(traits: DeviceTraits) {
    super();
    this.recorder = new PlanRecorder(traits);
  }

  protected async doInit(): Promise<InitResult> {
    return {
      device: { vendor: 'none', name: 'none', type: 'unknown', driver: 'none' },
      limits: { maxAllocationBytes: 2 ** 41, maxHeadDim: 256, maxTopK: 256 },
      numerics: { f32Subnormals: 'may-flush' },
    };
  }

  protected async doDispose(): Promise<void> {}
  protected doAlloc(bytes: number): StorageBuffer {
    return fakeBuffer(bytes);
  }
  protected doFree(): void {}
  protected doCopyHtod(): void {}
  protected async doCopyDtoh(): Promise<void> {}
  protected doCopyDtod(): void {}
  protected doFill(): void {}
  protected async doSynchronize(): Promise<void> {}

  #plan(call: ResolvedCall<StorageBuffer>): void {
    this.recorder = new PlanRecorder(this.recorder.traits);
    planCall(FAMILIES, call, this.recorder);
  }
}
