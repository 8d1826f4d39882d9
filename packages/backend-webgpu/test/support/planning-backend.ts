import type { OpName } from '@concord/backend-core';
import {
  BaseBackend,
  type InitResult,
  type ResolvedAttention,
  type ResolvedBinary,
  type ResolvedConv2d,
  type ResolvedGemm,
  type ResolvedReduce,
  type ResolvedScale,
  type ResolvedUnary,
} from '@concord/backend-core/implement';
import { planAttention } from '../../src/kernels/attention/plan.ts';
import { planBinary } from '../../src/kernels/binary/plan.ts';
import { planConv2d } from '../../src/kernels/conv2d/plan.ts';
import { planGemm, planScale } from '../../src/kernels/gemm/plan.ts';
import type { DeviceTraits, StorageBuffer } from '../../src/kernels/recorder.ts';
import { planReduce } from '../../src/kernels/reduce/plan.ts';
import { planUnary } from '../../src/kernels/unary/plan.ts';
import { fakeBuffer, PlanRecorder } from './plan-recorder.ts';

const F32_OPS: readonly OpName[] = ['conv2dForward', 'attention', 'reduce', 'unary', 'binary'];

/**
 * Plans every op for a device that is not there: each call is checked as ever, and `recorder` refuses a wrong launch.
 */
export class PlanningBackend extends BaseBackend<StorageBuffer> {
  readonly name = 'planning';
  readonly native = null;
  /** What the last call launched. */
  recorder: PlanRecorder;

  constructor(traits: DeviceTraits) {
    super();
    this.recorder = new PlanRecorder(traits);
  }

  protected async doInit(): Promise<InitResult> {
    const both = ['f32', 'f16'] as const;
    const dtypes = Object.fromEntries(F32_OPS.map((op) => [op, ['f32'] as const]));
    return {
      device: { vendor: 'none', name: 'none', type: 'unknown', driver: 'none' },
      capabilities: {
        ops: ['gemm', 'batchedGemm', 'gemmF16', ...F32_OPS],
        dtypes: { gemm: both, batchedGemm: both, gemmF16: ['f16'], ...dtypes },
        limits: { maxAllocationBytes: 2 ** 41, maxHeadDim: 256 },
        numerics: { f32Subnormals: 'may-flush' },
      },
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

  protected override doGemm(call: ResolvedGemm<StorageBuffer>): void {
    planGemm(call, this.#newRecorder());
  }
  protected override doScale(call: ResolvedScale<StorageBuffer>): void {
    planScale(call, this.#newRecorder());
  }
  protected override doConv2d(call: ResolvedConv2d<StorageBuffer>): void {
    planConv2d(call, this.#newRecorder());
  }
  protected override doAttention(call: ResolvedAttention<StorageBuffer>): void {
    planAttention(call, this.#newRecorder());
  }
  protected override doReduce(call: ResolvedReduce<StorageBuffer>): void {
    planReduce(call, this.#newRecorder());
  }
  protected override doUnary(call: ResolvedUnary<StorageBuffer>): void {
    planUnary(call, this.#newRecorder());
  }
  protected override doBinary(call: ResolvedBinary<StorageBuffer>): void {
    planBinary(call, this.#newRecorder());
  }

  #newRecorder(): PlanRecorder {
    this.recorder = new PlanRecorder(this.recorder.traits);
    return this.recorder;
  }
}
