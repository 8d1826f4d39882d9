import {
  type DevicePtr,
  type DType,
  type Explanation,
  isBackendError,
  type VariantReport,
} from '@concord/backend-core';
import {
  type PlannedKernels,
  DTYPES,
  BaseBackend,
  type BaseBackendOptions,
  type InitResult,
  type KernelCall,
  type Launch,
} from '@concord/backend-core/implement';
import type { Kernel, RunShape } from '@concord/backend-core/kernel';
import { variantTuning } from '@concord/variants';
import { addressOf } from './device/command-stream.ts';
import { LevelZeroClient } from './device/level-zero-client.ts';
import type { LevelZeroOptions } from './device/options.ts';
import type { DeviceMemory, DeviceTraits, Span } from './kernels/recorder.ts';
import { explainPlan } from './kernels/run/explain.ts';
import { MAX_K } from './kernels/top-k/plan.ts';
import { tryMatrixEngines } from './matrix-engine-trial.ts';
import type { LevelZeroNative } from './native.ts';
import { loadedModule, nativeArguments } from './native-launch.ts';
import { OpRunner } from './op-runner.ts';

/** Options of a {@link LevelZeroBackend}. */
export interface LevelZeroBackendOptions extends LevelZeroOptions, BaseBackendOptions {}

const FLOATS: readonly DType[] = ['f32', 'f16'];
const F32: readonly DType[] = ['f32'];

/** The time for which `dispose` waits for the device; the base class gives up at the same time. */
const DISPOSE_TIMEOUT_MS = 4_900;

/** The contract in SPIR-V, on devices of Level Zero: Intel's GPUs. */
export class LevelZeroBackend extends BaseBackend<DeviceMemory> {
  readonly name = 'level-zero';
  readonly native: LevelZeroNative;
  protected readonly kernels: PlannedKernels<DeviceMemory> = {
    gemm: { ...this.#kernel('gemm', FLOATS), hasEpilogues: true },
    conv2dForward: { ...this.#kernel('conv2dForward', FLOATS), hasEpilogues: true },
    attention: this.#kernel('attention', FLOATS),
    topK: this.#kernel('topK', F32),
    run: this.#kernel('run', DTYPES),
  };
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

  /** Explains how a kernel is computed: the launches, with the modules instruction by instruction. Errors as `run`. */
  explain(kernel: Kernel, call: Omit<RunShape, 'kernel'>): Explanation {
    this.assertUsable('explain');
    const [step] = this.loweredShape('run', { ...call, kernel });
    return step === undefined ? { passes: [] } : explainPlan(this.#runner.planOf(step));
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
      limits: { maxAllocationBytes: client.traits.maxAllocationBytes, maxHeadDim: 256, maxTopK: MAX_K },
      numerics: { f32Subnormals: 'may-flush' },
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

  protected override pooledBytes(): number {
    return this.#opened?.memory().pooledBytes ?? 0;
  }

  get #client(): LevelZeroClient {
    if (this.#opened === undefined) throw this.notReady();
    return this.#opened;
  }

  get #runner(): OpRunner {
    if (this.#openedRunner === undefined) throw this.notReady();
    return this.#openedRunner;
  }

  protected override doLaunch(launch: Launch<DeviceMemory>): void {
    this.#runner.run(launch);
  }

  /** A kernel that is planned and then recorded. */
  #kernel<Name extends KernelCall['kernel']>(
    kernel: Name,
    dtypes: readonly DType[],
  ): NonNullable<PlannedKernels<DeviceMemory>[Name]> {
    return {
      dtypes,
      refuse: (call: KernelCall['call']) => this.#refuse({ kernel, call } as KernelCall),
      prepare: (call: KernelCall['call'], inPlaceOf?: readonly number[]) =>
        this.#runner.prepare({ kernel, call, ...(inPlaceOf === undefined ? {} : { inPlaceOf }) } as KernelCall),
    };
  }

  #refuse(call: KernelCall): string | undefined {
    if (!mayBeRefused(call, this.#client.traits)) return undefined;
    try {
      this.#runner.planOf(call);
      return undefined;
    } catch (error) {
      if (isBackendError(error, 'UNSUPPORTED')) return error.detail;
      throw error;
    }
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
        this.capture?.refuse('native.launch');
        const loaded = loadedModule(module, client());
        client().launch(loaded, kernel, nativeArguments(args, spanOf), groups, options);
      },
      // Also after a failure: then the counters and the logs matter most.
      memory: () => this.#client.memory(),
      buildLogs: () => this.#client.buildLogs,
      tuning: variantTuning(
        () => client().tuning,
        (op, shape) => {
          const steps = this.loweredShape(op, shape);
          return steps.flatMap((step) => this.#runner.planOf(step).picks);
        },
      ),
    };
  }
}

/**
 * Returns whether a plan could find that the device cannot run it: then it is planned twice. No plan but conv2d's launches more
 * groups than an operand has elements.
 */
function mayBeRefused(call: KernelCall, { maxGroups }: DeviceTraits): boolean {
  const certain = Math.min(...maxGroups);
  if (call.kernel === 'conv2dForward') return true;
  if (call.kernel !== 'run') return call.call.operands.some(({ elements }) => elements > certain);
  return [...call.call.inputs, ...call.call.outputs].some(({ extent }) => extent > certain);
}
