import { BYTES_OF, type FloatDType, type StoredFloatDType } from '../contract/element-types.ts';
import { checkBoolean, checkDType, checkOneOf, checkPositive, checkSizes, packedExtent } from '../contract/checks.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { invalid } from '../errors/invalid.ts';
import {
  type CheckedEpilogue,
  type Epilogue,
  type EpilogueField,
  epilogueOperands,
  placeEpilogue,
  checkEpilogue,
} from './epilogue.ts';
import type { CheckedCall, Feature, OpDefinition } from './op-definition.ts';

/** Sizes of images: images, channels, height, width. */
export type ImageShape = readonly [n: number, c: number, h: number, w: number];
/** Sizes of filters: filters, channels of a group, height, width; of transposed ones channels, filters of a group, height, width. */
export type FilterShape = readonly [k: number, cPerGroup: number, r: number, s: number];
/** One value for each image axis. */
export type HeightWidth = readonly [h: number, w: number];
/** Zeros around an image. */
export type Padding = HeightWidth | readonly [top: number, left: number, bottom: number, right: number];

/**
 * Shape of a 2-d cross-correlation (the filter is not flipped), everything packed and row-major:
 *
 * `output[n,k,p,q] = sum over c,r,s of input[n, g*C/groups + c, p*sh - top + r*dh, q*sw - left + s*dw] * filter[k,c,r,s]`
 *
 * where g is the group of k, and input outside the image counts as zero. (What an infinite or NaN weight gives there is not
 * specified: devices may leave the term out or multiply.)
 *
 * Transposed, input and output change places: each input is added, times the filter, to the outputs under the filter.
 *
 * `output[n,k,p,q] = sum over c,i,j,r,s of input[n, g*C/groups + c, i, j] * filter[g*C/groups + c, k - g*K/groups, r, s]`
 *
 * for all i, j, r, s with `p = i*sh - top + r*dh` and `q = j*sw - left + s*dw`.
 */
export interface Conv2dShape {
  readonly inputShape: ImageShape;
  readonly filterShape: FilterShape;
  /**
   * Must be what follows from the rest: `P = floor((H + top + bottom - dh (R - 1) - 1) / sh) + 1`, transposed
   * `P = (H - 1) sh - top - bottom + dh (R - 1) + outputPadding[0] + 1`.
   */
  readonly outputShape: readonly [n: number, k: number, p: number, q: number];
  /** Default `[1, 1]`. */
  readonly stride?: HeightWidth;
  /** `[h, w]` adds as many zeros on both sides; transposed, it leaves out as many outputs. Default `[0, 0]`. */
  readonly padding?: Padding;
  /** Default `[1, 1]`. */
  readonly dilation?: HeightWidth;
  /** Default 1; divides C and K. C groups is a depthwise convolution. */
  readonly groups?: number;
  /** Storage of the input, the output and by default the filter. Default `'f32'`. `'f16'` accumulates in float32 and rounds once, to nearest even. */
  readonly dtype?: FloatDType;
  /** Storage of the filter. Where `dtype` is `'f32'` also `'f16'` and `'bf16'`, which are features. */
  readonly dtypeFilter?: StoredFloatDType;
  /** True for the transposed convolution, whose filter is `[C, K / groups, R, S]`. Default false. */
  readonly transposed?: boolean;
  /**
   * Extra outputs of a transposed convolution at the bottom and on the right: fewer than the greater one of stride and
   * dilation. Default `[0, 0]`.
   */
  readonly outputPadding?: HeightWidth;
}

/** Arguments of `conv2dForward`. */
export interface Conv2dCall extends Conv2dShape {
  readonly input: DevicePtr;
  readonly filter: DevicePtr;
  readonly output: DevicePtr;
  /** The kernel applied to each element before it is stored, over `[n, k, p, q]`. */
  readonly epilogue?: Epilogue;
}

/** A conv2dForward with its defaults filled in. */
export interface CheckedConv2d extends CheckedCall {
  readonly inputShape: ImageShape;
  readonly filterShape: FilterShape;
  readonly outputShape: ImageShape;
  readonly stride: HeightWidth;
  readonly padding: readonly [top: number, left: number, bottom: number, right: number];
  readonly dilation: HeightWidth;
  readonly groups: number;
  readonly dtype: FloatDType;
  /** The filter's dtype if it is not `dtype`. */
  readonly dtypeFilter?: Exclude<StoredFloatDType, 'f32'> | undefined;
  readonly transposed: boolean;
  readonly epilogue?: CheckedEpilogue | undefined;
}

