import type { ComputeBackend, DType } from '@concord/backend-core';
import {
  type BackendKernels,
  BaseBackend,
  type InitResult,
  type Operand,
  type ResolvedRun,
} from '@concord/backend-core/implement';
import { naiveRun } from './naive-run.ts';
import { type Parts, RIGHT } from './parts.ts';

/** A backend that has `run` alone, computed one number at a time: what mutants of `run` mutate. */
export class NaiveBackend extends BaseBackend<ArrayBuffer> implements ComputeBackend {
  readonly name = 'naive';
  readonly native = undefined;
  protected readonly kernels: BackendKernels<ArrayBuffer>;

  /**
   * @param parts - how it computes
   * @param adapt - changes a call before it is computed
   */
  constructor(parts: Parts = RIGHT, adapt: (call: ResolvedRun<ArrayBuffer>) => ResolvedRun<ArrayBuffer> = same) {
    super();
    const dtypes: readonly DType[] = ['f32', 'f16', 'bf16', 'i32', 'i8', 'u32', 'u8'];
    this.kernels = { run: { dtypes, run: (call) => naiveRun(adapt(call), parts) } };
  }

  protected async doInit(): Promise<InitResult> {
    return {
      device: { vendor: 'none', name: 'one number at a time', type: 'cpu', driver: 'none' },
      limits: { maxAllocationBytes: 2 ** 31, maxHeadDim: 256, maxTopK: 256 },
      numerics: { f32Subnormals: 'kept' },
    };
  }

  protected async doDispose(): Promise<void> {}

  protected doAlloc(bytes: number): ArrayBuffer {
    return new ArrayBuffer(bytes);
  }

  protected doFree(): void {}

  protected doCopyHtod(dst: Operand<ArrayBuffer>, src: Uint8Array): void {
    bytes(dst).set(src);
  }

  protected async doCopyDtoh(src: Operand<ArrayBuffer>, deliver: (bytes: Uint8Array) => void): Promise<void> {
    deliver(bytes(src));
  }

  protected doCopyDtod(dst: Operand<ArrayBuffer>, src: Operand<ArrayBuffer>): void {
    bytes(dst).set(bytes(src));
  }

  protected doFill(dst: Operand<ArrayBuffer>, byte: number): void {
    bytes(dst).fill(byte);
  }

  protected async doSynchronize(): Promise<void> {}
}

function same<T>(value: T): T {
  return value;
}

function bytes({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
