import type { FloatDType } from '@concord/backend-core';
import {
  type BackendKernels,
  BaseBackend,
  type InitResult,
  type KernelCall,
  type ResolvedCall,
} from '@concord/backend-core/implement';
import { refuseBuiltIn } from '../../src/kernels/built-in.ts';
import { planCall } from '../../src/kernels/plans.ts';
import type { DeviceTraits, StorageBuffer } from '../../src/kernels/recorder.ts';
import { fakeBuffer, PlanRecorder } from './plan-recorder.ts';

/**
 * Plans every op for a device that is not there: each call is checked as ever, and `recorder` refuses a wrong launch.
 */
export class PlanningBackend extends BaseBackend<StorageBuffer> {
  readonly name = 'planning';
  readonly native = null;
  protected readonly kernels: BackendKernels<StorageBuffer> = {
    gemm: this.#kernel('gemm', ['f32', 'f16']),
    conv2dForward: this.#kernel('conv2dForward', ['f32']),
    attention: this.#kernel('attention', ['f32']),
    topK: this.#kernel('topK', ['f32']),
    run: { ...this.#kernel('run', ['f32', 'f16']), covers: 'some', refuse: refuseBuiltIn },
  };
  /** What the last call launched. */
  recorder: PlanRecorder;

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

  #kernel<Name extends KernelCall['kernel']>(
    kernel: Name,
    dtypes: readonly FloatDType[],
  ): NonNullable<BackendKernels<StorageBuffer>[Name]> {
    return {
      dtypes,
      run: (call: ResolvedCall<StorageBuffer>['call']) => {
        this.recorder = new PlanRecorder(this.recorder.traits);
        planCall({ kernel, call } as ResolvedCall<StorageBuffer>, this.recorder);
      },
    } as NonNullable<BackendKernels<StorageBuffer>[Name]>;
  }
}
