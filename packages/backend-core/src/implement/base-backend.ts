import type { ComputeBackend, OpPlan, OpShape, PlannedCall, PrepareOptions } from '../contract/backend.ts';
import { type Capabilities, OP_NAMES, type OpName, type Support } from '../contract/capabilities.ts';
import type { DType } from '../contract/element-types.ts';
import type { LaunchTrace, TracedLaunch } from '../contract/launch-trace.ts';
import { checkCallObject, checkOneOf, describe } from '../contract/checks.ts';
import { checkPrepareOptions } from '../contract/memory.validate.ts';
import { isBackendError } from '../errors/backend-error.ts';
import { invalid } from '../errors/invalid.ts';
import type { InputSpecs, Kernel, ParameterSpecs } from '../kernel/graph.ts';
import { checkKernel } from '../kernel/check-kernel.ts';
import { askedOf, checkViewsGiven, keyOfRun, type ReadRun, readRun } from '../kernel/read-run-call.ts';
import type { RunCall, RunShape } from '../kernel/run-call.ts';
import { checkedRun } from '../kernel/same-run.ts';
import type { AttentionCall } from '../ops/attention.ts';
import type { BinaryCall } from '../ops/binary.ts';
import type { Conv2dCall } from '../ops/conv2d.ts';
import type { BatchedGemmCall, GemmCall } from '../ops/gemm.ts';
import { ReadEpilogue } from '../ops/epilogue.ts';
import { type DefinedOp, OPS } from '../ops/index.ts';
import type { ReduceCall } from '../ops/reduce.ts';
import type { TopKCall } from '../ops/top-k.ts';
import type { UnaryCall } from '../ops/unary.ts';
import type { AllocationTable } from './allocation-table.ts';
import { assertDType, assertSupported, type SupportSource } from './assert-supported.ts';
import { type PlannedKernels, kernelOf, type KernelCall, type Launch, resolvedCall } from './backend-kernels.ts';
import { type CallPlan, launchOf, planOp, planRun, resolveOperands, usesOf, withScalars } from './call-plan.ts';
import { capabilitiesOf } from './capabilities-of.ts';
import type { InitResult } from './lifecycle.ts';
import { ListCache, type ListKey } from './list-map.ts';
import { lowerCall } from './lower-call.ts';
import {
  checkGiven,
  NO_NUMBERS,
  fieldsOf,
  pointerNames,
  type ReadCall,
  readCall,
  readOperands,
  withNullOutput,
} from './read-call.ts';
import { reading } from '../errors/reading.ts';
import { type LaunchMethods, type LaunchTimer, traceLaunches } from './trace-launches.ts';
import { RecordMethods } from './record-methods.ts';
import type { Sequence } from './capture.ts';

/** Entries of each of two generations: keys used once do not evict hot ones. */
const MAX_PLANS = 512;

/**
 * The contract's public methods, checked once for all backends. The author of a backend extends this class with a record of
 * kernels and the `do...` methods of {@link MemoryMethods}.
 *
 * @typeParam Buffer - the backend's native memory object
 */
export abstract class BaseBackend<Buffer> extends RecordMethods<Buffer> implements ComputeBackend {
  readonly contractVersion = 3 as const;
  abstract readonly native: unknown;
  /** The capabilities of this backend; looked at when the device is open. */
  protected abstract readonly kernels: PlannedKernels<Buffer>;
  readonly #plans = new ListCache<CallPlan>(MAX_PLANS);

  gemm(call: GemmCall): void {
    this.#op('gemm', call);
  }

  batchedGemm(call: BatchedGemmCall): void {
    this.#op('batchedGemm', call);
  }

  gemmF16(call: GemmCall): void {
    this.#op('gemmF16', call);
  }

  conv2dForward(call: Conv2dCall): void {
    this.#op('conv2dForward', call);
  }

  attention(call: AttentionCall): void {
    this.#op('attention', call);
  }

  topK(call: TopKCall): void {
    this.#op('topK', call);
  }

  reduce(call: ReduceCall): void {
    this.#op('reduce', call);
  }

  unary(call: UnaryCall): void {
    this.#op('unary', call);
  }

  binary(call: BinaryCall): void {
    this.#op('binary', call);
  }

