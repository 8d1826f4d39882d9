import {
  BackendError,
  type DevicePtr,
  type DType,
  isBackendError,
  type OpName,
  type VariantReport,
} from '@concord/backend-core';
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
import { variantTuning } from '@concord/variants';
import { addressOf } from './device/command-stream.ts';
import { LevelZeroClient } from './device/level-zero-client.ts';
import type { LevelZeroOptions } from './device/options.ts';
import { planScale } from './kernels/gemm/plan.ts';
import type { DeviceMemory, DeviceTraits, Span } from './kernels/recorder.ts';
import { tryMatrixEngines } from './matrix-engine-trial.ts';
import type { LevelZeroNative } from './native.ts';
import { loadedModule, nativeArguments } from './native-launch.ts';
import { OpRunner } from './op-runner.ts';

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
  #openedRunner: OpRunner | undefined;

  constructor(options: LevelZeroBackendOptions = {}) {
    super(options);
    this.#options = options;
    this.native = this.#makeNative();
  }

  /** Which kernel variants ran. Works after loss too. */
  variants(): VariantReport {
    return this.#runner.report();
  }

  protected async doInit(): Promise<InitResult> {
    const client = await LevelZeroClient.open(this.#options);
    this.#opened = client;
    this.#openedRunner = new OpRunner(client);
    await tryMatrixEngines(client, this.#options);
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

  protected override doPrepare(op: CheckedOp): Promise<void> {
    return this.#runner.prepare(op);
  }

  protected override unsupportedReason(op: CheckedOp): string | undefined {
    if (!mayBeRefused(op, this.#client.traits)) return undefined;
    try {
      this.#runner.planOf(op);
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
    this.#runner.run(call.opName, { hook: 'gemm', call });
  }

  protected override doScale(call: ResolvedScale<DeviceMemory>): void {
    this.#client.record(call.opName, (recorder) => planScale(call, recorder));
  }

  protected override doConv2d(call: ResolvedConv2d<DeviceMemory>): void {
    this.#runner.run(call.opName, { hook: 'conv2d', call });
  }

  protected override doAttention(call: ResolvedAttention<DeviceMemory>): void {
    this.#runner.run(call.opName, { hook: 'attention', call });
  }

  protected override doReduce(call: ResolvedReduce<DeviceMemory>): void {
    this.#runner.run(call.opName, { hook: 'reduce', call });
  }

  protected override doUnary(call: ResolvedUnary<DeviceMemory>): void {
    this.#runner.run(call.opName, { hook: 'unary', call });
  }

  protected override doBinary(call: ResolvedBinary<DeviceMemory>): void {
    this.#runner.run(call.opName, { hook: 'binary', call });
  }

  get #client(): LevelZeroClient {
    if (this.#opened === undefined) throw new BackendError('NOT_INITIALIZED', '', { backend: this.name });
    return this.#opened;
  }

  get #runner(): OpRunner {
    if (this.#openedRunner === undefined) throw new BackendError('NOT_INITIALIZED', '', { backend: this.name });
    return this.#openedRunner;
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
      tuning: variantTuning(
        () => client().tuning,
        (op, shape) => {
          const checked = this.checkedShape(op, shape);
          return checked === undefined ? [] : this.#runner.planOf(checked).picks;
        },
      ),
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
