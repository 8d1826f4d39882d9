import { BackendError, type BackendProvider, DTYPES } from '@concord/backend-core';
import * as author from '@concord/backend-core/implement';
import { evaluateRun } from '@concord/kernel';

type Memory = author.Operand<ArrayBuffer>;

const DEVICE = { vendor: 'host', name: 'arrays of the host', type: 'cpu', driver: 'JavaScript' } as const;

/** The ops of this backend, in which element types. Any other call is UNSUPPORTED, and `supports` says so beforehand. */
export const KERNELS: author.BackendKernels<ArrayBuffer> = {
  gemm: { dtypes: ['f32'], run: gemm },
  run: { dtypes: DTYPES, run: evaluateRun },
};

/** A backend whose device memory is host arrays and whose ops are the loops of their definitions. */
export class MinimalBackend extends author.BaseBackend<ArrayBuffer> {
  readonly name = 'minimal';
  readonly native = null;
  protected readonly kernels: author.BackendKernels<ArrayBuffer> = KERNELS;

  protected async doInit(): Promise<author.InitResult> {
    const limits = { maxAllocationBytes: 2 ** 30, maxHeadDim: 256, maxTopK: 256 };
    return { device: DEVICE, limits, numerics: { f32Subnormals: 'kept' } };
  }
  protected async doDispose(): Promise<void> {}
  protected async doSynchronize(): Promise<void> {}

  protected doAlloc(size: number): ArrayBuffer {
    try {
      return new ArrayBuffer(size);
    } catch (cause) {
      throw new BackendError('OUT_OF_MEMORY', 'the JavaScript engine has no more', { cause });
    }
  }
  protected doFree(): void {}
  protected doCopyHtod(dst: Memory, src: Uint8Array): void {
    bytes(dst).set(src);
  }
  protected async doCopyDtoh(src: Memory, deliver: (bytes: Uint8Array) => void): Promise<void> {
    deliver(bytes(src));
  }
  protected doCopyDtod(dst: Memory, src: Memory): void {
    bytes(dst).set(bytes(src));
  }
  protected doFill(dst: Memory, byte: number): void {
    bytes(dst).fill(byte);
  }
}

/** `C = alpha A B + beta C`, where beta 0 does not read C. */
function gemm(call: author.ResolvedGemm<ArrayBuffer>): void {
  const { m, n, k, transA, transB, lda, ldb, ldc, strideA, strideB, strideC, batchCount, alpha, beta } = call;
  const [a, b, c] = [floats(call.a), floats(call.b), floats(call.c)];
  for (let element = 0; element < batchCount * m * n; element++) {
    const [batch, i, j] = [Math.floor(element / (m * n)), Math.floor(element / n) % m, element % n];
    let sum = 0;
    for (let l = 0; l < k; l++) {
      const inA = batch * strideA + (transA ? l * lda + i : i * lda + l);
      const inB = batch * strideB + (transB ? j * ldb + l : l * ldb + j);
      sum += a[inA]! * b[inB]!;
    }
    const at = batch * strideC + i * ldc + j;
    c[at] = alpha * Math.fround(sum) + (beta === 0 ? 0 : beta * c[at]!);
  }
}

const bytes = (memory: Memory): Uint8Array => new Uint8Array(memory.buffer, memory.byteOffset, memory.byteLength);
const floats = (of: Memory): Float32Array => new Float32Array(of.buffer, of.byteOffset, of.byteLength / 4);

/** The provider that applications pass to `selectBackend`. */
export function minimal(): BackendProvider {
  return {
    name: 'minimal',
    priority: -1,
    contractVersion: 3,
    probe: () => Promise.resolve({ available: true, devices: [DEVICE] }),
    create: (options) => new MinimalBackend(options),
  };
}
