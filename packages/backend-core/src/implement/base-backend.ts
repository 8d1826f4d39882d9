import type { ComputeBackend, OpPlan, OpShape, PrepareOptions } from '../contract/backend.ts';
import { type Capabilities, type DType, OP_NAMES, type OpName, type Support } from '../contract/capabilities.ts';
import { checkCallObject, checkOneOf, describe } from '../contract/checks.ts';
import { checkPrepareOptions } from '../contract/memory.validate.ts';
import { isBackendError } from '../errors/backend-error.ts';
import { invalid } from '../errors/invalid.ts';
import type { CheckedRun, ResolvedRun } from '../kernel/checked-run.ts';
import type { InputSpecs, Kernel, ParameterSpecs } from '../kernel/graph.ts';
import { checkKernel } from '../kernel/check-kernel.ts';
import { readRun } from '../kernel/read-run-call.ts';
import type { RunCall, RunShape } from '../kernel/run-call.ts';
import { checkedRun } from '../kernel/same-run.ts';
import type { AttentionCall } from '../ops/attention.ts';
import type { BinaryCall } from '../ops/binary.ts';
import type { Conv2dCall } from '../ops/conv2d.ts';
import type { BatchedGemmCall, GemmCall } from '../ops/gemm.ts';
import { type DefinedOp, OPS } from '../ops/index.ts';
import type { CheckedCall } from '../ops/op-definition.ts';
import type { ReduceCall } from '../ops/reduce.ts';
import type { TopKCall } from '../ops/top-k.ts';
import type { UnaryCall } from '../ops/unary.ts';
import { assertDType, assertSupported, type SupportSource } from './assert-supported.ts';
import { type BackendKernels, kernelOf, type KernelCall, type ResolvedCall } from './backend-kernels.ts';
import { capabilitiesOf } from './capabilities-of.ts';
import type { InitResult } from './lifecycle.ts';
import { lowerCall, type LoweredStep, type RunStep } from './lower-call.ts';
import type { Operand } from './operand.ts';
import { readCall, readFields } from './read-call.ts';
import { reading } from '../errors/reading.ts';
import { RecordMethods } from './record-methods.ts';
import { resolveOperands } from './resolve-operands.ts';
import { checkGiven, resolveRun } from './resolve-run.ts';
import type { Sequence } from './capture.ts';

type Fields = Record<string, unknown>;

/**
 * The contract's public methods, checked once for all backends. The author of a backend extends this class with a record of
 * kernels and the `do...` methods of {@link MemoryMethods}.
 *
 * @typeParam Buffer - the backend's native memory object
 */
export abstract class BaseBackend<Buffer> extends RecordMethods<Buffer> implements ComputeBackend {
  readonly contractVersion = 2 as const;
  abstract readonly native: unknown;
  /** The capabilities of this backend; looked at when the device is open. */
  protected abstract readonly kernels: BackendKernels<Buffer>;

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
    this.guard('run', () => {
      const own = reading('the kernel', () => checkKernel(kernel));
      inKernel(own, () => {
        const { asked, inputs, outputs, params } = reading('the call', () => readRun(own, call));
        checkGiven('inputs', own.inputs, inputs);
        checkGiven('outputs', own.outputs, outputs);
        if (params.length < own.params.length) throw invalid('params must be given');
        const geometry = checkedRun(own, asked);
        // Before there may be nothing to do: `supports` says no for every kernel then.
        assertDType(this.#supportSource(), 'run', undefined);
        if (!storesAnything(geometry)) return;
        assertSupported(this.#supportSource(), 'run', [{ kernel: 'run', call: geometry }], undefined);
        this.#queue({ kernel: 'run', call: resolveRun(this.allocations, geometry, inputs, outputs, params) });
      });
    });
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

  /** Every op's way but that of `run`: state, the op's rules, support, operands, then the kernels. */
  #op(op: DefinedOp, call: object): void {
    this.guard(op, () => {
      const read = reading('the call', () => readCall(op, call));
      if (read === null) return;
      const { checked, pointers } = read;
      const steps = lowerCall(op, checked, this.kernels);
      assertSupported(this.#supportSource(), op, steps, checked.dtype);
      // What the rules gave belongs to this call alone: a copy would cost as much as all of the checks.
      const resolved = checked as CheckedCall & Fields;
      resolved['opName'] = op;
      resolveOperands(this.allocations, checked.operands, pointers, resolved);
      for (const step of steps) this.#step(step, resolved);
    });
  }

  #step(step: LoweredStep, resolved: CheckedCall & Fields): void {
    if (step.kernel === 'run') {
      this.#queue({ kernel: 'run', call: resolvedStep(step, resolved) });
      return;
    }
    const call = (step.call as object) === resolved ? resolved : { ...resolved, ...step.call };
    this.#queue({ kernel: step.kernel, call } as unknown as ResolvedCall<Buffer>);
  }

  #queue(call: ResolvedCall<Buffer>): void {
    this.#runKernel(call);
    this.capture?.call(call);
  }

  #runKernel({ kernel, call }: ResolvedCall<Buffer>): void {
    kernelOf(this.kernels, kernel)?.run(call);
  }

  protected override doSequence(calls: readonly ResolvedCall<Buffer>[]): Sequence {
    return {
      run: () => {
        for (const call of calls) this.#runKernel(call);
      },
      release: () => undefined,
    };
  }

  #loweredShape(op: OpName, shape: object): readonly KernelCall[] {
    checkOneOf('op', op, OP_NAMES);
    if (op === 'run') {
      checkCallObject(op, shape);
      const kernel = checkKernel((shape as RunShape).kernel);
      return inKernel(kernel, () => {
        const geometry = checkedRun(kernel, readRun(kernel, shape).asked);
        const steps = storesAnything(geometry) ? [{ kernel: 'run' as const, call: geometry }] : [];
        assertSupported(this.#supportSource(), 'run', steps, undefined);
        return steps;
      });
    }
    const checked = OPS[op].check(readFields(op, shape) as never, false);
    if (checked === null) return [];
    const steps = lowerCall(op, checked, this.kernels);
    assertSupported(this.#supportSource(), op, steps, checked.dtype);
    return steps;
  }

  /** For `supports`, whose shape may be as little as a dtype. */
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

function resolvedStep<Buffer>(step: RunStep, resolved: Fields): ResolvedRun<Buffer> {
  const operand = (name: string): Operand<Buffer> | undefined => resolved[name] as Operand<Buffer> | undefined;
  const inputs = step.inputs.map(operand);
  const outputs = step.outputs.map(operand);
  const inPlace = outputs.map((output) =>
    inputs.some((input) => input?.buffer === output?.buffer && input?.byteOffset === output?.byteOffset),
  );
  return { geometry: step.call, inputs, outputs, params: step.params, inPlace, opName: resolved['opName'] as OpName };
}

function storesAnything({ outputs }: CheckedRun): boolean {
  return outputs.some(({ extent }) => extent > 0);
}

/** Errors of a call of a kernel say which kernel. */
function inKernel<T>(kernel: Kernel, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const prefix = `kernel ${kernel.name}`;
    if (!isBackendError(error, 'INVALID_ARGUMENT') || error.detail.startsWith(prefix)) throw error;
    throw invalid(`${prefix}: ${error.detail}`, { hint: error.hint, cause: error });
  }
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
