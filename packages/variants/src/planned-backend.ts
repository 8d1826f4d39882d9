import {
  type BackendError,
  type DeviceInfo,
  type Explanation,
  isBackendError,
  type OpName,
  type OpShape,
  type VariantReport,
} from '@concord/backend-core';
import {
  BaseBackend,
  type BaseBackendOptions,
  type KernelCall,
  type Launch,
  type LaunchTimer,
  type Operand,
  type PlannedKernels,
  type Sequence,
} from '@concord/backend-core/implement';
import type { Kernel as RunKernel, RunShape } from '@concord/backend-core/kernel';
import { type AnyFamily, familiesOf } from './family.ts';
import { kernelsOf, type LaunchPlan } from './launch-plan.ts';
import { type CallPlans, LaunchPlans, type Planning } from './launch-plans.ts';
import type { DeviceTuning } from './tuning/device-tuning.ts';
import type { VariantTuning } from './tuning/variant-tuning.ts';
import type { VariantChooser, VariantPick } from './variant-choice.ts';

/** A call with its plan. */
export interface PlannedCall<Buffer, Plan> {
  /** The method that was called, for messages. */
  readonly op: string;
  readonly plan: Plan;
  readonly operands: readonly Operand<Buffer>[];
  readonly params: readonly number[];
}

/** An open device, as a {@link PlannedBackend} works with it. */
export interface PlannedDevice<Buffer, Plan> {
  readonly traits: VariantChooser['traits'];
  readonly tuning: DeviceTuning;
  readonly deviceInfo: DeviceInfo;
  /** The number of launches of each variant, by its id. */
  readonly variantRuns: ReadonlyMap<string, number>;
  /** Calls `listener` with each failure of work that was accepted, and with DEVICE_LOST. */
  onFailure(listener: (error: BackendError) => void): void;
  allocate(bytes: number, label?: string): Buffer;
  deallocate(id: number): unknown;
  read(span: Operand<Buffer>, deliver: (bytes: Uint8Array) => void, isWanted: () => boolean): Promise<void>;
  finish(isWanted: () => boolean): Promise<void>;
  flush(): void;
  memory(): { readonly pooledBytes: number };
  readonly stream: {
    /** Records what was planned for an op, with these operands and parameters; `op` is its name in messages. */
    run(op: string, plan: Plan, operands: readonly Operand<Buffer>[], params: readonly number[]): void;
  };
  /** Times what is launched from now on. */
  startTimer(): LaunchTimer;
  /** Prepares what was planned for ops, to be queued again and again. */
  sequence(calls: readonly PlannedCall<Buffer, Plan>[]): Sequence;
}

/**
 * A backend whose ops are planned, by families of kernels with variants, and then recorded: it extends this class with its
 * planning and its device. A plan is kept by call, made anew where a variant is forced or excluded, and told to `explain`.
 */
export abstract class PlannedBackend<
  Buffer extends { readonly id: number },
  Plan extends LaunchPlan<Kernel>,
  Recorder extends VariantChooser,
  Kernel,
  Device extends PlannedDevice<Buffer, Plan>,
