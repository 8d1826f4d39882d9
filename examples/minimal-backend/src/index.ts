import { BackendError, type BackendProvider, type BinaryOp } from '@concord/backend-core';
import * as author from '@concord/backend-core/implement';

type Memory = author.Operand<ArrayBuffer>;

const DEVICE = { vendor: 'host', name: 'arrays of the host', type: 'cpu', driver: 'JavaScript' } as const;
/** The ops that are here, and their element types. Any other call is UNSUPPORTED, and `supports` says so beforehand. */
const DTYPES = { gemm: ['f32'], batchedGemm: ['f32'], reduce: ['f32'], binary: ['f32'] } as const;

/** A backend whose device memory is host arrays and whose ops are the loops of their definitions. */
export class MinimalBackend extends author.BaseBackend<ArrayBuffer> {
  readonly name = 'minimal';
  readonly native = null;

  protected async doInit(): Promise<author.InitResult> {
    const ops = Object.keys(DTYPES) as (keyof typeof DTYPES)[];
    const limits = { maxAllocationBytes: 2 ** 30, maxHeadDim: 256 };
    return { device: DEVICE, capabilities: { ops, dtypes: DTYPES, limits, numerics: { f32Subnormals: 'kept' } } };
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

  protected override doGemm(call: author.ResolvedGemm<ArrayBuffer>): void {
    const { k, transA, transB, lda, ldb, strideA, strideB, alpha } = call;
    const [a, b] = [floats(call.a), floats(call.b)];
    writeC(call, (batch, i, j) => {
      let sum = 0;
      for (let l = 0; l < k; l++) {
        const inA = batch * strideA + (transA ? l * lda + i : i * lda + l);
        const inB = batch * strideB + (transB ? j * ldb + l : l * ldb + j);
        sum += a[inA]! * b[inB]!;
      }
      return alpha * Math.fround(sum);
    });
  }
  protected override doScale(call: author.ResolvedScale<ArrayBuffer>): void {
    writeC(call, () => 0);
  }
  protected override doReduce(call: author.ResolvedReduce<ArrayBuffer>): void {
    const { op, outer, axisLength, inner } = call;
    const x = call.input === undefined ? [] : floats(call.input);
    const y = floats(call.output);
    for (let at = 0; at < outer * inner; at++) {
      const first = Math.floor(at / inner) * axisLength * inner + (at % inner);
      let [sum, max, min] = [0, -Infinity, Infinity];
      for (let i = first; i < first + axisLength * inner; i += inner) {
        [sum, max, min] = [sum + x[i]!, Math.max(max, x[i]!), Math.min(min, x[i]!)];
      }
      y[at] = { sum, max, min, mean: sum / axisLength }[op];
    }
  }
  protected override doBinary(call: author.ResolvedBinary<ArrayBuffer>): void {
    const [x, y, z] = [floats(call.a), floats(call.b), floats(call.output)];
    for (let i = 0; i < call.n; i++) z[i] = BINARY[call.op](x[i]!, y[i]!);
  }
}

const BINARY: Record<BinaryOp, (x: number, y: number) => number> = {
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => x * y,
  div: (x, y) => x / y,
  max: Math.max,
  min: Math.min,
  // ECMAScript gives NaN for 1 ** NaN and (-1) ** Infinity, C99 Annex F 1.
  pow: (x, y) => (x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : x ** y),
};

/** `C = product + beta * C`, where beta 0 does not read C. */
function writeC(call: author.ResolvedScale<ArrayBuffer>, product: (batch: number, i: number, j: number) => number) {
  const { m, n, beta, ldc, strideC, batchCount } = call;
  const c = floats(call.c);
  for (let element = 0; element < batchCount * m * n; element++) {
    const [batch, i, j] = [Math.floor(element / (m * n)), Math.floor(element / n) % m, element % n];
    const at = batch * strideC + i * ldc + j;
    c[at] = product(batch, i, j) + (beta === 0 ? 0 : beta * c[at]!);
  }
}

const bytes = (memory: Memory): Uint8Array => new Uint8Array(memory.buffer, memory.byteOffset, memory.byteLength);
const floats = (of: Memory): Float32Array => new Float32Array(of.buffer, of.byteOffset, of.byteLength / 4);

/** What applications pass to `selectBackend`. */
export function minimal(): BackendProvider {
  return {
    name: 'minimal',
    priority: -1,
    contractVersion: 1,
    probe: () => Promise.resolve({ available: true, devices: [DEVICE] }),
    create: (options) => new MinimalBackend(options),
  };
}
