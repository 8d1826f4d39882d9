import type { ComputeBackend, DevicePtr, PlannedCall } from '@concord/backend-core';
import { ListCache, type ListKey } from '@concord/backend-core/implement';
import type { RunShape } from '@concord/backend-core/kernel';
import { plannedLaunch } from './launches.ts';
import { allocateAs } from '../tensor/allocate.ts';
import { explained, launch } from '../tensor/errors.ts';
import type { SharedLayout } from '../tensor/layout.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { checkSameBackend } from './produce.ts';

/** All that follows from the layouts of a function's operands: its one call, and where that stores. */
export interface Plan {
  readonly result: SharedLayout;
  readonly call: PlannedCall;
}

/** Entries of each of two generations, for each backend. */
const MAX_KEPT = 512;

/**
 * What a function worked out, by backend and by a key: the ids of its operands' layouts, and whatever else it depends on. Only
 * what is not in the key may be looked at again.
 */
export class Plans<Kept> {
  readonly #byBackend = new WeakMap<ComputeBackend, ListCache<Kept>>();

  /** @throws {BackendError} as `make`, which is called for a key that was not there: nothing is kept then */
  of(backend: ComputeBackend, key: ListKey, make: () => Kept): Kept {
    let kept = this.#byBackend.get(backend);
    if (kept === undefined) this.#byBackend.set(backend, (kept = new ListCache(MAX_KEPT)));
    let plan = kept.get(key);
    if (plan === undefined) kept.add(key, (plan = make()));
    return plan;
  }
}

/** The {@link Plans} of functions that share their code, by the function. */
export class PlansByFunction<Kept> {
  readonly #plans = new WeakMap<object, Plans<Kept>>();

  of(op: object): Plans<Kept> {
    let plans = this.#plans.get(op);
    if (plans === undefined) this.#plans.set(op, (plans = new Plans()));
    return plans;
  }
}

/**
 * The plan of a kernel's call on tensors.
 *
 * @param operands - for messages
 * @throws {BackendError} INVALID_ARGUMENT, UNSUPPORTED
 */
export function planRun(
  op: string,
  backend: ComputeBackend,
  operands: readonly Tensor[],
  result: SharedLayout,
  shape: RunShape,
): Plan {
  return { result, call: launch(op, operands, () => plannedLaunch(backend, 'run', shape)) };
}

/**
 * Launches a plan. Its operands are the inputs in their order, then the result: `out` where it is given, else a new tensor, which
 * does not outlive an error.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a tensor that was disposed, and an `out` of another backend; OUT_OF_MEMORY
 */
export function producePlanned(
  op: string,
  backend: ComputeBackend,
  { result: layout, call }: Plan,
  inputs: readonly Tensor[],
  out: Tensor | undefined,
  params?: readonly number[],
): Tensor {
  if (out !== undefined) checkSameBackend(op, backend, [out]);
  const result = out ?? allocateAs(op, backend, layout);
  try {
    const pointers: DevicePtr[] = [];
    for (let index = 0; index < inputs.length; index++) pointers.push((inputs[index] as Tensor).ptr);
    pointers.push(result.ptr);
    call.launch(pointers, params);
  } catch (error) {
    if (out === undefined) result.dispose();
    throw explained(op, inputs, error);
  }
  return result;
}
