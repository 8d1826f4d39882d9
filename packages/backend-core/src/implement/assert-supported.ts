import type { Capabilities, OpName } from '../contract/capabilities.ts';
import { BYTES_OF, type DType } from '../contract/element-types.ts';
import { BackendError } from '../errors/backend-error.ts';
import type { CheckedRun, RunLayout } from '../kernel/checked-run.ts';
import { type PlannedKernels, kernelOf, type KernelCall } from './backend-kernels.ts';

/** The capabilities of a backend, and its name for messages. */
export interface SupportSource {
  readonly name: string;
  readonly capabilities: Capabilities;
  readonly kernels: PlannedKernels<never>;
}

/**
 * Returns whether a backend takes a checked call.
 *
 * @param steps - what the call runs
 * @param dtype - of the call; undefined for `run`, whose operands have their own dtypes
 * @throws {BackendError} UNSUPPORTED
 */
export function assertSupported(
  source: SupportSource,
  op: OpName,
  steps: readonly KernelCall[],
  dtype: DType | undefined,
): void {
  assertDType(source, op, dtype);
  const { name, kernels } = source;
  const { maxHeadDim, maxTopK } = source.capabilities.limits;
  for (const step of steps) {
    assertAllocatable(source, op, step);
    if (step.kernel === 'attention') {
      const { headDim, valueDim } = step.call;
      for (const [name, size] of Object.entries({ headDim, valueDim })) {
        if (size > maxHeadDim) throw unsupported(`${name} ${size} exceeds this device's limit of ${maxHeadDim}`);
      }
    }
    if (step.kernel === 'topK' && step.call.k > maxTopK) {
      throw unsupported(`k ${step.call.k} exceeds this device's limit of ${maxTopK}`);
    }
    const kernel = kernelOf(kernels, step.kernel);
    if (kernel === undefined) throw unsupported(`${op} with an epilogue needs run, which ${name} does not have`);
    const lacking = step.call.needs?.find((feature) => kernel.features?.includes(feature) !== true);
    if (lacking !== undefined) throw unsupported(`${op} with ${lacking} is not implemented on ${name}`);
    if (step.kernel === 'run') {
      assertStored(source, op, step.call, step.call.inputs);
      assertStored(source, op, step.call, step.call.outputs);
    }
    const reason = kernel.refuse?.(step.call);
    if (reason !== undefined) throw unsupported(reason);
  }
  // A sum rounded to f16 before the epilogue would be rounded twice.
  if (dtype === 'f16' && steps.length > 1) throw unsupported(`${op} does not take f16 with an epilogue on ${name}`);
}

/**
 * Returns whether a backend has an op, and takes it in that dtype.
 *
 * @throws {BackendError} UNSUPPORTED
 */
export function assertDType({ name, capabilities }: SupportSource, op: OpName, dtype: DType | undefined): void {
  const { ops, dtypes } = capabilities;
  if (!ops.includes(op)) throw unsupported(`${op} is not implemented`);
  if (dtype !== undefined && dtypes[op]?.includes(dtype) !== true) {
    throw unsupported(`${op} does not take dtype ${dtype} on ${name}`);
  }
}

/**
 * An operand that no allocation can hold is never there. Refused before the backend plans, whose work may grow with sizes.
 *
 * @throws {BackendError} UNSUPPORTED for one above `maxAllocationBytes`
 */
function assertAllocatable({ capabilities }: SupportSource, op: OpName, { kernel, call }: KernelCall): void {
  const { maxAllocationBytes } = capabilities.limits;
  const check = (name: string, elements: number, dtype: DType): void => {
    const bytes = elements * BYTES_OF[dtype];
    if (bytes <= maxAllocationBytes) return;
    throw unsupported(
      `${name} of ${op} spans ${bytes} bytes, this device's largest allocation is ${maxAllocationBytes}`,
    );
  };
  if (kernel === 'run') {
    for (const { name, extent, dtype } of call.inputs) check(name, extent, dtype);
    for (const { name, extent, dtype } of call.outputs) check(name, extent, dtype);
  } else {
    for (const { name, elements, dtype } of call.operands) check(name, elements, dtype);
  }
}

/** A `run` takes the dtypes of all of its operands, also where it is what another op becomes. */
function assertStored(
  { name, kernels }: SupportSource,
  op: OpName,
  { kernel }: CheckedRun,
  layouts: readonly RunLayout[],
): void {
  for (const layout of layouts) {
    if (kernels.run?.dtypes.includes(layout.dtype) === true) continue;
    const what = op === 'run' ? `kernel ${kernel.name}: ${layout.name}` : op;
    throw unsupported(`${what} needs run to take dtype ${layout.dtype}, which it does not on ${name}`);
  }
}

function unsupported(reason: string): BackendError {
  return new BackendError('UNSUPPORTED', reason);
}
