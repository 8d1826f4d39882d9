import type { DType } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import {
  defineKernel,
  type Kernel,
  type KernelBuilder,
  type NumberType,
  type Value,
} from '@concord/backend-core/kernel';
import { run, type Tensor } from '@concord/ops';
import { Kernels } from '@concord/ops/listen';
import { isFloat } from '../graph/host-tensor.ts';
import type { Call } from '../run/call.ts';
import type { Operator } from './operator.ts';

/** A number in a kernel, whose type the formula does not depend on. */
export type Num = Value<'f32'>;

/** An operator's function of elements; further numbers are attributes. */
// Methods' parameters are compared loosely, so that a formula names as many numbers as it has.
export type Formula = { compute(k: KernelBuilder, ...values: Num[]): Value }['compute'];

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

const kernels = new Kernels();

/**
 * Computes a formula over the shape that tensors broadcast to. Results of a small integer type wrap, as NumPy's do: they are
 * computed in i32.
 *
 * @param name - of the formula, with all that it depends on besides the tensors
 * @param dtype - of the result, default that of the first tensor; truths become 1 and 0
 */
export function elements(
  name: string,
  formula: Formula,
  tensors: readonly Tensor[],
  dtype: DType = (tensors[0] as Tensor).dtype,
): Tensor {
  const isSmall = dtype === 'u8' || dtype === 'i8';
  const key = `${name}(${tensors.map((each) => each.dtype).join()})${dtype}`;
  const kernel = kernels.of(key, () => {
    const names = NAMES.slice(0, tensors.length);
    const inputs = Object.fromEntries(
      names.map((each, i) => [each, ELEMENT_TYPES[(tensors[i] as Tensor).dtype].value]),
    );
    return defineKernel(name.replace(/\W.*/s, ''), { inputs }, (symbols, k) => {
      const values = names.map((each, i) => {
        const value = symbols[each] as Value<'u32'>;
        return (isSmall && tensors[i]?.dtype === 'u8' ? k.toI32(value) : value) as unknown as Num;
      });
      return { y: stored(k, formula(k, ...values), dtype) };
    }) as Kernel;
  });
  const inputs = Object.fromEntries(tensors.map((tensor, i) => [NAMES[i] as string, tensor]));
  return run(kernel, inputs, { dtypes: { y: dtype } })['y'] as Tensor;
}

function stored(k: KernelBuilder, value: Value, dtype: DType): Value<NumberType> {
  if (value.type === 'bool') return k.select(value as Value<'bool'>, k.u32(1), 0);
  if (value.type === 'i32' && dtype === 'u8') return k.toU32(k.and(value as Value<'i32'>, 255));
  if (value.type === 'i32' && dtype === 'i8') return k.shr(k.shl(value as Value<'i32'>, 24), 24);
  return value as Value<NumberType>;
}

/** A function of floats, with attributes by name and default. */
export function float(
  compute: (k: KernelBuilder, x: Num, ...attributes: number[]) => Value,
  attributes: Readonly<Record<string, number>> = {},
): Operator {
  return ofFloats((call) => {
    const given = Object.entries(attributes).map(([name, otherwise]) => call.float(name, otherwise));
    return { name: `${call.node.op} ${given.join()}`, formula: (k, value) => compute(k, value, ...given) };
  });
}

/** A function of floats that depends on attributes. */
export function ofFloats(element: NonNullable<Operator['element']>): Operator {
  return {
    element,
    run: (call) => {
      call.floats(0);
      const { name, formula } = element(call);
      return elements(name, formula, [call.x(0)]);
    },
  };
}

/** A function of two numbers of any type; of more where it is repeated. */
export function binary(compute: Formula, type?: 'bool'): Operator {
  return {
    ...(type ? { type } : { element: (call) => ({ name: call.node.op, formula: compute }) }),
    run: (call) => {
      const [first, ...others] = call.all() as [Tensor, ...Tensor[]];
      const dtype = type === 'bool' ? 'u8' : first.dtype;
      checkOneType(call);
      // A result of one or more than two operands: Sum, Max, Min, Mean.
      if (others.length === 0) return elements(`${call.node.op}1`, (_, x) => x, [first], dtype);
      return others.reduce((sum, each) => elements(call.node.op, compute, [sum, each], dtype), first);
    },
  };
}

/** @throws {BackendError} UNSUPPORTED for operands of different element types */
export function checkOneType(call: Call, from = 0): void {
  const types = new Set(call.inputs.slice(from).map((value) => value?.type));
  if (types.size > 1) call.refuse(`operands of ${[...types].join(' and ')}`);
}

/** Returns whether an input is of floats. */
export function hasFloats(call: Call, index = 0): boolean {
  return isFloat(call.type(index));
}
