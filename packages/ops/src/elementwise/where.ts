import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type NumberType, type Value } from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import type { Place } from '../compute/copy.ts';
import { commonDType, commonShape, placeOver, type TensorLike } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { checkSameBackend, type OutOption, produce } from '../compute/produce.ts';
import { OUT, checkOptions, shown } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { Tensor } from '../tensor/tensor.ts';

const kernels = new Kernels();

/**
 * `condition ? a : b`, element by element; a condition holds where it is other than 0, so NaN holds. The chosen element
 * keeps its bits.
 *
 * The three broadcast to one shape. `condition` is of any element type; `a` and `b` are of one kind of number, two plain
 * numbers give f32.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, `a` and `b` of different kinds of number,
 *   and three plain numbers
 * @example
 * ```ts
 * const x = tensor(backend, [-1, 2, -3]);
 * await where(greater(x, 0), x, 0).toArray(); // [0, 2, 0]
 * ```
 */
export function where(condition: TensorLike, a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  const tensors = tensorsOf(condition, a, b);
  checkOptions('where', options, OUT);
  const { backend } = tensors[0] as Tensor;
  checkSameBackend('where', backend, tensors);
  const chosen = [a, b].filter((each) => each instanceof Tensor);
  const type = chosenType(chosen);
  const shape = commonShape('where', tensors);
  const kernel = kernelOf(type, condition, a, b);
  return produce('where', backend, shape, chosen.length === 0 ? 'f32' : commonDType(chosen), options, (result) => {
    const inputs: Record<string, Place> = {};
    const params: Record<string, number> = {};
    for (const [name, operand] of Object.entries({ condition, a, b })) {
      if (operand instanceof Tensor) inputs[name] = placeOver(operand, shape);
      else params[name] = name === 'condition' ? Number(operand !== 0) : operand;
    }
    launch('where', tensors, () => {
      launchKernel(backend, kernel, { shape, inputs, params, outputs: { y: placeOver(result, shape) } });
    });
  });
}

function tensorsOf(...operands: TensorLike[]): Tensor[] {
  const tensors = operands.filter((each) => each instanceof Tensor);
  if (tensors.length > 0 && operands.every((each) => typeof each === 'number' || each instanceof Tensor))
    return tensors;
  throw refuse('where', `takes tensors and numbers, at least one tensor, got ${operands.map(shown).join(', ')}`);
}

function chosenType(chosen: readonly Tensor[]): NumberType {
  const types = chosen.map((each) => ELEMENT_TYPES[each.dtype].value);
  const [type = 'f32'] = types;
  if (types.every((each) => each === type)) return type;
  const shown = chosen.map((each) => `${each.dtype}${shapeText(each.shape)}`).join(', ');
  throw refuse('where', `takes a and b of one kind of number, got ${shown}`, { hint: `cast(x, '${type}')` });
}

function kernelOf(type: NumberType, condition: TensorLike, a: TensorLike, b: TensorLike): Kernel {
  const types = {
    condition: condition instanceof Tensor ? ELEMENT_TYPES[condition.dtype].value : 'u32',
    a: type,
    b: type,
  } as const;
  const operands = Object.entries({ condition, a, b });
  const ofKind = (kind: 'object' | 'number'): Record<string, NumberType> =>
    Object.fromEntries(
      operands
        .filter(([, operand]) => typeof operand === kind)
        .map(([name]) => [name, types[name as keyof typeof types]]),
    );
  const [inputs, params] = [ofKind('object'), ofKind('number')];
  return kernels.of(
    JSON.stringify([inputs, params]),
    () =>
      defineKernel('where', { inputs, params }, (symbols, k) => {
        const of = (name: string): Value<'f32'> => symbols[name] as Value<'f32'>;
        return { y: k.select(k.ne(of('condition'), 0), of('a'), of('b')) };
      }) as Kernel,
  );
}
