import type { DType } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import {
  defineKernel,
  type GatherInput,
  type GatherOperand,
  type Kernel,
  type KernelBuilder,
  type NumberType,
  type Value,
} from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { placeOver } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { copiedTo, type OutOption, produce } from '../compute/produce.ts';
import { placesAlong, type Pair, type Sides, type Window, windowOf } from '../convolution/window.ts';
import { takeAlongAxis } from '../indexing/take-along-axis.ts';
import { allocate } from '../tensor/allocate.ts';
import { OUT, checkOptions, checkTensor, type OptionKinds } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { listeners, unheard } from '../tensor/listeners.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { reshape } from '../views/reshape.ts';

/** Options of the functions that pool. */
export interface PoolOptions extends OutOption {
  /** Default: the size of the window. */
  readonly stride?: Pair;
  /** The padding around each image, less than a window is wide. Default 0. */
  readonly padding?: Sides;
  /** Distance of the elements that a window takes. Default 1. */
  readonly dilation?: Pair;
  /** True if windows may reach beyond the padded image, which gives more of them. Default false. */
  readonly ceilMode?: boolean;
}

/** The result of {@link maxPoolWithIndices}; both tensors have the shape of {@link maxPool}'s result. */
export interface PooledMax {
  readonly values: Tensor;
  /** Places in the image, `row * w + column`, u32. */
  readonly indices: Tensor;
}

/** The operation on the elements of a window. */
export type PoolKind = 'max' | 'mean';

type Index = Value<'i32'>;
type Float = Value<'f32'>;

/** The largest window, in elements, that is written out; a larger one is folded. */
const UNROLLED = 25;
/** The same where places are found too: a kernel has a limit of nodes. */
const UNROLLED_WITH_INDICES = 9;

/** The options of a window. */
export const WINDOW: OptionKinds = { stride: 'any', padding: 'any', dilation: 'any', ceilMode: 'boolean' };
/** The options of each kind of pooling. */
export const POOL_OPTIONS: Readonly<Record<PoolKind, OptionKinds>> = {
  max: { ...OUT, ...WINDOW },
  mean: { ...OUT, ...WINDOW, countIncludePad: 'boolean' },
};

/** Pools windows of images, in one launch; the result has the element type of `x` unless it is told another. */
export function pool(
  op: string,
  kind: PoolKind,
  x: Tensor,
  kernelSize: Pair,
  options: PoolOptions & { readonly countIncludePad?: boolean },
  dtype: DType = (x as Partial<Tensor> | undefined)?.dtype ?? 'f32',
): Tensor {
  checkTensor(op, 'x', x);
  checkOptions(op, options, POOL_OPTIONS[kind]);
  const { countIncludePad = true, out, ...windows } = options;
  if (kind === 'max' && listeners.length > 0)
    return tidy(() => copiedTo(op, poolWithIndices(op, x, kernelSize, windows).values, out));
  const { window, places } = placesOf(op, x, kernelSize, options);
  const [n, c] = x.shape as readonly [number, number];
  const [r, s] = window.kernel;
  const isFolded = r * s > UNROLLED;
  return produce(op, x.backend, [n, c, ...places], dtype, options, (result) => {
    const params =
      kind === 'mean' ? { ...paramsOf(window), ...boundsOf(x, window, countIncludePad) } : paramsOf(window);
    const outputs = { y: placeOver(result, result.shape) };
    const domain = isFolded ? { shape: [n, c, ...places, r, s], folded: 2 } : { shape: [n, c, ...places] };
    const kernel = isFolded ? folded(kind) : unrolled(kind, r, s);
    launch(op, [x], () => launchKernel(x.backend, kernel, { ...domain, inputs: { x: gathered(x) }, params, outputs }));
  });
}

/** Pools windows of images to their greatest elements and where in the image these are, in one launch. */
export function poolWithIndices(op: string, x: Tensor, kernelSize: Pair, options: PoolOptions): PooledMax {
  checkTensor(op, 'x', x);
  checkOptions(op, options, WINDOW);
  const { window, places } = placesOf(op, x, kernelSize, options);
  const [n, c] = x.shape as readonly [number, number];
  const shape = [n, c, ...places];
  return tidy(() => {
    const values = allocate(op, x.backend, shape, x.dtype);
    const indices = allocate(op, x.backend, shape, 'u32');
    const outputs = { values: placeOver(values, shape), indices: placeOver(indices, shape) };
    const params = { ...paramsOf(window), ...boundsOf(x, window, false) };
    const [r, s] = window.kernel;
    const isFolded = r * s > UNROLLED_WITH_INDICES;
    const domain = isFolded ? { shape: [...shape, r, s], folded: 2 } : { shape };
    const kernel = withIndices(isFolded ? undefined : [r, s]);
    // Nothing is passed on by what follows: indices have no gradient, and values are read again.
    unheard(() =>
      launch(op, [x], () =>
        launchKernel(x.backend, kernel, { ...domain, inputs: { x: gathered(x) }, params, outputs }),
      ),
    );
    if (listeners.length === 0) return { values, indices };
    // What is read at a place has a gradient of one launch, the greatest of a window's elements one for each of them.
    const flat = (of: Tensor): Tensor => reshape(of, [n, c, (of.shape[2] as number) * (of.shape[3] as number)]);
    return { values: reshape(takeAlongAxis(flat(x), flat(indices)), shape), indices };
  });
}

