import type { BackendError, DeviceInfo, DevicePtr, DType } from '../src/index.ts';
import {
  type BackendKernels,
  BaseBackend,
  type BaseBackendOptions,
  type InitResult,
  type KernelCall,
  type KernelName,
  type Operand,
  type ResolvedCall,
} from '../src/implement/index.ts';
import { builtInOf } from '../src/kernel/index.ts';

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
  /** True if it takes anything but f32. Default: it does. */
  readonly f16?: boolean;
  /** Errors with this detail end the wait alone. */
  readonly passing?: string;
  /** The dtypes that its `run` takes, where that is not what its other kernels take. */
  readonly runDtypes?: readonly DType[];
  /** Kernels that it has. Default: all. */
  readonly has?: readonly KernelName[];
  /** True if its products and convolutions apply epilogues. */
  readonly hasEpilogues?: boolean;
  /** The calls that its `run` covers. */
  readonly covers?: 'all' | 'some';
}

const ALL: readonly KernelName[] = ['gemm', 'conv2dForward', 'attention', 'topK', 'run'];

/** A backend in host memory for tests: it notes every hook and kernel that is called, and waits as long as the test wants. */
export class MemoryBackend extends BaseBackend<Uint8Array> {
  readonly name = 'memory';
  readonly native = null;
  /** Names of the hooks and kernels called, in order. */
  readonly hooks: string[] = [];
  /** The arguments of the calls. */
  readonly calls: unknown[] = [];
  /** While set, waits end with it. */
  pending: Gate | undefined;
  opening: Gate | undefined;
  closing: Gate | undefined;
  compiling: Gate | undefined;
  /** Thrown by the next hook of that name. */
  readonly failing = new Map<string, unknown>();
  /** Why kernels refuse a call: all of a name, or those that a function finds. */
  readonly refusals = new Map<KernelName, string | ((call: never) => string | undefined)>();

  readonly options: MemoryBackendOptions;
  protected readonly kernels: BackendKernels<Uint8Array>;

  constructor(options: MemoryBackendOptions = {}) {
    super(options);
    this.options = options;
    const { has = ALL } = options;
    this.kernels = Object.fromEntries(has.map((name) => [name, this.#kernel(name)]));
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
    const { maxAllocationBytes = 2 ** 20, type = 'cpu' } = this.options;
    return {
      device: { vendor: 'test', name: 'memory', type, driver: '1' },
      limits: { maxAllocationBytes, maxHeadDim: 256, maxTopK: 256 },
      numerics: { f32Subnormals: 'kept' },
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

  #kernel(kernel: KernelName): object {
    const { f16 = true, hasEpilogues = false, covers = 'all' } = this.options;
    const dtypes: readonly DType[] = f16 ? ['f32', 'f16', 'bf16', 'i32', 'u32', 'i8', 'u8'] : ['f32'];
    return {
      dtypes: kernel === 'run' ? (this.options.runDtypes ?? dtypes) : dtypes,
      ...(kernel === 'run' ? { covers } : {}),
      features: hasEpilogues && (kernel === 'gemm' || kernel === 'conv2dForward') ? ['epilogues'] : [],
      refuse: (call: never) => {
        const refusal = this.refusals.get(kernel);
        return typeof refusal === 'function' ? refusal(call) : refusal;
      },
      prepare: async (call: KernelCall['call']) => {
        this.#note('prepare', kernel, call);
        await this.compiling?.promise;
      },
      run: (call: ResolvedCall<Uint8Array>['call']) => {
        this.#note(kernel, call);
        if (kernel === 'run') addIfAdd(call as (ResolvedCall<Uint8Array> & { kernel: 'run' })['call']);
      },
    };
  }
}

/** Sums are really computed, so that the self test of the registry passes. */
function addIfAdd({ geometry, inputs, outputs }: (ResolvedCall<Uint8Array> & { kernel: 'run' })['call']): void {
  if (builtInOf(geometry.kernel)?.function !== 'add') return;
  const [a, b, output] = [...inputs, ...outputs].map((operand) => floats(operand as Operand<Uint8Array>)) as [
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  for (let i = 0; i < output.length; i++) output[i] = (a[i] as number) + (b[i] as number);
}

function bytes({ buffer, byteOffset, byteLength }: Operand<Uint8Array>): Uint8Array {
  return buffer.subarray(byteOffset, byteOffset + byteLength);
}

function floats(operand: Operand<Uint8Array>): Float32Array {
  const view = bytes(operand);
  return new Float32Array(view.buffer, view.byteOffset, view.byteLength / 4);
}
