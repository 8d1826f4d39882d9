import { type BackendKernels, BaseBackend, type InitResult } from '@concord/backend-core/implement';
import { planAttention } from '../../src/kernels/attention/plan.ts';
import { planBuiltIn, refuseBuiltIn } from '../../src/kernels/built-in.ts';
import { planConv2d } from '../../src/kernels/conv2d/plan.ts';
import { planGemm } from '../../src/kernels/gemm/plan.ts';
import type { DeviceTraits, StorageBuffer } from '../../src/kernels/recorder.ts';
import { fakeBuffer, PlanRecorder } from './plan-recorder.ts';

/**
 * Plans every op for a device that is not there: each call is checked as ever, and `recorder` refuses a wrong launch.
 */
export class PlanningBackend extends BaseBackend<StorageBuffer> {
  readonly name = 'planning';
  readonly native = null;
  protected readonly kernels: BackendKernels<StorageBuffer> = {
    gemm: { dtypes: ['f32', 'f16'], run: (call) => planGemm(call, this.#newRecorder()) },
    conv2dForward: { dtypes: ['f32'], run: (call) => planConv2d(call, this.#newRecorder()) },
    attention: { dtypes: ['f32'], run: (call) => planAttention(call, this.#newRecorder()) },
    run: {
      dtypes: ['f32', 'f16'],
      covers: 'some',
      refuse: refuseBuiltIn,
      run: (call) => planBuiltIn(call, this.#newRecorder()),
    },
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

  #newRecorder(): PlanRecorder {
    this.recorder = new PlanRecorder(this.recorder.traits);
    return this.recorder;
  }
}