> extends BaseBackend<Buffer> {
  protected readonly kernels: PlannedKernels<Buffer>;
  readonly #planning: Planning<Buffer, Plan, Recorder, Kernel>;
  #opened: Device | undefined;
  #openedPlans: LaunchPlans<Buffer, Plan, Recorder, Kernel> | undefined;

  constructor(planning: Planning<Buffer, Plan, Recorder, Kernel>, options: BaseBackendOptions) {
    super(options);
    this.#planning = planning;
    const kernels = familiesOf(planning.families).map((family) => [family.kernel, this.#kernelOf(family)]);
    this.kernels = Object.fromEntries(kernels) as PlannedKernels<Buffer>;
  }

  /** Reports which kernel variants ran. Works after loss too. */
  variants(): VariantReport {
    const { variantRuns, tuning } = this.opened;
    const { preferences, excluded } = tuning;
    const candidates = [...this.#plans.candidates];
    return { runs: Object.fromEntries(variantRuns), candidates, forced: preferences.forced, excluded };
  }

  /** Explains how a kernel is computed: the launches, with their code. Errors as `run`. */
  explain(kernel: RunKernel, call: Omit<RunShape, 'kernel'>): Explanation {
    this.assertUsable('explain');
    const [step] = this.loweredShape('run', { ...call, kernel });
    return step === undefined ? { passes: [] } : this.explainPlan(this.#plans.ofShape(step));
  }

  /** Explains the launches of a plan, for people. For implementers. */
  protected abstract explainPlan(plan: Plan): Explanation;

  /** Builds a kernel of a plan ahead of its first launch. For implementers. */
  protected abstract compile(kernel: Kernel, plan: Plan): Promise<unknown>;

  /** Takes a device into use; its failures and its loss are those of the backend from now on. For implementers. */
  protected use(device: Device): void {
    this.#opened = device;
    this.#openedPlans = new LaunchPlans(this.#planning, device.traits);
    device.onFailure((error) => {
      if (error.code === 'DEVICE_LOST') this.reportLost(error.detail, error);
      else this.reportFailure(error);
    });
  }

  /** The device, also after a failure. */
  protected get opened(): Device {
    if (this.#opened === undefined) throw this.notReady();
    return this.#opened;
  }

  /** The device, for `native`: as long as the backend can be used. */
  protected get usable(): Device {
    this.assertUsable('native');
    return this.opened;
  }

  /** The choice between variants, for `native`. */
  protected makeTuning(): VariantTuning {
    const tuning = (): DeviceTuning => this.usable.tuning;
    const choices = <Op extends OpName>(op: Op, shape: OpShape<Op>): VariantPick[] =>
      this.loweredShape(op, shape).flatMap((step) => this.#plans.ofShape(step).picks);
    return {
      choices,
      force: (variants) => tuning().force(variants),
      save: (measurements) => tuning().save(measurements),
      checkCanSave: () => tuning().checkCanSave(),
      get profile() {
        return tuning().profile;
      },
    };
  }

  /**
   * Returns whether a plan could find that the device cannot run a call; only then it is planned to know. Default: it
   * could.
   */
  protected mayBeRefused(_call: KernelCall): boolean {
    return true;
  }

  /** Returns whether a plan can be recorded; if not, its call is planned again. Default: it can. */
  protected isReady(_plan: Plan, _operands: readonly Operand<Buffer>[]): boolean {
    return true;
  }

  /** Notes that the kernels of a plan are built. For implementers. */
  protected onBuilt(_plan: Plan): void {}

  /**
   * Handles a kernel that does not build. If it returns, the call is planned again; see {@link exclude}.
   *
   * @throws {unknown} by default `error`
   */
  protected onBuildFailed(_plan: Plan, _kernel: Kernel, error: unknown): void {
    throw error;
  }

  protected override doLaunch(launch: Launch<Buffer>): void {
    const plans = this.#plans.ofCall(launch);
    this.opened.stream.run(launch.opName, this.#readyPlan(plans, launch), launch.operands, paramsOf(plans, launch));
  }

  /** The plan of a call. One of whose kernels does not build may exclude a variant: then there is another plan. */
  #readyPlan(plans: CallPlans<Plan>, launch: Launch<Buffer>): Plan {
    let plan = this.#plans.find(plans, launch);
    while (!this.isReady(plan, launch.operands)) plan = this.#plans.of(launch);
    return plan;
  }

  protected override doSequence(calls: readonly Launch<Buffer>[]): Sequence {
    const planned = calls.map((launch): PlannedCall<Buffer, Plan> => {
      const plans = this.#plans.ofCall(launch);
      const { opName: op, operands } = launch;
      return { op, operands, plan: this.#readyPlan(plans, launch), params: paramsOf(plans, launch) };
    });
    return this.opened.sequence(planned);
  }

  protected override startTimer(): LaunchTimer {
    return this.opened.startTimer();
  }

  protected doAlloc(bytes: number, label: string | undefined): Buffer {
    return this.opened.allocate(bytes, label);
  }

  protected doFree(buffer: Buffer): void {
    this.opened.deallocate(buffer.id);
  }

  protected doCopyDtoh(
    src: Operand<Buffer>,
    deliver: (bytes: Uint8Array) => void,
    isWanted: () => boolean,
  ): Promise<void> {
    return this.opened.read(src, deliver, isWanted);
  }

  protected doSynchronize(isWanted: () => boolean): Promise<void> {
    return this.opened.finish(isWanted);
  }

  protected override doFlush(): void {
    this.opened.flush();
  }

  protected override pooledBytes(): number {
    return this.#opened?.memory().pooledBytes ?? 0;
  }

  get #plans(): LaunchPlans<Buffer, Plan, Recorder, Kernel> {
    if (this.#openedPlans === undefined) throw this.notReady();
    return this.#openedPlans;
  }

  #kernelOf({ kernel, dtypes, features }: AnyFamily<Recorder, Kernel>): object {
    const callOf = (call: KernelCall['call'], inPlaceOf?: readonly number[]): KernelCall =>
      ({ kernel, call, ...(inPlaceOf === undefined ? {} : { inPlaceOf }) }) as KernelCall;
    return {
      dtypes,
      ...(features === undefined ? {} : { features }),
      refuse: (call: KernelCall['call']) => this.#refuse(callOf(call)),
      prepare: (call: KernelCall['call'], inPlaceOf?: readonly number[]) => this.#prepare(callOf(call, inPlaceOf)),
    };
  }

  #refuse(call: KernelCall): string | undefined {
    if (!this.mayBeRefused(call)) return undefined;
    try {
      this.#plans.ofShape(call);
      return undefined;
    } catch (error) {
      if (isBackendError(error, 'UNSUPPORTED')) return error.detail;
      throw error;
    }
  }

  async #prepare(call: KernelCall): Promise<void> {
    for (;;) {
      const plans = this.#plans.ofPlaces(call);
      const wanted = plans.flatMap((plan) => [...kernelsOf(plan)].map((kernel) => ({ plan, kernel })));
      const builds = await Promise.allSettled(wanted.map(({ kernel, plan }) => this.compile(kernel, plan)));
      const failed = builds.findIndex(({ status }) => status === 'rejected');
      if (failed < 0) {
        for (const plan of plans) this.onBuilt(plan);
        return;
      }
      const { plan, kernel } = wanted[failed] as (typeof wanted)[number];
      this.onBuildFailed(plan, kernel, (builds[failed] as PromiseRejectedResult).reason);
    }
  }
}

function paramsOf({ params: own }: CallPlans<unknown>, { params }: Launch<unknown>): readonly number[] {
  return own === undefined ? params : [...own, ...params];
}

/**
 * Excludes what wanted a kernel that does not build: its own variants, or for one that prepares or finishes work those
 * that the plan is made of.
 *
 * @throws {unknown} `error` where that would not help: it says nothing of the kernel, or there are no variants
 */
export function exclude<Kernel extends { readonly name: string }>(
  tuning: DeviceTuning,
  { steps, picks }: LaunchPlan<Kernel>,
  kernel: Kernel,
  error: unknown,
): void {
  // A module without its kernel is INVALID_ARGUMENT.
  if (!isBackendError(error, 'DEVICE_ERROR') && !isBackendError(error, 'INVALID_ARGUMENT')) throw error;
  const own = steps.flatMap((step) => ('kernel' in step && step.kernel === kernel ? (step.variant ?? []) : []));
  const wanted = own.length > 0 ? own : picks.map(({ picked }) => picked);
  // All graphs have the variants of `run` in common: one that does not build is no reason to refuse the others.
  const isOnlyWay = (id: string): boolean =>
    id.startsWith('run/') && !picks.some(({ picked, candidates }) => picked === id && candidates.length > 1);
  const ids = new Set(wanted.filter((id) => !isOnlyWay(id)));
  if (ids.size === 0) throw error;
  const why = { reason: `kernel ${kernel.name} does not build`, kernel: kernel.name, log: error.detail };
  for (const id of ids) tuning.exclude(id, why);
}
