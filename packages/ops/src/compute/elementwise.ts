import type { DType } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import {
  defineKernel,
  type Kernel,
  type KernelBuilder,
  type NumberType,
  type Value,
} from '@concord/backend-core/kernel';
import { checkOptions, OUT, shown as described } from '../tensor/arguments.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { denseLayout, type Layout } from '../tensor/layout.ts';
import { broadcastShapes, broadcastStrides } from '../tensor/shape.ts';
import { Tensor } from '../tensor/tensor.ts';
import type { Place, View } from './copy.ts';
import { type Plan, planRun, PlansByFunction, producePlanned } from './plans.ts';
import { checkOut, checkSameBackend, type OutOption } from './produce.ts';

/** An operand of a function that works element by element: a number stands for a tensor of that number. */
export type TensorLike = Tensor | number;

/** A function of elements. */
export interface ElementFunction {
  readonly name: string;
  /** The dtypes of the operands; all of one. Default: `['f32']`. */
  readonly types?: readonly NumberType[];
  /** The result from the operands, whose types are those of the call. */
  readonly compute: (k: KernelBuilder, ...operands: Value<'f32'>[]) => Value<NumberType>;
}

/** Every kind of number. */
export const NUMBERS: readonly NumberType[] = ['f32', 'i32', 'u32'];
/** The kinds of integers. */
export const INTEGERS: readonly NumberType[] = ['i32', 'u32'];

/** A truth as it is stored: 1 or 0. */
export function truth(k: KernelBuilder, x: Value<'bool'>): Value<'u32'> {
  return k.select(x, k.u32(1), 0);
}

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const FLOATS: readonly NumberType[] = ['f32'];

/**
 * The type that a function computes in. `u8`: reads bytes, computes in i32, so that 1 - 3 is below 0 and not near 2^32,
 * and saturates.
 */
type ComputeType = NumberType | 'u8';

/** The kernels of a function so far, by the type of the operands and by which of them are numbers. */
const defined = new WeakMap<ElementFunction, Map<string, Kernel>>();

const plans = new PlansByFunction<Plan>();

/**
 * Computes a function of elements over the shape that its operands broadcast to. Numbers become parameters: another one
 * compiles nothing.
 *
 * @param dtype - of the result; default: what the operands have in common
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, kinds of numbers that differ, a wrong `out`
 */
export function elementwise(
  op: ElementFunction,
  operands: readonly TensorLike[],
  options: OutOption = {},
  dtype?: DType,
): Tensor {
  const tensors = operands.filter((each) => each instanceof Tensor);
  const [first] = tensors;
  if (first === undefined || operands.some((each) => typeof each !== 'number' && !(each instanceof Tensor))) {
    throw refuse(op.name, `takes tensors and numbers, at least one tensor, got ${operands.map(described).join(', ')}`);
  }
  checkOptions(op.name, options, OUT);
  const { backend } = first;
  checkSameBackend(op.name, backend, tensors);
  const { out } = options;
  const key: unknown[] = [dtype, out === undefined ? 0 : out.layout.id];
  const numbers: number[] = [];
  for (const operand of operands) {
    key.push(typeof operand === 'number' ? 0 : operand.layout.id);
    if (typeof operand === 'number') numbers.push(operand);
  }
  const plan = plans.of(op).of(backend, key, () => planElements(op, operands, tensors, dtype, out));
  return producePlanned(op.name, backend, plan, tensors, out, numbers);
}

function planElements(
  op: ElementFunction,
  operands: readonly TensorLike[],
  tensors: readonly Tensor[],
  dtype: DType | undefined,
  out: Tensor | undefined,
): Plan {
  const { backend } = tensors[0] as Tensor;
  const type = commonType(op, tensors);
  const saturates = dtype === undefined && type === 'u32' && tensors.every((each) => each.dtype === 'u8');
  const kernel = kernelOf(op, saturates ? 'u8' : type, operands);
  const shape = commonShape(op.name, tensors);
  const to = dtype ?? commonDType(tensors);
  checkOut(op.name, out, shape, to);
  const result = out?.layout ?? denseLayout(shape, to);
  const inputs: Record<string, View> = {};
  for (const [index, operand] of operands.entries()) {
    if (operand instanceof Tensor) inputs[NAMES[index] as string] = viewOver(operand, shape);
  }
  return planRun(op.name, backend, tensors, result, { kernel, shape, inputs, outputs: { y: viewOver(result, shape) } });
}