function gathered({ ptr, dtype, shape, strides }: Tensor): GatherOperand {
  return { ptr, dtype, shape, strides };
}

/** The checked window, and how many places it has along each axis. */
function placesOf(
  op: string,
  x: Tensor,
  kernelSize: Pair,
  { stride = kernelSize, padding, dilation, ceilMode = false }: PoolOptions,
): { readonly window: Window; readonly places: readonly [number, number] } {
  if (x.rank !== 4 || ELEMENT_TYPES[x.dtype].value !== 'f32') {
    throw refuse(op, `takes f32, f16 or bf16 [n, c, h, w], got ${x.dtype}${shapeText(x.shape)}`);
  }
  const [, , height, width] = x.shape as readonly [number, number, number, number];
  const window = windowOf(op, [height, width], kernelSize, { stride, padding, dilation });
  checkPadding(op, window);
  const places = [placesAlong(0, height, window, ceilMode), placesAlong(1, width, window, ceilMode)] as const;
  if (places.includes(0)) {
    throw refuse(op, `the window ${shapeText(window.kernel)} is larger than the padded x ${shapeText(x.shape)}`);
  }
  return { window, places };
}

/** A window in the padding alone would see nothing. */
function checkPadding(op: string, { kernel, dilation, padding }: Window): void {
  const isWider = padding.some((size, side) => {
    const axis = side % 2;
    return size > (dilation[axis] as number) * ((kernel[axis] as number) - 1);
  });
  if (isWider) throw refuse(op, `padding ${shapeText(padding)} is as wide as the window ${shapeText(kernel)}`);
}

function paramsOf({ stride, dilation, padding }: Window): Record<string, number> {
  return {
    ...{ rowStride: stride[0], rowStep: dilation[0], top: padding[0] },
    ...{ columnStride: stride[1], columnStep: dilation[1], left: padding[1] },
  };
}

/** Returns the bounds between which an element counts in a mean: those of the image, or those of its padding too. */
function boundsOf({ shape }: Tensor, { padding }: Window, countsPadding: boolean): Record<string, number> {
  const [, , height, width] = shape as readonly [number, number, number, number];
  const [top, left, bottom, right] = countsPadding ? padding : [0, 0, 0, 0];
  return { firstRow: -top, endRow: height + bottom, firstColumn: -left, endColumn: width + right };
}

const PARAMS = {
  ...{ rowStride: 'i32', rowStep: 'i32', top: 'i32' },
  ...{ columnStride: 'i32', columnStep: 'i32', left: 'i32' },
} satisfies Record<string, NumberType>;
const BOUNDS = { firstRow: 'i32', endRow: 'i32', firstColumn: 'i32', endColumn: 'i32' } satisfies Record<
  string,
  NumberType
>;

const kernels = new Kernels();

type Symbols = Readonly<Record<string, Index>>;

/** The operation of both kinds of kernels on the elements at rows and columns. */
interface Taps {
  readonly values: readonly Float[];
  readonly rows: readonly Index[];
  readonly columns: readonly Index[];
}

function unrolled(kind: PoolKind, r: number, s: number): Kernel {
  return kernels.of(`${kind} ${r} ${s}`, () =>
    define(kind, (symbols, k) => {
      const { values, rows, columns } = tapsOf(kind, symbols, k, numbered(k, r), numbered(k, s));
      if (kind === 'max') return values.reduce((most, value) => k.max(most, value));
      const sum = values.reduce((total, value) => k.add(total, value));
      const countOf = (places: readonly Index[], first: string, end: string): Float =>
        places.map((place) => k.toF32(isBetween(symbols, k, place, first, end))).reduce((a, b) => k.add(a, b));
      const count = k.mul(countOf(rows, 'firstRow', 'endRow'), countOf(columns, 'firstColumn', 'endColumn'));
      return k.div(sum, count);
    }),
  );
}

