import type { DType } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import {
  defineKernel,
  type Kernel,
  type KernelBuilder,
  type NumberType,
  type Value,
} from '@concord/backend-core/kernel';
import { checkList, checkOptions, checkTensor, type OptionKinds, OUT, shown } from '../tensor/arguments.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { denseLayout, type Layout, type SharedLayout } from '../tensor/layout.ts';
import { tidy } from '../tensor/scope.ts';
import { broadcastStrides, MAX_RANK } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { reshape } from '../views/reshape.ts';
import type { Place, View } from './copy.ts';
import { type Plan, planRun, PlansByFunction, producePlanned } from './plans.ts';
import { checkOut, copiedTo, type OutOption } from './produce.ts';

/**
 * The axes of a fold: one, several, or all if it is not given. Negative ones count from the end. With none, `[]`, each
 * element is a row of one, so that its sum is the element itself; `run`, `layerNorm` and `rmsNorm` take at most 7 axes.
 */
export type Axes = number | readonly number[];

/** A shape with the axes that a kernel folds brought to its end. */
export interface RowDomain {
  readonly shape: readonly number[];
  readonly folded: number;
  /** The axes of the original shape in the order of `shape`. */
  readonly order: readonly number[];
  /** The shape before, after an axis of size 1 where none of its own is folded. */
  readonly original: readonly number[];
}

/**
 * The domain of a kernel that folds those axes.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range, or that is named twice
 */
export function rowDomain(op: string, original: readonly number[], axes: Axes | undefined): RowDomain {
  const folded = axes === undefined ? original.map((_, axis) => axis) : checkAxes(op, original, axes);
  // A kernel folds at least one axis.
  if (folded.length === 0) {
    const order = [...original.map((_, axis) => axis + 1), 0];
    return { shape: [...original, 1], folded: 1, order, original: [1, ...original] };
  }
  const order = [...original.keys()].filter((axis) => !folded.includes(axis)).concat(folded);
  return { shape: order.map((axis) => original[axis] as number), folded: folded.length, order, original };
}

/** @throws {BackendError} INVALID_ARGUMENT for an axis out of range, or that is named twice */
export function checkAxes(op: string, shape: readonly number[], axes: Axes): number[] {
  if (typeof axes !== 'number') checkList(op, 'axis', axes);
  const list = (typeof axes === 'number' ? [axes] : [...axes]).map((axis) => checkAxis(op, shape, axis));
  if (new Set(list).size < list.length) throw refuse(op, `axes ${shapeText(list)} name one twice`);
  return list.sort((a, b) => a - b);
}

/** @throws {BackendError} INVALID_ARGUMENT for an axis out of range */
export function checkAxis(op: string, shape: readonly number[], axis: number): number {
  const own = typeof axis === 'number' && axis < 0 ? axis + shape.length : axis;
  if (Number.isInteger(own) && own >= 0 && own < shape.length) return own;
  throw refuse(op, `${shapeText(shape)} has no axis ${shown(axis)}`);
}

/** The shape of a fold's result. */
export function foldedShape({ original, order, folded }: RowDomain, keepDims: boolean): number[] {
  const gone = order.slice(order.length - folded);
  if (keepDims) return original.map((length, axis) => (gone.includes(axis) ? 1 : length));
  return original.filter((_, axis) => !gone.includes(axis));
}

/** Returns the place of a tensor that broadcasts to the original shape, in the order of the domain. */
export function elementsOf(tensor: Tensor, domain: RowDomain): Place {
  return { ptr: tensor.ptr, ...elementsViewOf(tensor, domain) };
}

/** {@link elementsOf} without the address. */
export function elementsViewOf(
  { shape, strides, dtype }: Omit<Layout, 'offset'>,
  { original, order }: RowDomain,
): View {
  const own = broadcastStrides(shape, strides, original);
  return { dtype, strides: order.map((axis) => own[axis] as number) };
}

