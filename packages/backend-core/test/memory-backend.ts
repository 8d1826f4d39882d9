import {
  BaseBackend,
  type BaseBackendOptions,
  type CheckedOp,
  type InitResult,
  type Operand,
} from '../src/implement/index.ts';
import type { BackendError, DeviceInfo, DevicePtr, OpName } from '../src/index.ts';
import { OP_NAMES } from '../src/index.ts';

/** A promise that the test settles. */
export interface Gate {
  readonly promise: Promise<void>;
  open(): void;
  fail(error: unknown): void;
}

export function gate(): Gate {
  let open!: () => void;
  let fail!: (error: unknown) => void;
  const promise = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open, fail };
}

export interface MemoryBackendOptions extends BaseBackendOptions {
  readonly type?: DeviceInfo['type'];
  readonly maxAllocationBytes?: number;
  readonly f16?: boolean;
  /** Errors with this detail end the wait alone. */
  readonly passing?: string;
  readonly ops?: readonly OpName[];
}

/** A backend in host memory for tests: it notes every hook that is called, and waits as long as the test wants. */
export class MemoryBackend extends BaseBackend<Uint8Array> {
  readonly name = 'memory';
  readonly native = null;
  /** Names of the hooks called, in order. */
  readonly hooks: string[] = [];
  /** The arguments of those hooks. */
  readonly calls: unknown[] = [];
  /** While set, waits end with it. */
  pending: Gate | undefined;
  opening: Gate | undefined;
  closing: Gate | undefined;
  compiling: Gate | undefined;
  /** Thrown by the next hook of that name. */
  readonly failing = new Map<string, unknown>();
  /** Why `unsupportedReason` refuses, by hook. */
  readonly refusals = new Map<CheckedOp['hook'], string>();

  readonly options: MemoryBackendOptions;

  constructor(options: MemoryBackendOptions = {}) {
    super(options);
    this.options = options;
  }

  /** An initialized one. */
  static async open(options: MemoryBackendOptions = {}): Promise<MemoryBackend> {
    const backend = new MemoryBackend(options);
    await backend.init();
    backend.hooks.length = 0;
    backend.calls.length = 0;
    return backend;
  }

  lose(message: string): void {
    this.reportLost(message);
  }

  fail(error: BackendError): void {
    this.reportFailure(error);
  }

  operand(ptr: DevicePtr): Operand<Uint8Array> {
    return this.operandAt(ptr);
  }

  protected override isSticky({ detail }: BackendError): boolean {
    return detail !== this.options.passing;
  }

  #note(hook: string, ...args: unknown[]): void {
    this.hooks.push(hook);
    this.calls.push(args.length === 1 ? args[0] : args);
    if (this.failing.has(hook)) {
      const error = this.failing.get(hook);
      this.failing.delete(hook);
      throw error;
    }
  }

  protected async doInit(): Promise<InitResult> {
    this.#note('init');
    await this.opening?.promise;
    const dtypes = this.options.f16 === false ? (['f32'] as const) : (['f32', 'f16'] as const);
    const { ops = OP_NAMES, maxAllocationBytes = 2 ** 20, type = 'cpu' } = this.options;
    return {
      device: { vendor: 'test', name: 'memory', type, driver: '1' },
      capabilities: {
        ops,
        dtypes: Object.fromEntries(ops.map((op) => [op, op === 'gemmF16' ? ['f16'] : dtypes])),
        limits: { maxAllocationBytes, maxHeadDim: 256 },
        numerics: { f32Subnormals: 'kept' },
      },
    };
  }
  protected async doDispose(): Promise<void> {
    this.#note('dispose');
    await this.closing?.promise;
  }
  protected doAlloc(bytes: number, label: string | undefined): Uint8Array {
    this.#note('alloc', bytes, label);
    return new Uint8Array(bytes);
  }
  protected doFree(buffer: Uint8Array): void {
    this.#note('free', buffer);
  }
  protected doCopyHtod(dst: Operand<Uint8Array>, src: Uint8Array): void {
    this.#note('copyHtod', dst, src);
    bytes(dst).set(src);
  }
  protected async doCopyDtoh(src: Operand<Uint8Array>, deliver: (bytes: Uint8Array) => void): Promise<void> {
    this.#note('copyDtoh', src);
    const copy = bytes(src).slice();
    await this.pending?.promise;
    deliver(copy);
  }
  protected doCopyDtod(dst: Operand<Uint8Array>, src: Operand<Uint8Array>): void {
    this.#note('copyDtod', dst, src);
    bytes(dst).set(bytes(src));
  }
  protected doFill(dst: Operand<Uint8Array>, byte: number): void {
    this.#note('fill', dst, byte);
    bytes(dst).fill(byte);
  }
  protected override doFlush(): void {
    this.#note('flush');
  }
  protected async doSynchronize(): Promise<void> {
    this.#note('synchronize');
    await this.pending?.promise;
  }
  protected override async doPrepare({ hook, call }: CheckedOp): Promise<void> {
    this.#note('prepare', hook, call);
    await this.compiling?.promise;
  }
  protected override unsupportedReason({ hook }: CheckedOp): string | undefined {
    return this.refusals.get(hook);
  }
  protected override doGemm(call: object): void {
    this.#note('gemm', call);
  }
  protected override doScale(call: object): void {
    this.#note('scale', call);
  }
  protected override doConv2d(call: object): void {
    this.#note('conv2d', call);
  }
  protected override doAttention(call: object): void {
    this.#note('attention', call);
  }
  protected override doReduce(call: object): void {
    this.#note('reduce', call);
  }
  protected override doUnary(call: object): void {
    this.#note('unary', call);
  }
  /** Really adds, so that the self test of the registry passes. */
  protected override doBinary(call: {
    a: Operand<Uint8Array>;
    b: Operand<Uint8Array>;
    output: Operand<Uint8Array>;
  }): void {
    this.#note('binary', call);
    const [a, b, output] = [floats(call.a), floats(call.b), floats(call.output)];
    for (let i = 0; i < output.length; i++) output[i] = (a[i] as number) + (b[i] as number);
  }
}

function bytes({ buffer, byteOffset, byteLength }: Operand<Uint8Array>): Uint8Array {
  return buffer.subarray(byteOffset, byteOffset + byteLength);
}

function floats(operand: Operand<Uint8Array>): Float32Array {
  const view = bytes(operand);
  return new Float32Array(view.buffer, view.byteOffset, view.byteLength / 4);
}
