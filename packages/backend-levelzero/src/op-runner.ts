import { isBackendError, type VariantReport } from '@concord/backend-core';
import type { KernelCall, Launch } from '@concord/backend-core/implement';
import { hasLargeScratch, isInLargeBuffer } from './device/large-buffers.ts';
import type { LevelZeroClient } from './device/level-zero-client.ts';
import type { Kernel } from './kernels/kernel.ts';
import { kernelsOf, type OpPlan } from './kernels/op-plan.ts';
import { PlanCache } from './kernels/plan-cache.ts';
import type { DeviceMemory } from './kernels/recorder.ts';

/**
 * Runs ops by their plans. All kernels of a plan are built before any of it is recorded: where one does not build, its
 * variant is left out on this device, and the op is planned again.
 */
export class OpRunner {
  readonly #client: LevelZeroClient;
  readonly #plans: PlanCache;
  /** Plans whose kernels are all built; those for memory beyond 4 GiB are separate kernels. */
  readonly #built = new WeakSet<OpPlan>();
  readonly #builtForLarge = new WeakSet<OpPlan>();

  constructor(client: LevelZeroClient) {
    this.#client = client;
    this.#plans = new PlanCache(client.traits);
  }

  /** The number of times that each variant ran, and the variants that could have. */
  report(): VariantReport {
    const { variantRuns, tuning } = this.#client;
    return {
      runs: Object.fromEntries(variantRuns),
      candidates: [...this.#plans.candidates],
      forced: tuning.preferences.forced,
      leftOut: tuning.leftOut,
    };
  }

  /** Records an op with its operands. @throws {BackendError} as planning and building */
  run(launch: Launch<DeviceMemory>): void {
    const { opName, operands, params } = launch;
    const isLarge = operands.some(isInLargeBuffer);
    const plan = this.#builtPlan(launch, isLarge);
    const hasLargeBuffers = isLarge || hasLargeScratch(plan);
    this.#client.run(opName, plan, { operands, numbers: params, hasLargeBuffers });
  }

  /** The plan of a call without operands. Nothing is built. @throws {BackendError} as planning */
  planOf(op: KernelCall): OpPlan {
    return this.#plans.ofShape(op);
  }

  /** Builds what a call needs whose operands are small, on other threads. @throws {BackendError} as planning and building */
  async prepare(op: KernelCall): Promise<void> {
    for (;;) {
      const plan = this.#plans.ofShape(op);
      const kernels = [...kernelsOf(plan)];
      const isLarge = hasLargeScratch(plan);
      const builds = await Promise.allSettled(kernels.map((kernel) => this.#client.compile(kernel, isLarge)));
      const failed = builds.findIndex(({ status }) => status === 'rejected');
      if (failed < 0) {
        this.#builtFor(isLarge).add(plan);
        return;
      }
      this.#leaveOut(plan, kernels[failed] as Kernel, (builds[failed] as PromiseRejectedResult).reason);
    }
  }

  #builtFor(hasLargeBuffers: boolean): WeakSet<OpPlan> {
    return hasLargeBuffers ? this.#builtForLarge : this.#built;
  }

  #builtPlan(launch: Launch<DeviceMemory>, isLarge: boolean): OpPlan {
    for (;;) {
      const plan = this.#plans.of(launch);
      const hasLargeBuffers = isLarge || hasLargeScratch(plan);
      if (this.#builtFor(hasLargeBuffers).has(plan) || this.#build(plan, hasLargeBuffers)) return plan;
    }
  }

  /** Returns whether all of a plan's kernels are built now; else another plan is wanted. */
  #build(plan: OpPlan, hasLargeBuffers: boolean): boolean {
    for (const kernel of kernelsOf(plan)) {
      try {
        this.#client.compileNow(kernel, hasLargeBuffers);
      } catch (error) {
        this.#leaveOut(plan, kernel, error);
        return false;
      }
    }
    this.#builtFor(hasLargeBuffers).add(plan);
    return true;
  }

  /**
   * Leaves out what wanted a kernel that does not build: its own variants, or for one that prepares or finishes work those
   * that the plan is made of.
   *
   * @throws {unknown} `error` where that would not help: it says nothing of the kernel, or there are no variants
   */
  #leaveOut({ steps, picks }: OpPlan, kernel: Kernel, error: unknown): void {
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
    for (const id of ids) this.#client.tuning.leaveOut(id, why);
  }
}
