import { BackendError, type DevicePtr, type DType, type StoredFloatDType, type MaskDType } from '@concord/backend-core';
import {
  type BackendKernels,
  BaseBackend,
  type BaseBackendOptions,
  type CheckedEpilogue,
  checkFields,
  DTYPES,
  type InitResult,
  type LaunchTimer,
  type Operand,
  type ResolvedGemm,
} from '@concord/backend-core/implement';
import { decodeStep, evaluateRun, WEIGHT_FEATURES } from '@concord/kernel';
import { cpuDevice } from './cpu-device.ts';
import { attention } from './kernels/attention.ts';
import { conv2d } from './kernels/conv2d.ts';
import { gemm } from './kernels/gemm.ts';
import { floatsOf, type Storage, storageOf } from './kernels/operands.ts';
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
    gemm: {
      dtypes: [...FLOATS, 'bf16'],
      features: ['epilogues', ...WEIGHT_FEATURES],
      run: (given) => {
        const call = withPlainB(given);
        const [a, b] = [floatsOf(call.a, call.dtype), floatsOf(call.b, call.plainB)];
        finish(call, call.c, call.beta !== 0, (c) => gemm(call, a, b, c));
      },
    },
    conv2dForward: {
      dtypes: FLOATS,
      features: ['epilogues', 'transposed', 'dtypeFilter f16', 'dtypeFilter bf16'],
      run: (call) => {
        const [input, filter] = [
          floatsOf(call.input, call.dtype),
          floatsOf(call.filter, call.dtypeFilter ?? call.dtype),
        ];
        finish(call, call.output, false, (output) => conv2d(call, input, filter, output));
      },
    },
    attention: {
      dtypes: FLOATS,
      features: ['lengths', 'starts', 'mask u8', 'mask f16', 'valueDim', 'lse', 'dtypeKv f16', 'dtypeKv bf16'],
      run: (call) =>
        attention(call, {
          q: floatsOf(call.q, call.dtype),
          k: floatsOf(call.k, call.dtypeKv),
          v: floatsOf(call.v, call.dtypeKv),
          mask: call.mask === undefined ? undefined : maskOf(call.mask, call.maskDtype),
          lengths: call.lengths === undefined ? undefined : words(call.lengths),
          starts: call.starts === undefined ? undefined : words(call.starts),
          lse: call.lse === undefined ? undefined : floatsOf(call.lse, 'f32'),
          o: storageOf(call.o, call.dtype),
        }),
    },
    topK: { dtypes: F32, run: (call) => topK(call, words(call.input), words(call.values), words(call.indices)) },
    run: { dtypes: DTYPES, features: ['scatter', 'scan'], run: evaluateRun },
  };

  /** @throws {BackendError} INVALID_ARGUMENT for unknown options, or out of range */
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

  /** Ops run in the call. */
  protected override startTimer(): LaunchTimer {
    return { passes: [], wait: () => undefined, stop: async () => undefined };
  }
}

function bytes({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Returns what a mask adds to scores. */
function maskOf(mask: Operand<ArrayBuffer>, dtype: MaskDType): Float32Array {
  return dtype === 'u8' ? Float32Array.from(bytes(mask), (x) => (x === 0 ? -Infinity : 0)) : floatsOf(mask, dtype);
}

function words({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): Int32Array {
  return new Int32Array(buffer, byteOffset, byteLength / 4);
}

/** The same product of a B of floats, and their type. */
function withPlainB(
  call: ResolvedGemm<ArrayBuffer>,
): ResolvedGemm<ArrayBuffer> & { readonly plainB: StoredFloatDType } {
  if (call.dtypeB === undefined) return { ...call, plainB: call.dtype };
  const { geometry, inputs, bytes: byteLength, call: plain } = decodeStep(call);
  const b = { buffer: new ArrayBuffer(byteLength), byteOffset: 0, byteLength };
  evaluateRun({ geometry, inputs: inputs.map((name) => call[name]), outputs: [b], params: [] });
  return { ...call, ...plain, b, plainB: (plain.dtypeB as 'f32' | undefined) ?? call.dtype };
}

/** A product or convolution that has its operands. */
interface FinishedCall {
  readonly dtype: StoredFloatDType;
  readonly epilogue?: CheckedEpilogue | undefined;
}

/**
 * Computes an op into its output; one that ends with an epilogue into float32 results in the layout of the output, which are
 * rounded once, after the epilogue.
 *
 * @param readsOutput - whether `compute` reads what the output held
 */
function finish(
  call: FinishedCall,
  output: Operand<ArrayBuffer>,
  readsOutput: boolean,
  compute: (results: Storage) => void,
): void {
  const { dtype, epilogue } = call;
  const own = storageOf(output, dtype);
  if (epilogue === undefined) return compute(own);
  const results =
    own instanceof Float32Array ? own : readsOutput ? floatsOf(output, dtype) : new Float32Array(own.length);
  compute(results);
  const { geometry, params } = epilogue;
  const { buffer, byteOffset, byteLength } = results as Float32Array<ArrayBuffer>;
  // The inputs of an epilogue are named operands of the call.
  const operands = call as unknown as Readonly<Record<string, Operand<ArrayBuffer>>>;
  const inputs = geometry.inputs.map(({ name }) =>
    name === 'acc' ? { buffer, byteOffset, byteLength } : operands[`epilogue.${name}`],
  );
  evaluateRun({ geometry, inputs, outputs: [output], params });
}
