import { invalid } from '../../errors/invalid.ts';
import { type CheckedCall, checkDType, checkPositive, checkSizes, packedExtent } from '../checks.ts';
import type { Conv2dShape } from './conv2d.ts';

type Pair = readonly [number, number];
type Quad = readonly [number, number, number, number];

/** A conv2dForward with its defaults filled in; `[N, C, H, W]`, `[K, C / groups, R, S]`, `[N, K, P, Q]`. */
export interface CheckedConv2d extends CheckedCall {
  readonly inputShape: readonly [number, number, number, number];
  readonly filterShape: readonly [number, number, number, number];
  readonly outputShape: readonly [number, number, number, number];
  readonly stride: readonly [number, number];
  readonly padding: readonly [number, number];
  readonly dilation: readonly [number, number];
  readonly groups: number;
}

/**
 * The rules of `conv2dForward`.
 *
 * @returns null when there is nothing to do
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkConv2d(shape: Conv2dShape, outputIsNull: boolean): CheckedConv2d | null {
  const inputSizes = checkSizes('inputShape', shape.inputShape);
  const filterSizes = checkSizes('filterShape', shape.filterShape);
  const outputSizes = checkSizes('outputShape', shape.outputShape);
  const strideSizes = checkSizes('stride', shape.stride, checkPositive);
  const paddingSizes = checkSizes('padding', shape.padding);
  const dilationSizes = checkSizes('dilation', shape.dilation ?? [1, 1], checkPositive);
  const groups = shape.groups ?? 1;
  checkPositive('groups', groups);
  const dtype = checkDType(shape.dtype);

  const inputShape = tuple<Quad>(inputSizes, 4, 'input_shape must have 4 elements (NCHW)');
  const filterShape = tuple<Quad>(filterSizes, 4, 'filter_shape must have 4 elements (KCFHFW)');
  const outputShape = tuple<Quad>(outputSizes, 4, 'output_shape must have 4 elements (NKOhOw)');
  const stride = tuple<Pair>(strideSizes, 2, 'stride must have 2 elements [sh, sw]');
  const padding = tuple<Pair>(paddingSizes, 2, 'padding must have 2 elements [ph, pw]');
  const dilation = tuple<Pair>(dilationSizes, 2, 'dilation must have 2 elements [dh, dw]');

  const [batch, channels, height, width] = inputShape;
  const [filters, filterChannels, filterHeight, filterWidth] = filterShape;
  if (batch === 0 || filters === 0) return null;
  if (outputIsNull && [inputShape, filterShape, outputShape].some((sizes) => sizes.includes(0))) return null;

  checkNoZero('input_shape', inputShape);
  checkNoZero('filter_shape', filterShape);
  if (channels % groups !== 0 || filters % groups !== 0) {
    throw invalid(`groups ${groups} must divide the ${channels} input channels and the ${filters} filters`);
  }
  if (filterChannels !== channels / groups) {
    throw invalid(`filter_shape[1] must be ${channels / groups}, input channels / groups, got ${filterChannels}`);
  }
  const expected = [
    batch,
    filters,
    outputLength('height', height, padding[0], dilation[0], filterHeight, stride[0]),
    outputLength('width', width, padding[1], dilation[1], filterWidth, stride[1]),
  ];
  if (expected.some((size, index) => size !== outputShape[index])) {
    throw invalid(`output_shape must be [${expected.join(', ')}], got [${outputShape.join(', ')}]`);
  }
  const operands = [
    { name: 'input', elements: packedExtent('input', inputShape) },
    { name: 'filter', elements: packedExtent('filter', filterShape) },
    { name: 'output', elements: packedExtent('output', outputShape), output: true },
  ];
  return { inputShape, filterShape, outputShape, stride, padding, dilation, groups, dtype, operands };
}

function tuple<T extends readonly number[]>(sizes: readonly number[], length: number, message: string): T {
  if (sizes.length !== length) throw invalid(message);
  return sizes as T;
}

function checkNoZero(name: string, sizes: readonly number[]): void {
  if (sizes.includes(0)) throw invalid(`${name} must not contain 0 besides N and K, got [${sizes.join(', ')}]`);
}

function outputLength(
  name: string,
  input: number,
  padding: number,
  dilation: number,
  filter: number,
  stride: number,
): number {
  const padded = input + 2 * padding;
  const reach = dilation * (filter - 1) + 1;
  if (!Number.isSafeInteger(padded) || !Number.isSafeInteger(reach)) throw invalid(`${name} overflows 2^53`);
  if (reach > padded) throw invalid(`the dilated filter's ${name} ${reach} exceeds the padded input's ${padded}`);
  return Math.floor((padded - reach) / stride) + 1;
}
