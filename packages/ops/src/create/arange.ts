import type { ComputeBackend } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { checkHolds } from './check-holds.ts';
import { Kernels } from '../compute/kernels.ts';
import { produce } from '../compute/produce.ts';
import { CREATE, checkBackend, checkNumbers, checkOptions } from '../tensor/arguments.ts';
import { checkDType, type CreateOptions } from '../tensor/create.ts';
import { launch, refuse } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

const kernels = new Kernels();

/**
 * `start + i step` for each i from 0, before `stop`: `ceil((stop - start) / step)` numbers, none where that is negative.
 *
 * @param step - default 1; negative to go down
 * @throws {BackendError} INVALID_ARGUMENT for a step of 0, what is not finite, and with an integer type what is not an integer
 *   of 32 bits
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * using x = arange(backend, 0, 1, 0.25);
 * await x.toArray(); // [0, 0.25, 0.5, 0.75]
 * using y = arange(backend, 5, 0, -2, { dtype: 'i32' });
 * await y.toArray(); // [5, 3, 1]
 * ```
 */
export function arange(
  backend: ComputeBackend,
  start: number,
  stop: number,
  step: number = 1,
  options: CreateOptions = {},
): Tensor {
  checkBackend('arange', backend);
  checkNumbers('arange', { start, stop, step });
  checkOptions('arange', options, CREATE);
  const { label } = options;
  const dtype = checkDType('arange', options.dtype ?? 'f32');
  const type = ELEMENT_TYPES[dtype].value;
  const shown = `${start} to ${stop} by ${step}`;
  if (![start, stop, step].every(Number.isFinite) || step === 0) {
    throw refuse('arange', `takes finite numbers and a step other than 0, got ${shown}`);
  }
  const count = Math.max(0, Math.ceil((stop - start) / step));
  const last = start + Math.max(0, count - 1) * step;
  if (type !== 'f32' && ![start, step, last].every(Number.isInteger)) {
    throw refuse('arange', `takes integers for ${dtype}, got ${shown}`);
  }
  for (const each of [start, last]) checkHolds('arange', dtype, each);
  return produce('arange', backend, [count], dtype, { label }, (result) => {
    // Integers wrap, so that one kernel of u32 goes up and down.
    const params = type === 'f32' ? { start, step } : { start: start >>> 0, step: step >>> 0 };
    const outputs = { y: { ptr: result.ptr, dtype } };
    launch('arange', [result], () => launchKernel(backend, kernelOf(type), { shape: [count], params, outputs }));
  });
}

function kernelOf(type: 'f32' | 'i32' | 'u32'): Kernel {
  return kernels.of(type, () => {
    if (type === 'f32') {
      return defineKernel('arange', { params: { start: 'f32', step: 'f32' } }, ({ start, step }, k) => ({
        y: k.add(start, k.mul(step, k.toF32(k.index(0)))),
      })) as Kernel;
    }
    return defineKernel('arange', { params: { start: 'u32', step: 'u32' } }, ({ start, step }, k) => {
      const y = k.add(start, k.mul(step, k.index(0)));
      return { y: type === 'i32' ? k.toI32(y) : y };
    }) as Kernel;
  });
}