function folded(kind: PoolKind): Kernel {
  return kernels.of(kind, () =>
    define(kind, (symbols, k) => {
      const [i, j] = [k.toI32(k.index(4)), k.toI32(k.index(5))];
      const { values, rows, columns } = tapsOf(kind, symbols, k, [i], [j]);
      const [value, row, column] = [values[0] as Float, rows[0] as Index, columns[0] as Index];
      if (kind === 'max') return k.fold('max', value);
      const counts = k.and(
        isBetween(symbols, k, row, 'firstRow', 'endRow'),
        isBetween(symbols, k, column, 'firstColumn', 'endColumn'),
      );
      return k.div(k.fold('sum', value), k.toF32(k.fold('count', counts)));
    }),
  );
}

/**
 * The greatest element, and the first place of one that equals it, or of a NaN: never one of the padding.
 *
 * @param size - of a window that is written out; default: it is folded
 */
function withIndices(size?: readonly [r: number, s: number]): Kernel {
  return kernels.of(
    `indices ${size?.join() ?? ''}`,
    () =>
      defineKernel('max-pool', { inputs: INPUTS, params: { ...PARAMS, ...BOUNDS } }, (own, k) => {
        const symbols = own as unknown as Symbols;
        const [i, j] =
          size === undefined
            ? [[k.toI32(k.index(4))], [k.toI32(k.index(5))]]
            : [numbered(k, size[0]), numbered(k, size[1])];
        const { values, rows, columns } = tapsOf('max', symbols, k, i, j);
        const most = values.reduce((before, value) => k.max(before, value));
        const greatest = size === undefined ? k.fold('max', most) : most;
        const inside = {
          rows: rows.map((row) => isBetween(symbols, k, row, 'firstRow', 'endRow')),
          columns: columns.map((column) => isBetween(symbols, k, column, 'firstColumn', 'endColumn')),
        };
        let indices: Value<'u32'> = k.u32(2 ** 32 - 1);
        for (let at = values.length - 1; at >= 0; at--) {
          const [value, row, column] = [values[at] as Float, Math.floor(at / columns.length), at % columns.length];
          const isInside = k.and(inside.rows[row] as Value<'bool'>, inside.columns[column] as Value<'bool'>);
          const isGreatest = k.and(isInside, k.or(k.eq(value, greatest), k.isNan(value)));
          const place = k.add(k.mul(rows[row] as Index, symbols['endColumn'] as Index), columns[column] as Index);
          indices = k.select(isGreatest, k.toU32(place), indices);
        }
        return { values: greatest, indices: size === undefined ? k.fold('min', indices) : indices };
      }) as Kernel,
  );
}

const INPUTS = { x: { type: 'f32', access: 'gather', rank: 4 } } as const;

function define(kind: PoolKind, compute: (symbols: Symbols, k: KernelBuilder) => Float): Kernel {
  const params = kind === 'mean' ? { ...PARAMS, ...BOUNDS } : PARAMS;
  return defineKernel(`${kind}-pool`, { inputs: INPUTS, params }, (symbols, k) => ({
    y: compute(symbols as unknown as Symbols, k),
  })) as Kernel;
}

function numbered(k: KernelBuilder, length: number): readonly Index[] {
  return Array.from({ length }, (_, index) => k.i32(index));
}

function tapsOf(kind: PoolKind, symbols: Symbols, k: KernelBuilder, i: readonly Index[], j: readonly Index[]): Taps {
  const of = (name: string): Index => symbols[name] as Index;
  const start = (axis: number, stride: string, before: string): Index =>
    k.sub(k.mul(k.toI32(k.index(axis)), of(stride)), of(before));
  const [firstRow, firstColumn] = [start(2, 'rowStride', 'top'), start(3, 'columnStride', 'left')];
  const rows = i.map((index) => k.add(firstRow, k.mul(of('rowStep'), index)));
  const columns = j.map((index) => k.add(firstColumn, k.mul(of('columnStep'), index)));
  const x = symbols['x'] as unknown as GatherInput<'f32'>;
  const outside = kind === 'max' ? -Infinity : 0;
  const [image, channel] = [k.index(0), k.index(1)];
  const values = rows.flatMap((row) => columns.map((column) => k.gather(x, [image, channel, row, column], outside)));
  return { values, rows, columns };
}

function isBetween(symbols: Symbols, k: KernelBuilder, place: Index, first: string, end: string): Value<'bool'> {
  return k.and(k.ge(place, symbols[first] as Index), k.lt(place, symbols[end] as Index));
}
