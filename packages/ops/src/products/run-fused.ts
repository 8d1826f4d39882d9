import { type ComputeBackend, type DType, type Epilogue, isBackendError } from '@concord/backend-core';
import type { RunOperand } from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import type { Place } from '../compute/copy.ts';

/** The result of a product or convolution. */
export interface FusedResult {
  readonly shape: readonly number[];
  readonly place: Place;
}

/** The backends that refused to fuse an epilogue, with the element types. */
const unfused = new WeakMap<ComputeBackend, Set<DType>>();

/**
 * Computes a product or convolution with an epilogue, in its own launch where the backend does not fuse one.
 *
 * @param run - the product, with the epilogue or without
 */
export function runFused(
  backend: ComputeBackend,
  run: (epilogue: Epilogue | undefined) => void,
  epilogue: Epilogue | undefined,
  { shape, place }: FusedResult,
): void {
  if (epilogue === undefined) return run(undefined);
  const { dtype } = place;
  const isUnfused = unfused.get(backend)?.has(dtype) === true;
  if (!isUnfused) {
    try {
      return run(epilogue);
    } catch (error) {
      // A backend need not fuse where an unfused epilogue would round twice. A function of tensors may round twice.
      if (!isBackendError(error, 'UNSUPPORTED') || dtype === 'f32') throw error;
    }
  }
  // Throws too where it is not the epilogue that the backend does not take, but the product.
  run(undefined);
  if (!isUnfused) unfused.set(backend, new Set(unfused.get(backend)).add(dtype));
  const { kernel, inputs = {} } = epilogue;
  const [output] = kernel.outputs;
  launchKernel(backend, kernel, {
    shape,
    inputs: { ...(inputs as Record<string, RunOperand>), acc: place },
    outputs: { [(output as { name: string }).name]: place },
  });
}