/** Returns the place that a tensor has for each point of a shape that it broadcasts to. */
export function placeOver(tensor: Tensor, shape: readonly number[]): Place {
  return { ptr: tensor.ptr, ...viewOver(tensor, shape) };
}

/** The same without its address. */
export function viewOver({ shape, strides, dtype }: Omit<Layout, 'offset'>, over: readonly number[]): View {
  return { dtype, strides: broadcastStrides(shape, strides, over) };
}

/** The element type of a result: that of all operands, or where they differ the one that they compute in. */
export function commonDType(tensors: readonly Tensor[]): DType {
  const { dtype } = tensors[0] as Tensor;
  return tensors.every((each) => each.dtype === dtype) ? dtype : ELEMENT_TYPES[dtype].value;
}

/** @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast */
export function commonShape(op: string, tensors: readonly Tensor[]): readonly number[] {
  let shape: readonly number[] = [];
  for (const tensor of tensors) {
    const both = broadcastShapes(shape, tensor.shape);
    if (both === undefined) {
      const shapes = tensors.map((each) => shapeText(each.shape)).join(' with ');
      throw refuse(op, `cannot broadcast ${shapes}: sizes must be equal or 1, from the last axis on`);
    }
    shape = both;
  }
  return shape;
}

function commonType(op: ElementFunction, tensors: readonly Tensor[]): NumberType {
  const type = oneKind(op.name, tensors);
  const types = op.types ?? FLOATS;
  if (types.includes(type)) return type;
  const hint = `cast(x, '${types[0] as string}')`;
  throw refuse(op.name, `takes ${types.join(', ')}, got ${shown(tensors)}`, { hint });
}

/**
 * The type in which all operands are computed.
 *
 * @throws {BackendError} INVALID_ARGUMENT where that differs
 */
export function oneKind(op: string, tensors: readonly Tensor[]): NumberType {
  const type = ELEMENT_TYPES[(tensors[0] as Tensor).dtype].value;
  if (tensors.every((each) => ELEMENT_TYPES[each.dtype].value === type)) return type;
  // Floats hold integers, and not the other way round.
  const hint = `cast(x, '${tensors.some((each) => ELEMENT_TYPES[each.dtype].value === 'f32') ? 'f32' : type}')`;
  throw refuse(op, `takes operands of one kind of number, got ${shown(tensors)}`, { hint });
}

function shown(tensors: readonly Tensor[]): string {
  return tensors.map((each) => `${each.dtype}${shapeText(each.shape)}`).join(', ');
}

function kernelOf(op: ElementFunction, type: ComputeType, operands: readonly TensorLike[]): Kernel {
  let kernels = defined.get(op);
  if (kernels === undefined) defined.set(op, (kernels = new Map()));
  const key = operands.reduce<string>((text, each) => text + (typeof each === 'number' ? 'n' : 't'), type);
  let kernel = kernels.get(key);
  if (kernel === undefined) {
    kernel = defineFor(op, type, operands);
    kernels.set(key, kernel);
  }
  return kernel;
}

function defineFor(op: ElementFunction, type: ComputeType, operands: readonly TensorLike[]): Kernel {
  const names = operands.map((_, index) => NAMES[index] as string);
  const ofKind = (kind: 'number' | 'object', own: NumberType): Record<string, NumberType> =>
    Object.fromEntries(names.filter((_, index) => typeof operands[index] === kind).map((name) => [name, own]));
  if (type === 'u8') {
    const declared = { inputs: ofKind('object', 'u32'), params: ofKind('number', 'i32') };
    return defineKernel(op.name, declared, (symbols, k) => {
      const values = names.map((name, index) => {
        const value = symbols[name] as Value<'u32'>;
        return (typeof operands[index] === 'number' ? value : k.toI32(value)) as unknown as Value<'f32'>;
      });
      const result = op.compute(k, ...values) as Value<'i32'>;
      // The store takes what is above 255 down.
      return { y: k.toU32(k.max(result, 0)) };
    }) as Kernel;
  }
  return defineKernel(op.name, { inputs: ofKind('object', type), params: ofKind('number', type) }, (symbols, k) => ({
    y: op.compute(k, ...names.map((name) => symbols[name] as Value<'f32'>)),
  })) as Kernel;
}
