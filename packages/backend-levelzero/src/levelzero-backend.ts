import { BackendError, type DevicePtr, type DType, isBackendError, type OpName } from '@concord/backend-core';
import {
  BaseBackend,
  type BaseBackendOptions,
  type CheckedOp,
  type InitResult,
  type ResolvedAttention,
  type ResolvedBinary,
  type ResolvedConv2d,
  type ResolvedGemm,
  type ResolvedReduce,
  type ResolvedScale,
  type ResolvedUnary,
} from '@concord/backend-core/implement';
import { addressOf } from './device/command-stream.ts';
import { LevelZeroClient } from './device/level-zero-client.ts';
import type { LevelZeroOptions } from './device/options.ts';
import { planAttention } from './kernels/attention/plan.ts';
import { planBinary } from './kernels/binary/plan.ts';
import { planConv2d } from './kernels/conv2d/plan.ts';
import { kernelsOf } from './kernels/dry-run.ts';
import { planGemm, planScale } from './kernels/gemm/plan.ts';
import type { DeviceMemory, DeviceTraits, Recorder, Span } from './kernels/recorder.ts';
import { planReduce } from './kernels/reduce/plan.ts';
import { planUnary } from './kernels/unary/plan.ts';
import type { LevelZeroNative } from './native.ts';
import { loadedModule, nativeArguments } from './native-launch.ts';

/** Options of a {@link LevelZeroBackend}. */
export interface LevelZeroBackendOptions extends LevelZeroOptions, BaseBackendOptions {}

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

/** How long `dispose` waits for the device; the base class gives up at the same time. */
const DISPOSE_TIMEOUT_MS = 4_900;

/** The contract in SPIR-V, on devices of Level Zero: Intel's GPUs. */
export class LevelZeroBackend extends BaseBackend<DeviceMemory> {
  readonly name = 'level-zero';
  readonly native: LevelZeroNative;
  readonly #options: LevelZeroOptions;
  #opened: LevelZeroClient | undefined;

  constructor(options: LevelZeroBackendOptions = {}) {
    super(options);
    this.#options = options;
    this.native = this.#makeNative();
  }

  protected async doInit(): Promise<InitResult> {
    const client = await LevelZeroClient.open(this.#options);
    this.#opened = client;
    client.onFailure((error) => {
      if (error.code === 'DEVICE_LOST') this.reportLost(error.detail, error);
      else this.reportFailure(error);
    });
    return {
      device: client.deviceInfo,
      capabilities: {
        ops: Object.keys(DTYPES) as OpName[],
        dtypes: DTYPES,
        limits: { maxAllocationBytes: client.traits.maxAllocationBytes, maxHeadDim: 256 },
        numerics: { f32Subnormals: 'may-flush' },
      },
    };
  }

  protected async doDispose(): Promise<void> {
    await this.#client.dispose(DISPOSE_TIMEOUT_MS);
  }

  protected doAlloc(bytes: number, label: string | undefined): DeviceMemory {
    return this.#client.allocate(bytes, label);
  }

  protected doFree(buffer: DeviceMemory): void {
    this.#client.deallocate(buffer.id);
  }

  protected doCopyHtod(dst: Span, src: Uint8Array): void {
    this.#client.write(dst, src);
  }

  protected doCopyDtoh(src: Span, deliver: (bytes: Uint8Array) => void, isWanted: () => boolean): Promise<void> {
    return this.#client.read(src, deliver, isWanted);
  }

  protected doCopyDtod(dst: Span, src: Span): void {
    this.#client.copy(dst, src);
  }

  protected doFill(dst: Span, byte: number): void {
    this.#client.fill(dst, byte);
  }

  protected doSynchronize(isWanted: () => boolean): Promise<void> {
    return this.#client.finish(isWanted);
  }

  protected override doFlush(): void {
    this.#client.flush();
  }

  protected override async doPrepare(op: CheckedOp): Promise<void> {
    await Promise.all(kernelsOf(op, this.#client.traits).map((kernel) => this.#client.compile(kernel)));
  }

  protected override unsupportedReason(op: CheckedOp): string | undefined {
    if (!mayBeRefused(op, this.#client.traits)) return undefined;
    try {
      kernelsOf(op, this.#client.traits);
      return undefined;
    } catch (error) {
      if (isBackendError(error, 'UNSUPPORTED')) return error.detail;
      throw error;
    }
  }

  protected override pooledBytes(): number {
    return this.#opened?.memory().pooledBytes ?? 0;
  }

  protected override doGemm(call: ResolvedGemm<DeviceMemory>): void {
    this.#record(call.opName, (recorder) => planGemm(call, recorder));
  }

  protected override doScale(call: ResolvedScale<DeviceMemory>): void {
    this.#record(call.opName, (recorder) => planScale(call, recorder));
  }

  protected override doConv2d(call: ResolvedConv2d<DeviceMemory>): void {
    this.#record(call.opName, (recorder) => planConv2d(call, recorder));
  }

  protected override doAttention(call: ResolvedAttention<DeviceMemory>): void {
    this.#record(call.opName, (recorder) => planAttention(call, recorder));
  }

  protected override doReduce(call: ResolvedReduce<DeviceMemory>): void {
    this.#record(call.opName, (recorder) => planReduce(call, recorder));
  }

  protected override doUnary(call: ResolvedUnary<DeviceMemory>): void {
    this.#record(call.opName, (recorder) => planUnary(call, recorder));
  }

  protected override doBinary(call: ResolvedBinary<DeviceMemory>): void {
    this.#record(call.opName, (recorder) => planBinary(call, recorder));
  }

  get #client(): LevelZeroClient {
    if (this.#opened === undefined) throw new BackendError('NOT_INITIALIZED', '', { backend: this.name });
    return this.#opened;
  }

  #record(op: string, plan: (recorder: Recorder) => void): void {
    this.#client.record(op, plan);
  }

  #makeNative(): LevelZeroNative {
    const client = (): LevelZeroClient => {
      this.assertUsable('native');
      return this.#client;
    };
    const spanOf = (ptr: DevicePtr): Span => this.operandAt(ptr);
    return {
      get driver() {
        return client().native.driver;
      },
      get device() {
        return client().native.device;
      },
      get context() {
        return client().native.context;
      },
      get queue() {
        return client().native.queue;
      },
      get libraryFile() {
        return client().library.file;
      },
      pointerOf: (ptr) => addressOf(spanOf(ptr)),
      load: (words, options) => client().load(words, options),
      launch: (module, kernel, args, groups, options) => {
        const loaded = loadedModule(module, client());
        client().launch(loaded, kernel, nativeArguments(args, spanOf), groups, options);
      },
      // Also after a failure: then the counters and the logs matter most.
      memory: () => this.#client.memory(),
      buildLogs: () => this.#client.buildLogs,
    };
  }
}

/**
 * Whether a plan could find that the device cannot run it: then it is planned twice. No plan but conv2d's launches more
 * groups than an operand has elements.
 */
function mayBeRefused({ hook, call }: CheckedOp, { maxGroups }: DeviceTraits): boolean {
  const certain = Math.min(...maxGroups);
  return hook === 'conv2d' || call.operands.some(({ elements }) => elements > certain);
}