/** Returns the place of a fold's result, with the folded axes as size 1 or without them, row by row. */
export function rowsOf(tensor: Tensor, domain: RowDomain): Place {
  return { ptr: tensor.ptr, ...rowsViewOf(tensor, domain) };
}

/** {@link rowsOf} without the address. */
export function rowsViewOf({ shape, strides, dtype }: Omit<Layout, 'offset'>, domain: RowDomain): View {
  const rows = domain.order.slice(0, domain.order.length - domain.folded);
  const keepsDims = shape.length === domain.original.length;
  const own = keepsDims
    ? rows.map((axis) => strides[axis] as number)
    : broadcastStrides(shape, strides, domain.shape.slice(0, rows.length));
  return { dtype, strides: own };
}

/** Options of the functions that fold axes. */
export interface FoldOptions extends OutOption {
  /** Default: all; `[]` is none. Negative ones count from the end. */
  readonly axis?: Axes | undefined;
  /** True if the result keeps the folded axes, as size 1. Default false. */
  readonly keepDims?: boolean;
}

/** The options of every fold. */
export const FOLD: OptionKinds = { ...OUT, axis: 'any', keepDims: 'boolean' };

/** The options of every function that gives as many elements as it gets. */
export const ROWS: OptionKinds = { ...OUT, axis: 'any' };

/** @throws {BackendError} INVALID_ARGUMENT for anything but a tensor, and options that the function does not have */
export function checkRows(op: string, x: Tensor, options: object, kinds: OptionKinds): void {
  checkTensor(op, 'x', x);
  checkOptions(op, options, kinds);
}

/** A function of a row. */
export interface RowFunction {
  readonly name: string;
  /** The dtypes of the operand. Default: `['f32']`. */
  readonly types?: readonly NumberType[];
  /** True if integers are converted to float32 first, so that the result is f32. */
  readonly converts?: boolean;
  /** Names of the float32 parameters, in the order in which `compute` gets them. */
  readonly params?: readonly string[];
  readonly compute: (k: KernelBuilder, x: Value<'f32'>, ...params: Value<'f32'>[]) => Value<NumberType>;
}

const defined = new WeakMap<RowFunction, Map<NumberType, Kernel>>();
const folds = new PlansByFunction<Plan>();
const maps = new PlansByFunction<Plan>();

/**
 * Folds axes of a tensor.
 *
 * @param dtype - of the result; default: that of the operand, or f32 where it is converted
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function fold(
  op: RowFunction,
  x: Tensor,
  options: FoldOptions,
  dtype: DType = op.converts === true && ELEMENT_TYPES[x.dtype].value !== 'f32' ? 'f32' : x.dtype,
  params: Readonly<Record<string, number>> = {},
): Tensor {
  const { out, keepDims = false } = options;
  const axes = copyAxes(options.axis);
  if (isTooLong(x, axes)) return asSeven(op, x, out, (seven) => fold(op, seven, { axis: axes }, dtype, params));
  const plan = folds.of(op).of(x.backend, [...keyOf(x, axes, out), keepDims, dtype], () => {
    const kernel = kernelOf(op, x);
    const domain = rowDomain(op.name, x.shape, axes);
    const shape = domain.original.length > x.rank ? x.shape : foldedShape(domain, keepDims);
    checkOut(op.name, out, shape, dtype);
    const result = out?.layout ?? denseLayout(shape, dtype);
    return planRows(kernel, x, domain, result, rowsViewOf(result, domain));
  });
  return producePlanned(op.name, x.backend, plan, [x], out, paramsOf(op, params));
}

/**
 * Computes a function of rows that gives as many elements as it gets, such as softmax.
 *
 * @param dtype - of the result; always the same for an operand's
 */
