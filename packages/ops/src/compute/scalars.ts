import type { ComputeBackend } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import type { KernelBuilder, NumberType, Value } from '@concord/backend-core/kernel';
import { shown } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';
import { Tensor } from '../tensor/tensor.ts';
import type { Place } from './copy.ts';
import type { TensorLike } from './elementwise.ts';
import { checkSameBackend } from './produce.ts';

/** Numbers of a call: those of the host are parameters of its kernel, tensors of one element inputs that every point reads. */
export interface Scalars {
  readonly inputs: Readonly<Record<string, Place>>;
  readonly params: Readonly<Record<string, number>>;
  /** The declarations of the kernel. */
  readonly declared: {
    readonly inputs: Readonly<Record<string, NumberType>>;
    readonly params: Readonly<Record<string, NumberType>>;
  };
}

/**
 * The scalars of a call over `rank` axes: of each its value, and the type of its parameter.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a tensor of more or fewer than one element, of another kind of number or backend
 */
export function scalarsOf(
  op: string,
  backend: ComputeBackend,
  rank: number,
  given: Readonly<Record<string, readonly [TensorLike, NumberType]>>,
): Scalars {
  const inputs: Record<string, Place> = {};
  const params: Record<string, number> = {};
  const declared = { inputs: {} as Record<string, NumberType>, params: {} as Record<string, NumberType> };
  for (const [name, [value, type]] of Object.entries(given)) {
    if (value instanceof Tensor) {
      const own = ELEMENT_TYPES[value.dtype].value;
      if (value.size !== 1 || (own === 'f32') !== (type === 'f32')) {
        throw refuse(op, `${name} must be one ${type === 'f32' ? 'float' : 'integer'}, got ${shown(value)}`);
      }
      checkSameBackend(op, backend, [value]);
      inputs[name] = { ptr: value.ptr, dtype: value.dtype, strides: Array.from({ length: rank }, () => 0) };
      declared.inputs[name] = own;
    } else {
      params[name] = value;
      declared.params[name] = type;
    }
  }
  return { inputs, params, declared };
}

/** An integer scalar as u32, by its bits. */
export function asU32(k: KernelBuilder, { declared }: Scalars, name: string, value: unknown): Value<'u32'> {
  return declared.inputs[name] === 'i32' ? k.toU32(value as Value<'i32'>) : (value as Value<'u32'>);
}
