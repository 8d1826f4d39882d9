import { BackendError, type DevicePtr, type DType, fromF16Array } from '@concord/backend-core';
import {
  type BackendKernels,
  BaseBackend,
  type BaseBackendOptions,
  checkFields,
  DTYPES,
  type InitResult,
  type Operand,
  type ResolvedConv2d,
  type ResolvedGemm,
} from '@concord/backend-core/implement';
import { evaluateRun } from '@concord/kernel';
import { cpuDevice } from './cpu-device.ts';
import { attention } from './kernels/attention.ts';
import { conv2d } from './kernels/conv2d.ts';
import { finish } from './kernels/finish.ts';
import { gemm } from './kernels/gemm.ts';
import { floatsOf, halvesOf, storageOf } from './kernels/storage-of.ts';
import { topK } from './kernels/top-k.ts';

/** The type of `native` of a {@link CpuBackend}. */
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
    gemm: { dtypes: FLOATS, hasEpilogues: true, run: runGemm },
    conv2dForward: { dtypes: FLOATS, hasEpilogues: true, run: runConv2d },
    attention: {
      dtypes: FLOATS,
      run: (call) =>
        attention(call, {
          q: storageOf(call.q, call.dtype),
          k: storageOf(call.k, call.dtype),
          v: storageOf(call.v, call.dtype),
          mask: call.mask === undefined ? undefined : floatsOf(call.mask),
          o: storageOf(call.o, call.dtype),
        }),
    },
    topK: { dtypes: F32, run: (call) => topK(call, words(call.input), words(call.values), words(call.indices)) },
    run: { dtypes: DTYPES, run: evaluateRun },
  };

  /** @throws {BackendError} INVALID_ARGUMENT for options that there are none of, or out of range */
  constructor(options: BaseBackendOptions = {}) {
    super(options);
    checkFields('options', options, ['memoryLimitBytes']);
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

function words({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): Int32Array {
  return new Int32Array(buffer, byteOffset, byteLength / 4);
}

function runGemm(call: ResolvedGemm<ArrayBuffer>): void {
  const a = storageOf(call.a, call.dtype);
  const b = storageOf(call.b, call.dtype);
  if (call.epilogue === undefined) gemm(call, a, b, storageOf(call.c, call.dtype));
  else finish(call, call.c, call.beta !== 0, (c) => gemm(call, a, b, c));
}

function runConv2d(call: ResolvedConv2d<ArrayBuffer>): void {
  const read = (operand: Operand<ArrayBuffer>): Float32Array =>
    call.dtype === 'f32' ? floatsOf(operand) : fromF16Array(halvesOf(operand));
  finish(call, call.output, false, (output) => conv2d(call, read(call.input), read(call.filter), output));
}
