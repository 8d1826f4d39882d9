import { BackendError, type DevicePtr, type DType, type OpName } from '@concord/backend-core';
import {
  BaseBackend,
  type BaseBackendOptions,
  type InitResult,
  type Operand,
  type ResolvedAttention,
  type ResolvedBinary,
  type ResolvedConv2d,
  type ResolvedGemm,
  type ResolvedReduce,
  type ResolvedScale,
  type ResolvedUnary,
} from '@concord/backend-core/implement';
import { cpuDevice } from './cpu-device.ts';
import { attention } from './kernels/attention.ts';
import { binary } from './kernels/binary.ts';
import { conv2d } from './kernels/conv2d.ts';
import { gemm, scale, type Storage } from './kernels/gemm.ts';
import { reduce } from './kernels/reduce.ts';
import { unary } from './kernels/unary.ts';

/** What `native` of a {@link CpuBackend} gives. */
export interface CpuNative {
  /**
   * The memory from `ptr` to the end of its allocation, not a copy.
   *
   * @throws {BackendError} INVALID_ARGUMENT for a pointer that is not live
   */
  bytesOf(ptr: DevicePtr): Uint8Array;
}

/** V8 admits larger buffers, but float32 views of them are slow and 4 GiB is what other devices offer. */
const MAX_ALLOCATION_BYTES = 2 ** 32;

const F32: readonly DType[] = ['f32'];
const DTYPES: Readonly<Record<OpName, readonly DType[]>> = {
  gemm: ['f32', 'f16'],
  batchedGemm: ['f32', 'f16'],
  gemmF16: ['f16'],
  conv2dForward: F32,
  attention: F32,
  reduce: F32,
  unary: F32,
  binary: F32,
};

/**
 * The contract in pure TypeScript. Every op runs to its end inside the call, so nothing is ever pending; sums are
 * float64 and rounded once.
 */
export class CpuBackend extends BaseBackend<ArrayBuffer> {
  readonly name = 'cpu';
  readonly native: CpuNative = {
    bytesOf: (ptr) => bytes(this.operandAt(ptr)),
  };

  constructor(options: BaseBackendOptions = {}) {
    super(options);
  }

  protected async doInit(): Promise<InitResult> {
    return {
      device: cpuDevice(),
      capabilities: {
        ops: Object.keys(DTYPES) as OpName[],
        dtypes: DTYPES,
        limits: { maxAllocationBytes: MAX_ALLOCATION_BYTES, maxHeadDim: 65_536 },
        numerics: { f32Subnormals: 'kept' },
      },
    };
  }

  protected async doDispose(): Promise<void> {}

  protected doAlloc(size: number): ArrayBuffer {
    try {
      return new ArrayBuffer(size);
    } catch (cause) {
      throw new BackendError('OUT_OF_MEMORY', `the JavaScript engine refused ${size} bytes`, {
        requestedBytes: size,
        cause,
      });
    }
  }

  protected doFree(): void {
    // The allocation table held the last reference; the garbage collector does the rest.
  }

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

  protected override doGemm(call: ResolvedGemm<ArrayBuffer>): void {
    const { dtype } = call;
    gemm(call, elements(call.a, dtype), elements(call.b, dtype), elements(call.c, dtype));
  }

  protected override doScale(call: ResolvedScale<ArrayBuffer>): void {
    scale(call, elements(call.c, call.dtype));
  }

  protected override doConv2d(call: ResolvedConv2d<ArrayBuffer>): void {
    conv2d(call, floats(call.input), floats(call.filter), floats(call.output));
  }

  protected override doAttention(call: ResolvedAttention<ArrayBuffer>): void {
    attention(call, floats(call.q), floats(call.k), floats(call.v), floats(call.o));
  }

  protected override doReduce(call: ResolvedReduce<ArrayBuffer>): void {
    reduce(call, call.input === undefined ? new Float32Array() : floats(call.input), floats(call.output));
  }

  protected override doUnary(call: ResolvedUnary<ArrayBuffer>): void {
    unary(call, floats(call.input), floats(call.output));
  }

  protected override doBinary(call: ResolvedBinary<ArrayBuffer>): void {
    binary(call, floats(call.a), floats(call.b), floats(call.output));
  }
}

function bytes({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function floats({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): Float32Array {
  return new Float32Array(buffer, byteOffset, byteLength / 4);
}

function elements(operand: Operand<ArrayBuffer>, dtype: DType): Storage {
  if (dtype === 'f32') return floats(operand);
  return new Uint16Array(operand.buffer, operand.byteOffset, operand.byteLength / 2);
}
