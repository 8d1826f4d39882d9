import { BackendError, type DevicePtr, type DType, type FloatDType } from '@concord/backend-core';
import {
  type BackendKernels,
  BaseBackend,
  type BaseBackendOptions,
  DTYPES,
  type InitResult,
  type Operand,
} from '@concord/backend-core/implement';
import { evaluateRun } from '@concord/kernel';
import { cpuDevice } from './cpu-device.ts';
import { attention } from './kernels/attention.ts';
import { conv2d } from './kernels/conv2d.ts';
import { gemm, type Storage } from './kernels/gemm.ts';
import { topK } from './kernels/top-k.ts';

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

const FLOATS: readonly DType[] = ['f32', 'f16'];
const F32: readonly DType[] = ['f32'];

/**
 * The contract in pure TypeScript. Every op runs to its end inside the call, so nothing is ever pending; sums are
 * float64 and rounded once.
 */
export class CpuBackend extends BaseBackend<ArrayBuffer> {
  readonly name = 'cpu';
  readonly native: CpuNative = {
    bytesOf: (ptr) => bytes(this.operandAt(ptr)),
  };

  protected readonly kernels: BackendKernels<ArrayBuffer> = {
    gemm: {
      dtypes: FLOATS,
      run: (call) =>
        gemm(call, elements(call.a, call.dtype), elements(call.b, call.dtype), elements(call.c, call.dtype)),
    },
    conv2dForward: {
      dtypes: F32,
      run: (call) => conv2d(call, floats(call.input), floats(call.filter), floats(call.output)),
    },
    attention: {
      dtypes: FLOATS,
      run: (call) =>
        attention(call, {
          q: elements(call.q, call.dtype),
          k: elements(call.k, call.dtype),
          v: elements(call.v, call.dtype),
          mask: call.mask === undefined ? undefined : floats(call.mask),
          o: elements(call.o, call.dtype),
        }),
    },
    topK: { dtypes: F32, run: (call) => topK(call, words(call.input), words(call.values), words(call.indices)) },
    run: { dtypes: DTYPES, run: evaluateRun },
  };

  constructor(options: BaseBackendOptions = {}) {
    super(options);
  }

  protected async doInit(): Promise<InitResult> {
    return {
      device: cpuDevice(),
      limits: { maxAllocationBytes: MAX_ALLOCATION_BYTES, maxHeadDim: 65_536, maxTopK: 65_536 },
      numerics: { f32Subnormals: 'kept' },
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
}

function bytes({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function floats({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): Float32Array {
  return new Float32Array(buffer, byteOffset, byteLength / 4);
}

function words({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): Int32Array {
  return new Int32Array(buffer, byteOffset, byteLength / 4);
}

function elements(operand: Operand<ArrayBuffer>, dtype: FloatDType): Storage {
  if (dtype === 'f32') return floats(operand);
  return new Uint16Array(operand.buffer, operand.byteOffset, operand.byteLength / 2);
}