export function mapRows(
  op: RowFunction,
  x: Tensor,
  axis: Axes,
  { out }: OutOption,
  params: Readonly<Record<string, number>> = {},
  dtype: DType = x.dtype,
): Tensor {
  const axes = copyAxes(axis);
  if (isTooLong(x, axes)) return asSeven(op, x, out, (seven) => mapRows(op, seven, axes, {}, params));
  const plan = maps.of(op).of(x.backend, keyOf(x, axes, out), () => {
    const kernel = kernelOf(op, x);
    const domain = rowDomain(op.name, x.shape, axes);
    checkOut(op.name, out, x.shape, dtype);
    const result = out?.layout ?? denseLayout(x.shape, dtype);
    return planRows(kernel, x, domain, result, elementsViewOf(result, domain));
  });
  return producePlanned(op.name, x.backend, plan, [x], out, paramsOf(op, params));
}

/** Returns whether an axis of rows of one is one more than a kernel can have. */
function isTooLong({ rank }: Tensor, axes: Axes | undefined): boolean {
  return rank === MAX_RANK && Array.isArray(axes) && axes.length === 0;
}

/** A function of tensors that are as they are along no axis, of `x` with its first two axes as one. */
function asSeven(op: RowFunction, x: Tensor, out: Tensor | undefined, work: (seven: Tensor) => Tensor): Tensor {
  const [first = 0, second = 0, ...others] = x.shape;
  return tidy(() => copiedTo(op.name, reshape(work(reshape(x, [first * second, ...others])), x.shape), out));
}

/** A list that whoever made it cannot change meanwhile. What is none is left to the checks. */
export function copyAxes<Given extends Axes | undefined>(axes: Given): Given {
  return Array.isArray(axes) ? ([...(axes as readonly number[])] as unknown as Given) : axes;
}

/** Returns the key of a plan: all that it depends on in a tensor, axes and `out`. */
export function keyOf(x: Tensor, axes: Axes | undefined, out: Tensor | undefined): unknown[] {
  const key: unknown[] = [x.layout.id, out === undefined ? 0 : out.layout.id];
  if (Array.isArray(axes)) key.push(axes.length, ...(axes as readonly number[]));
  else key.push(undefined, axes);
  return key;
}

function planRows(kernel: Kernel, x: Tensor, domain: RowDomain, result: SharedLayout, y: View): Plan {
  const views = { inputs: { x: elementsViewOf(x, domain) }, outputs: { y } };
  return planRun(kernel.name, x.backend, [x], result, { kernel, ...domainOf(domain), ...views });
}

function paramsOf({ params = NO_NAMES }: RowFunction, values: Readonly<Record<string, number>>): readonly number[] {
  return params.map((name) => values[name] as number);
}

const NO_NAMES: readonly string[] = [];

/** The arguments of `run` for a domain. */
export function domainOf({ shape, folded }: RowDomain): { shape: readonly number[]; folded: number } {
  return { shape, folded };
}

function kernelOf(op: RowFunction, x: Tensor): Kernel {
  const type = ELEMENT_TYPES[x.dtype].value;
  const types = op.types ?? ['f32'];
  if (!types.includes(type)) {
    const detail = `takes ${types.join(', ')}, got ${x.dtype}${shapeText(x.shape)}`;
    throw refuse(op.name, detail, { hint: `cast(x, '${types[0] as string}')` });
  }
  let kernels = defined.get(op);
  if (kernels === undefined) defined.set(op, (kernels = new Map()));
  let kernel = kernels.get(type);
  if (kernel === undefined) {
    const names = op.params ?? [];
    const params = Object.fromEntries(names.map((name) => [name, 'f32' as const]));
    kernel = defineKernel(op.name, { inputs: { x: type }, params }, ({ x, ...symbols }, k) => {
      const own = op.converts === true && type !== 'f32' ? k.toF32(x as Value<'i32'>) : (x as Value<'f32'>);
      return { y: op.compute(k, own, ...names.map((name) => symbols[name] as Value<'f32'>)) };
    }) as Kernel;
    kernels.set(type, kernel);
  }
  return kernel;
}