/** The filter's form: of a plain, then of a transposed convolution. */
const FILTER_FORM = ['4 elements [k, c / groups, r, s]', '4 elements [c, k / groups, r, s]'];

const DOMAIN = [0, 1, 2, 3].map((axis) => `outputShape[${axis}]`);

/** `conv2dForward`. */
export const conv2dForward: OpDefinition<Conv2dShape & EpilogueField, CheckedConv2d> = {
  kernel: 'conv2dForward',
  operands: ['input', 'filter', 'output'],
  output: 'output',
  fields: {
    inputShape: 'sizes',
    filterShape: 'sizes',
    outputShape: 'sizes',
    stride: 'sizes',
    padding: 'sizes',
    dilation: 'sizes',
    groups: 'size',
    dtype: 'word',
    dtypeFilter: 'word',
    transposed: 'boolean',
    outputPadding: 'sizes',
    epilogue: 'object',
  },
  read: (call) => {
    const { inputShape, filterShape, outputShape, stride, padding, dilation, groups, dtype, dtypeFilter } = call;
    const { transposed, outputPadding, epilogue, input, filter, output } = call;
    return [
      ...[inputShape, filterShape, outputShape, stride, padding, dilation, groups, dtype, dtypeFilter],
      ...[transposed, outputPadding, epilogue, input, filter, output],
    ];
  },
  dtypes: ['f32', 'f16'],
  check,
  cost: ({ inputShape, filterShape, outputShape, dtype, dtypeFilter = dtype, transposed }) => ({
    // Each output is a sum over a filter; transposed, each input is added to as many outputs, but for those left out.
    operations: 2 * product(transposed ? inputShape : outputShape) * product(filterShape.slice(1)),
    bytes:
      (product(inputShape) + product(outputShape)) * BYTES_OF[dtype] + product(filterShape) * BYTES_OF[dtypeFilter],
  }),
  sample: {
    shape: { inputShape: [1, 2, 4, 4], filterShape: [3, 2, 3, 3], outputShape: [1, 3, 2, 2] },
    nothingToDo: [
      { inputShape: [0, 2, 4, 4], outputShape: [0, 3, 2, 2] },
      { filterShape: [0, 2, 3, 3], outputShape: [1, 0, 2, 2] },
    ],
  },
};