  run<Inputs extends InputSpecs, Parameters extends ParameterSpecs, Outputs extends string>(
    kernel: Kernel<Inputs, Parameters, Outputs>,
    call: RunCall<Inputs, Parameters, Outputs>,
  ): void {
    this.assertUsable('run');
    try {
      const own = reading('the kernel', () => checkKernel(kernel));
      try {
        this.#run(own, call);
      } catch (error) {
        throw namingKernel(own, error);
      }
    } catch (error) {
      throw this.failure('run', error);
    }
  }

  plan<Op extends OpName>(op: Op, shape: OpShape<Op>): PlannedCall {
    const own = this.guard('plan', () => checkOneOf('op', op, OP_NAMES));
    return this.guard(own, () => this.#planned(own, shape));
  }

  traceLaunches(onLaunch: (launch: TracedLaunch) => void): LaunchTrace {
    return this.guard('traceLaunches', () => {
      return traceLaunches(this as unknown as LaunchMethods<Buffer>, () => this.startTimer(), onLaunch);
    });
  }

  /**
   * Times the launches from now on. Override it to measure the device; by default only the host's time of queueing is
   * known.
   */
  protected startTimer(): LaunchTimer | undefined {
    return undefined;
  }

  supports<Op extends OpName>(op: Op, shape?: OpShape<Op> | { readonly dtype?: DType }): Support {
    this.assertUsable('supports');
    if (!this.capabilities.ops.includes(op)) {
      const named = typeof op === 'string' ? op : describe(op);
      return { ok: false, reason: `${this.name} does not implement ${named}` };
    }
    try {
      if (shape !== undefined) reading('the shape', () => this.#checkSupported(op, shape));
      return { ok: true };
    } catch (error) {
      if (isBackendError(error)) return { ok: false, reason: error.detail };
      throw error;
    }
  }

  async prepare(plans: readonly OpPlan[], options: PrepareOptions = {}): Promise<void> {
    const { signal, onProgress } = this.guard('prepare', () => {
      this.capture?.refuse('prepare');
      return reading('options', () => checkPrepareOptions(options));
    });
    // All are checked before the first is compiled: a mistake in the last should not cost the time of the others.
    const lowered = this.guard('prepare', () => reading('plans', () => readPlans(plans))).map(({ op, call }) => ({
      op,
      steps: this.loweredShape(op, call),
    }));
    if (signal?.aborted === true) throw signal.reason;
    // A compile takes as long as it takes; abort, loss and dispose end the wait for it at once.
    const wait = signal === undefined ? { timeoutMs: Infinity } : { timeoutMs: Infinity, signal };
    for (const [index, { op, steps }] of lowered.entries()) {
      await this.wait(op, wait, async () => {
        await Promise.all(
          steps.map(async ({ kernel, call, ...more }) =>
            kernelOf(this.kernels, kernel)?.prepare?.(call, 'inPlaceOf' in more ? more.inPlaceOf : undefined),
          ),
        );
      });
      onProgress?.(index + 1, lowered.length);
    }
  }

  /**
   * A shape, checked as `prepare` checks it, as the kernels that it runs: for tools of a backend.
   *
   * @throws {BackendError} INVALID_ARGUMENT or UNSUPPORTED, as the call itself
   */
  protected loweredShape(op: OpName, shape: object): readonly KernelCall[] {
    return this.guard(op, () => reading('the shape', () => this.#loweredShape(op, shape)));
  }

  protected override capabilitiesOf({ limits, numerics }: InitResult): Capabilities {
    return capabilitiesOf(this.kernels, limits, numerics);
  }

  /** Every op's way but that of `run`. */
  #op(op: DefinedOp, call: object): void {
    if (this.usableMemory === undefined) this.assertUsable(op);
    try {
      const read = readCall(op, call, false);
      // The caller's getters may have done anything; from here on none of them is called.
      const memory = this.usableMemory ?? this.memoryFor(op);
      const plan = this.#plans.get(read.key) ?? this.#planOp(op, read);
      this.#queue(memory, plan, read.pointers, withScalars(plan, read.params, read.scalars));
    } catch (error) {
      throw this.failure(op, error);
    }
  }

  #run(kernel: Kernel, call: object): void {
    const read = reading('the call', () => readRun(kernel, call));
    const memory = this.memoryFor('run');
    const { inputs, outputs, params } = read;
    checkViewsGiven('inputs', kernel.inputs, inputs);
    checkViewsGiven('outputs', kernel.outputs, outputs);
    if (params.length < kernel.params.length) throw invalid('params must be given');
    const key = keyOfRun(kernel, read);
    const plan = this.#plans.get(key) ?? this.#planRun(kernel, read, key);
    this.#queue(memory, plan, [...inputs.pointers, ...outputs.pointers], params);
  }

  #queue(
    memory: AllocationTable<Buffer>,
    plan: CallPlan,
    pointers: readonly (number | undefined)[],
    params: readonly number[],
  ): void {
    const operands = resolveOperands(memory, plan, pointers);
    const { steps, opName } = plan;
    this.capture?.uses(opName, usesOf(plan, operands));
    for (let index = 0; index < steps.length; index++) {
      const launch = launchOf(plan, steps[index] as CallPlan['steps'][number], operands, params);
      this.doLaunch(launch);
      this.capture?.call(launch);
    }
  }

  /**
   * Queues a checked call; it takes effect in call order. Override it to plan calls: `call` is the same object for
   * calls that differ in operands and parameters only, so a backend can keep a plan under it. Default: the kernel's
   * `run`.
   */
  protected doLaunch(launch: Launch<Buffer>): void {
    const { kernel, call } = resolvedCall(launch);
    kernelOf(this.kernels, kernel)?.run?.(call);
  }

  #planOp(op: DefinedOp, read: ReadCall): CallPlan {
    const outputIsNull = read.pointers[pointerNames(op, read).indexOf(OPS[op].output)] === 0;
    const checked = OPS[op].check(fieldsOf(op, read) as never, outputIsNull);
    // A mistake of the caller's is one on every device, also on one that does not take the call.
    checkGiven(op, read);
    const steps = checked === null ? [] : lowerCall(op, checked, this.kernels);
    if (checked !== null) assertSupported(this.#supportSource(), op, steps, checked.dtype);
    const plan = planOp(op, checked, steps, pointerNames(op, read));
    this.#plans.add(read.key, plan);
    return plan;
  }

  #planRun(kernel: Kernel, read: ReadRun, key: ListKey): CallPlan {
    const geometry = checkedRun(kernel, askedOf(kernel, read));
    // Before there may be nothing to do: `supports` says no for every kernel then.
    assertDType(this.#supportSource(), 'run', undefined);
    const plan = planRun(geometry);
    if (plan.steps.length > 0) {
      assertSupported(this.#supportSource(), 'run', [{ kernel: 'run', call: geometry }], undefined);
    }
    this.#plans.add(key, plan);
    return plan;
  }

  protected override doSequence(calls: readonly Launch<Buffer>[]): Sequence {
    return {
      run: () => {
        for (const call of calls) this.doLaunch(call);
      },
      release: () => undefined,
    };
  }

  #loweredShape(op: OpName, shape: object): readonly KernelCall[] {
    checkOneOf('op', op, OP_NAMES);
    return this.#planOfShape(op, shape).steps.map(({ kernelCall }) => kernelCall);
  }

  /** A plan that was made before, if the device still takes it: that may have changed since. */
  #knownPlan(op: OpName, key: ListKey): CallPlan | undefined {
    const plan = this.#plans.get(key);
    const steps = plan?.steps.map(({ kernelCall }) => kernelCall) ?? [];
    if (plan !== undefined) assertSupported(this.#supportSource(), op, steps, undefined);
    return plan;
  }

  #planOfShape(op: OpName, shape: object): CallPlan {
    if (op === 'run') return this.#planOfRunShape(shape).plan;
    const read = readCall(op, shape, true);
    return this.#knownPlan(op, read.key) ?? this.#planOp(op, read);
  }

