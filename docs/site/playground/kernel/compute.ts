import { BYTES_OF, type ComputeBackend, type DevicePtr, withBuffers } from '@concord/backend-core';
import type { RunCall } from '@concord/backend-core/kernel';
import type { StoredElements } from '@concord/backend-cpu/reference';
import type { PreparedRun } from './prepare-run.ts';
import { emptyElements } from './stored.ts';

/** The result of a run. */
export interface Computed {
  /** In the order of the kernel's outputs: all elements of the extent. */
  readonly outputs: readonly StoredElements[];
  /** The first call and the wait for it, with compilation. */
  readonly firstMs: number;
  /** The shortest of the calls after it, each with its wait. */
  readonly bestMs: number;
}

/** Calls after the first. */
const CALLS = 5;
/** No further call is begun after this. */
const BUDGET_MS = 500;

/**
 * Runs a kernel on a backend and reads its outputs.
 *
 * @throws {BackendError} as `run`
 */
export function compute(backend: ComputeBackend, run: PreparedRun): Promise<Computed> {
  const { kernel, geometry, shape, inputs, params } = run;
  return withBuffers(backend, async (scope) => {
    const place = (elements: StoredElements): DevicePtr => {
      const ptr = scope.alloc(elements.byteLength);
      backend.copyHtod(ptr, elements);
      return ptr;
    };
    const outputs = geometry.outputs.map(({ name, dtype, extent }) => ({
      ...{ name, host: emptyElements(dtype, extent) },
      ptr: scope.alloc(extent * BYTES_OF[dtype]),
    }));
    const call: RunCall = {
      shape: shape.shape,
      ...(shape.folded === undefined ? {} : { folded: shape.folded }),
      inputs: Object.fromEntries(
        geometry.inputs.map(({ name }) => [
          name,
          { ...shape.inputs?.[name], ptr: place(inputs[name] as StoredElements) },
        ]),
      ),
      outputs: Object.fromEntries(outputs.map(({ name, ptr }) => [name, { ...shape.outputs?.[name], ptr }])),
      params,
    };
    const timed = async (): Promise<number> => {
      const started = performance.now();
      backend.run(kernel, call);
      await backend.synchronize();
      return performance.now() - started;
    };
    const firstMs = await timed();
    const started = performance.now();
    let bestMs = await timed();
    for (let i = 1; i < CALLS && performance.now() - started < BUDGET_MS; i++) bestMs = Math.min(bestMs, await timed());
    for (const { host, ptr } of outputs) if (host.length > 0) await backend.copyDtoh(host, ptr);
    return { outputs: outputs.map(({ host }) => host), firstMs, bestMs };
  });
}
