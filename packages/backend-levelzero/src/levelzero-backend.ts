import type { DevicePtr, Explanation } from '@concord/backend-core';
import type { BaseBackendOptions, InitResult, KernelCall } from '@concord/backend-core/implement';
import { kernelsOf, exclude, PlannedBackend } from '@concord/variants';
import { addressOf, takesLargeBuffers } from './device/command-stream.ts';
import { LevelZeroClient } from './device/level-zero-client.ts';
import type { LevelZeroOptions } from './device/options.ts';
import type { Kernel } from './kernels/kernel.ts';
import { explainPlan, type OpPlan, PLANNING } from './kernels/op-plan.ts';
import type { DeviceMemory, Recorder, Span } from './kernels/recorder.ts';
import { MAX_K } from './kernels/top-k/plan.ts';
import { tryMatrixEngines } from './matrix-engine-trial.ts';
import { type LevelZeroNative, loadedModule, nativeArguments } from './native.ts';

/** Options of a {@link LevelZeroBackend}. */
export interface LevelZeroBackendOptions extends LevelZeroOptions, BaseBackendOptions {}

/** The time for which `dispose` waits for the device; the base class gives up at the same time. */
const DISPOSE_TIMEOUT_MS = 4_900;

/** The contract in SPIR-V, on devices of Level Zero: Intel's GPUs. */
export class LevelZeroBackend extends PlannedBackend<DeviceMemory, OpPlan, Recorder, Kernel, LevelZeroClient> {
  readonly name = 'level-zero';
  readonly native: LevelZeroNative;
  readonly #options: LevelZeroOptions;
  /** Plans whose kernels are all built; those for memory beyond 4 GiB are separate kernels. */
  readonly #built = new WeakSet<OpPlan>();
  readonly #builtForLarge = new WeakSet<OpPlan>();

  constructor(options: LevelZeroBackendOptions = {}) {
    super(PLANNING, options);
    this.#options = options;
    this.native = this.#makeNative();
  }

  protected explainPlan(plan: OpPlan): Explanation {
    return explainPlan(plan);
  }

  protected compile(kernel: Kernel, plan: OpPlan): Promise<void> {
    return this.opened.compile(kernel, takesLargeBuffers(plan, []));
  }

  protected async doInit(): Promise<InitResult> {
    const client = await LevelZeroClient.open(this.#options);
    this.use(client);
    await tryMatrixEngines(client, this.#options);
    return {
      device: client.deviceInfo,
      limits: { maxAllocationBytes: client.traits.maxAllocationBytes, maxHeadDim: 256, maxTopK: MAX_K },
      numerics: { f32Subnormals: 'may-flush' },
    };
  }

  protected async doDispose(): Promise<void> {
    await this.opened.dispose(DISPOSE_TIMEOUT_MS);
  }

  protected doCopyHtod(dst: Span, src: Uint8Array): void {
    this.opened.write(dst, src);
  }

  protected doCopyDtod(dst: Span, src: Span): void {
    this.opened.copy(dst, src);
  }

  protected doFill(dst: Span, byte: number): void {
    this.opened.fill(dst, byte);
  }

  /**
   * Builds all kernels of a plan before any of it is recorded: where one does not build, its variant is excluded on this device, and
   * the op is planned again.
   */
  protected override isReady(plan: OpPlan, operands: readonly Span[]): boolean {
    const isLarge = takesLargeBuffers(plan, operands);
    const built = isLarge ? this.#builtForLarge : this.#built;
    if (built.has(plan)) return true;
    for (const kernel of kernelsOf(plan)) {
      try {
        this.opened.compileNow(kernel, isLarge);
      } catch (error) {
        this.onBuildFailed(plan, kernel, error);
        return false;
      }
    }
    built.add(plan);
    return true;
  }

  protected override onBuilt(plan: OpPlan): void {
    (takesLargeBuffers(plan, []) ? this.#builtForLarge : this.#built).add(plan);
  }

  protected override onBuildFailed(plan: OpPlan, kernel: Kernel, error: unknown): void {
    exclude(this.opened.tuning, plan, kernel, error);
  }

  /** No plan but conv2d's launches more groups than an operand has elements. */
  protected override mayBeRefused({ kernel, call }: KernelCall): boolean {
    const certain = Math.min(...this.opened.traits.maxGroups);
    if (kernel === 'conv2dForward') return true;
    if (kernel !== 'run') return call.operands.some(({ elements }) => elements > certain);
    return [...call.inputs, ...call.outputs].some(({ extent }) => extent > certain);
  }

  #makeNative(): LevelZeroNative {
    const client = (): LevelZeroClient => this.usable;
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
      memory: () => this.opened.memory(),
      buildLogs: () => this.opened.buildLogs,
      tuning: this.makeTuning(),
    };
  }
}
