import { shown } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';

/** One number for height and width, or one for each. */
export type Pair = number | readonly [h: number, w: number];

/**
 * The padding around an image: as much on all sides, `[h, w]`, each side by itself, `'valid'` (nothing), or `'same'`: so
 * much that the result has `ceil(size / stride)`, an odd one at the bottom and right (SAME_UPPER of ONNX, as TensorFlow).
 */
export type Sides =
  | number
  | readonly [h: number, w: number]
  | readonly [top: number, left: number, bottom: number, right: number]
  | 'same'
  | 'valid';

/** The window that moves over an image, checked. */
export interface Window {
  readonly kernel: readonly [h: number, w: number];
  readonly stride: readonly [h: number, w: number];
  readonly dilation: readonly [h: number, w: number];
  readonly padding: readonly [top: number, left: number, bottom: number, right: number];
}

/** The options of a window. */
export interface WindowOptions {
  readonly stride?: Pair | undefined;
  readonly padding?: Sides | undefined;
  readonly dilation?: Pair | undefined;
}

/**
 * A window over an image of that size.
 *
 * @throws {BackendError} INVALID_ARGUMENT for what are no sizes
 */
export function windowOf(
  op: string,
  image: readonly [h: number, w: number],
  kernelSize: Pair,
  { stride = 1, padding = 0, dilation = 1 }: WindowOptions,
): Window {
  const kernel = pairOf(op, 'the size of the window', kernelSize, 1);
  const own = {
    kernel,
    stride: pairOf(op, 'stride', stride, 1),
    dilation: pairOf(op, 'dilation', dilation, 1),
  };
  return { ...own, padding: sidesOf(op, image, own, padding) };
}

/** The number of places of a window along an axis: 0 where it is longer than the padded image. */
export function placesAlong(axis: 0 | 1, length: number, window: Window, ceilMode = false): number {
  const { stride, padding } = window;
  const left = length + padding[axis] + (axis === 0 ? padding[2] : padding[3]) - reachOf(window, axis);
  if (left < 0) return 0;
  const places = (ceilMode ? Math.ceil(left / stride[axis]) : Math.floor(left / stride[axis])) + 1;
  // No window begins beyond the image and the padding before it.
  return ceilMode && (places - 1) * stride[axis] >= length + padding[axis] ? places - 1 : places;
}

/** The length of the result of a transposed convolution along an axis: 0 where the padding leaves nothing. */
export function transposedAlong(axis: 0 | 1, length: number, window: Window, extra: number): number {
  const whole = (length - 1) * window.stride[axis] + reachOf(window, axis) + extra;
  return Math.max(0, whole - window.padding[axis] - (axis === 0 ? window.padding[2] : window.padding[3]));
}

function reachOf({ kernel, dilation }: Pick<Window, 'kernel' | 'dilation'>, axis: 0 | 1): number {
  return dilation[axis] * (kernel[axis] - 1) + 1;
}

/** @throws {BackendError} INVALID_ARGUMENT for what is no number or pair of at least `least` */
export function pairOf(op: string, what: string, value: Pair, least: number): readonly [number, number] {
  const pair = typeof value === 'number' ? [value, value] : value;
  if (Array.isArray(pair) && pair.length === 2 && pair.every((each) => Number.isSafeInteger(each) && each >= least)) {
    return [pair[0] as number, pair[1] as number];
  }
  throw refuse(op, `${what} must be a number or [h, w], each at least ${least}, got ${shown(value)}`);
}

function sidesOf(
  op: string,
  image: readonly [number, number],
  window: Omit<Window, 'padding'>,
  padding: Sides,
): Window['padding'] {
  if (padding === 'valid') return [0, 0, 0, 0];
  if (padding === 'same') {
    const [[top, bottom], [left, right]] = [sameSides(image, window, 0), sameSides(image, window, 1)];
    return [top, left, bottom, right];
  }
  const sides: readonly number[] = typeof padding === 'number' ? [padding, padding] : padding;
  const isList = Array.isArray(sides) && (sides.length === 2 || sides.length === 4);
  if (!isList || !sides.every((each) => Number.isSafeInteger(each) && each >= 0)) {
    const forms = 'a number, [h, w], [top, left, bottom, right], same or valid';
    throw refuse(op, `padding must be ${forms}, got ${shown(padding)}`);
  }
  const [top = 0, left = 0, bottom = top, right = left] = sides;
  return [top, left, bottom, right];
}

function sameSides(image: readonly [number, number], window: Omit<Window, 'padding'>, axis: 0 | 1): [number, number] {
  const places = Math.ceil(image[axis] / window.stride[axis]);
  const total = Math.max(0, (places - 1) * window.stride[axis] + reachOf(window, axis) - image[axis]);
  return [Math.floor(total / 2), Math.ceil(total / 2)];
}