function check(shape: Conv2dShape & EpilogueField, outputIsNull: boolean): CheckedConv2d | null {
  const inputSizes = checkSizes('inputShape', shape.inputShape);
  const filterSizes = checkSizes('filterShape', shape.filterShape);
  const outputSizes = checkSizes('outputShape', shape.outputShape);
  const strideSizes = checkSizes('stride', shape.stride ?? [1, 1], checkPositive);
  const paddingSizes = checkSizes('padding', shape.padding ?? [0, 0]);
  const dilationSizes = checkSizes('dilation', shape.dilation ?? [1, 1], checkPositive);
  const groups = shape.groups ?? 1;
  checkPositive('groups', groups);
  const dtype = checkDType(shape.dtype);
  const filterTypes = dtype === 'f32' ? (['f32', 'f16', 'bf16'] as const) : [dtype];
  const stored = checkOneOf<StoredFloatDType>('dtypeFilter', shape.dtypeFilter ?? dtype, filterTypes);
  const dtypeFilter = stored === dtype || stored === 'f32' ? undefined : stored;
  const transposed = checkBoolean('transposed', shape.transposed, false);
  const extraSizes = checkSizes('outputPadding', shape.outputPadding ?? [0, 0]);
  const given = checkEpilogue(shape.epilogue);

  const inputShape = tuple<ImageShape>('inputShape', inputSizes, '4 elements [n, c, h, w]', 4);
  const filterShape = tuple<FilterShape>('filterShape', filterSizes, FILTER_FORM[Number(transposed)] as string, 4);
  const outputShape = tuple<ImageShape>('outputShape', outputSizes, '4 elements [n, k, p, q]', 4);
  const stride = tuple<HeightWidth>('stride', strideSizes, '2 elements [h, w]', 2);
  const sides = tuple<Padding>('padding', paddingSizes, '2 elements [h, w] or 4 [top, left, bottom, right]', 2, 4);
  const dilation = tuple<HeightWidth>('dilation', dilationSizes, '2 elements [h, w]', 2);
  const extra = tuple<HeightWidth>('outputPadding', extraSizes, '2 elements [h, w]', 2);
  const padding = sides.length === 4 ? sides : ([...sides, ...sides] as const);

  const [batch, channels, height, width] = inputShape;
  const [, , filterHeight, filterWidth] = filterShape;
  const filters = transposed ? filterShape[1] * groups : filterShape[0];
  if (batch === 0 || filters === 0) return null;
  if (outputIsNull && [inputShape, filterShape, outputShape].some((sizes) => sizes.includes(0))) return null;

  checkNoZero('inputShape', inputShape);
  checkNoZero('filterShape', filterShape);
  if (channels % groups !== 0 || filters % groups !== 0) {
    throw invalid(`groups ${groups} must divide the ${channels} input channels and the ${filters} filters`);
  }
  if (transposed && filterShape[0] !== channels) {
    throw invalid(`filterShape[0] must be ${channels}, the input channels, got ${filterShape[0]}`);
  }
  if (!transposed && filterShape[1] !== channels / groups) {
    throw invalid(`filterShape[1] must be ${channels / groups}, input channels / groups, got ${filterShape[1]}`);
  }
  checkOutputPadding(extra, stride, dilation, transposed);
  const [top, left, bottom, right] = padding;
  const lengthOf = transposed ? transposedLength : outputLength;
  const expected = [
    batch,
    filters,
    lengthOf('height', height, top + bottom, dilation[0], filterHeight, stride[0], extra[0]),
    lengthOf('width', width, left + right, dilation[1], filterWidth, stride[1], extra[1]),
  ];
  if (expected.some((size, index) => size !== outputShape[index])) {
    throw invalid(`outputShape must be [${expected.join(', ')}], got [${outputShape.join(', ')}]`);
  }
  const inputElements = packedExtent('input', inputShape);
  const filterElements = packedExtent('filter', filterShape);
  const outputElements = packedExtent('output', outputShape);
  const epilogue = placeEpilogue(given, DOMAIN, outputShape, undefined, dtype);
  const operands = [
    { name: 'input', dtype, elements: inputElements },
    { name: 'filter', dtype: stored, elements: filterElements },
    ...epilogueOperands(epilogue),
    { name: 'output', dtype, elements: outputElements, output: true },
  ];
  const needs: Feature<'conv2dForward'>[] = [
    ...(transposed ? (['transposed'] as const) : []),
    ...(dtypeFilter === undefined ? [] : ([`dtypeFilter ${dtypeFilter}`] as const)),
  ];
  return {
    inputShape,
    filterShape,
    outputShape,
    stride,
    padding,
    dilation,
    groups,
    dtype,
    dtypeFilter,
    transposed,
    epilogue,
    operands,
    needs,
  };
}

function checkOutputPadding(extra: HeightWidth, stride: HeightWidth, dilation: HeightWidth, transposed: boolean): void {
  for (const axis of [0, 1] as const) {
    const limit = transposed ? Math.max(stride[axis], dilation[axis]) : 1;
    if (extra[axis] < limit) continue;
    const rule = transposed ? `below ${limit}, the greater one of stride and dilation` : '0 unless transposed';
    throw invalid(`outputPadding[${axis}] must be ${rule}, got ${extra[axis]}`);
  }
}

function tuple<T extends readonly number[]>(
  name: string,
  sizes: readonly number[],
  form: string,
  ...lengths: readonly number[]
): T {
  if (!lengths.includes(sizes.length)) throw invalid(`${name} must have ${form}, got ${sizes.length}`);
  return sizes as unknown as T;
}

function checkNoZero(name: string, sizes: readonly number[]): void {
  if (sizes.includes(0)) throw invalid(`${name} must not contain 0 besides n and k, got [${sizes.join(', ')}]`);
}

function outputLength(
  name: string,
  input: number,
  padding: number,
  dilation: number,
  filter: number,
  stride: number,
): number {
  const padded = input + padding;
  const reach = dilation * (filter - 1) + 1;
  if (!Number.isSafeInteger(padded) || !Number.isSafeInteger(reach)) throw invalid(`${name} overflows 2^53`);
  if (reach > padded) throw invalid(`the dilated filter's ${name} ${reach} exceeds the padded input's ${padded}`);
  return Math.floor((padded - reach) / stride) + 1;
}

function transposedLength(
  name: string,
  input: number,
  padding: number,
  dilation: number,
  filter: number,
  stride: number,
  extra: number,
): number {
  const whole = (input - 1) * stride + dilation * (filter - 1) + 1 + extra;
  if (!Number.isSafeInteger(whole) || !Number.isSafeInteger(padding)) throw invalid(`${name} overflows 2^53`);
  if (padding >= whole) throw invalid(`the padding's ${name} ${padding} leaves nothing of the output's ${whole}`);
  return whole - padding;
}

function product(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total * size, 1);
}
