import { BackendError, type DevicePtr, type DType, type FloatDType } from '@concord/backend-core';
import {
  type BackendKernels,
  BaseBackend,
  type BaseBackendOptions,
  type InitResult,
  type Operand,
} from '@concord/backend-core/implement';
import { builtInOf } from '@concord/backend-core/kernel';
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
    run: {
      dtypes: F32,
      covers: 'some',
      refuse: ({ kernel }) =>
        builtInOf(kernel) === undefined && kernel.name !== 'scale'
          ? `kernel ${kernel.name} is not built in`
          : undefined,
      run: ({ geometry, inputs, outputs, params }) => {
        const builtIn = builtInOf(geometry.kernel);
        const [output] = outputs as [Operand<ArrayBuffer>];
        const [first, second] = inputs.map((input) => (input === undefined ? new Float32Array() : input));
        const floatsOf = (x: unknown): Float32Array =>
          x instanceof Float32Array ? x : floats(x as Operand<ArrayBuffer>);
        const [outer = 0, inner = 0, axisLength = 0] = geometry.shape;
        if (builtIn === undefined) {
          const { strides, dtype } = geometry.outputs[0]!;
          const [strideC, ldc] = strides as [number, number];
          const sizes = { batchCount: outer, m: inner, n: axisLength, ldc, strideC };
          scale({ ...sizes, beta: params[0] ?? 0, dtype } as never, elements(output, dtype as FloatDType));
        } else if (builtIn.op === 'unary')
          unary({ op: builtIn.function, n: outer } as never, floatsOf(first), floats(output));
        else if (builtIn.op === 'binary') {
          binary({ op: builtIn.function, n: outer } as never, floatsOf(first), floatsOf(second), floats(output));
        } else reduce({ op: builtIn.function, outer, inner, axisLength } as never, floatsOf(first), floats(output));
      },
    },
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

function elements(operand: Operand<ArrayBuffer>, dtype: FloatDType): Storage {
  if (dtype === 'f32') return floats(operand);
  return new Uint16Array(operand.buffer, operand.byteOffset, operand.byteLength / 2);
}