  #planOfRunShape(shape: object): { readonly kernel: Kernel; readonly plan: CallPlan } {
    checkCallObject('run', shape);
    const kernel = reading('the kernel', () => checkKernel((shape as RunShape).kernel));
    try {
      const read = reading('the shape', () => readRun(kernel, shape));
      // The caller's getters may have done anything.
      this.assertUsable('run');
      const key = keyOfRun(kernel, read);
      return { kernel, plan: this.#knownPlan('run', key) ?? this.#planRun(kernel, read, key) };
    } catch (error) {
      throw namingKernel(kernel, error);
    }
  }

  #planned(op: OpName, shape: object): PlannedCall {
    if (op === 'run') {
      const { kernel, plan } = this.#planOfRunShape(shape);
      const names = [
        ...kernel.inputs.map(({ name }) => `inputs.${name}`),
        ...kernel.outputs.map(({ name }) => `outputs.${name}`),
      ];
      return this.#launcher(op, names, kernel, () => plan, []);
    }
    const read = readCall(op, shape, true);
    this.assertUsable(op);
    const plan = this.#knownPlan(op, read.key) ?? this.#planOp(op, read);
    const names = pointerNames(op, read);
    const output = names.indexOf(OPS[op].output);
    const { epilogue } = fieldsOf(op, read);
    // Where a size is zero, a null output is nothing to do, so such a call has a plan of its own.
    const planOf = (pointers: readonly number[]): CallPlan => {
      if (pointers[output] !== 0) return plan;
      const key = withNullOutput(read.key);
      return this.#plans.get(key) ?? this.#planOp(op, { ...read, pointers, key });
    };
    return this.#launcher(
      op,
      names,
      epilogue instanceof ReadEpilogue ? epilogue.kernel : undefined,
      planOf,
      read.scalars,
    );
  }

  #launcher(
    op: OpName,
    names: readonly string[],
    kernel: Kernel | undefined,
    planOf: (pointers: readonly number[]) => CallPlan,
    scalars: ReadCall['scalars'],
  ): PlannedCall {
    const params = kernel?.params ?? [];
    const launch = (given: readonly number[], values: readonly number[] = NO_NUMBERS): void => {
      if (this.usableMemory === undefined) this.assertUsable(op);
      try {
        const { pointers, numbers } = readOperands(names, given, params, values);
        // Either list may be of the caller's making. From here on nothing of it is looked at.
        const memory = this.usableMemory ?? this.memoryFor(op);
        const plan = planOf(pointers);
        this.#queue(memory, plan, pointers, withScalars(plan, numbers, scalars));
      } catch (error) {
        throw this.failure(op, op === 'run' && kernel !== undefined ? namingKernel(kernel, error) : error);
      }
    };
    return Object.freeze({ operands: Object.freeze(names), launch });
  }

  /** Checks a shape for `supports`, which may be as little as a dtype. */
  #checkSupported(op: OpName, shape: object): void {
    checkCallObject(op, shape);
    const own = { ...shape };
    const { dtype } = own as { dtype?: DType };
    if (Object.keys(own).some((name) => name !== 'dtype')) this.#loweredShape(op, own);
    else if (dtype !== undefined) assertDType(this.#supportSource(), op, dtype);
  }

  #supportSource(): SupportSource {
    return { name: this.name, capabilities: this.capabilities, kernels: this.kernels };
  }
}

/** Errors of a call of a kernel say which kernel. */
function namingKernel(kernel: Kernel, error: unknown): unknown {
  const prefix = `kernel ${kernel.name}`;
  if (!isBackendError(error, 'INVALID_ARGUMENT') || error.detail.startsWith(prefix)) return error;
  return invalid(`${prefix}: ${error.detail}`, { hint: error.hint, cause: error });
}

/** @throws {BackendError} INVALID_ARGUMENT unless every plan is an object and names an op */
function readPlans(plans: readonly OpPlan[]): readonly OpPlan[] {
  if (!Array.isArray(plans)) throw invalid(`prepare takes an array of plans, got ${describe(plans)}`);
  return Array.from(plans as unknown[], (plan, index) => {
    if (typeof plan !== 'object' || plan === null) {
      throw invalid(`plans[${index}] must be { op, call }, got ${describe(plan)}`);
    }
    const { op, call } = plan as OpPlan;
    return { op: checkOneOf(`plans[${index}].op`, op, OP_NAMES), call } as OpPlan;
  });
}
