import { checkOneOf, checkPositive, checkSizes, checkedExtent, describe } from '../contract/checks.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { BYTES_OF, type FloatDType, WEIGHT_BITS, type WeightDType } from '../contract/element-types.ts';
import { checkFields } from '../contract/fields.ts';
import { invalid } from '../errors/invalid.ts';
import type { OperandSpec } from './op-definition.ts';

/** Integer types of {@link WeightDType}. */
export type QuantDType = 'i8' | 'u8' | 'i4' | 'u4';

/** Elements from one batch, row and block of B to the next; those of 4 bits count halves of bytes. */
export type BlockStrides = readonly [batch: number, row: number, block: number];

/**
 * The numbers that integers of B stand for: element q is `(q - zero) * scale`, or `q * scale + offset`. There are
 * `ceil(k / block)` blocks in each of the n stored rows of B, the last of which may be short, and a scale for each.
 *
 * Strides are, by default, those of packed `[n, blocks]` for each B of the batch; where `strideB` is 0 there is one.
 */
export interface QuantShape {
  /** Consecutive elements along k that have one scale. At least 1. */
  readonly block: number;
  /** Default dtype: `f32`. */
  readonly scales: { readonly dtype?: FloatDType; readonly strides?: BlockStrides };
  /**
   * Default dtype: `dtypeB`, packed as B: the strides of rows and batches are even where that has 4 bits. Without zeros and
   * offsets zeros are 0 for signed types, else half of the range: 8 or 128.
   */
  readonly zeros?: { readonly dtype?: FloatDType | QuantDType; readonly strides?: BlockStrides };
  /** Instead of zeros; in the dtype of the scales. */
  readonly offsets?: { readonly strides?: BlockStrides };
}

/** A {@link QuantShape} with its operands. */
export interface QuantB extends QuantShape {
  readonly scales: QuantShape['scales'] & { readonly ptr: DevicePtr };
  readonly zeros?: QuantShape['zeros'] & { readonly ptr: DevicePtr };
  readonly offsets?: QuantShape['offsets'] & { readonly ptr: DevicePtr };
}

/** Numbers of blocks, their defaults filled in. */
export interface CheckedBlocks<DType extends WeightDType = WeightDType> {
  readonly dtype: DType;
  readonly strides: BlockStrides;
}

/** A {@link QuantShape} with its defaults filled in. */
export interface CheckedQuant {
  readonly block: number;
  /** Blocks in a row of B. */
  readonly blocks: number;
  readonly scales: CheckedBlocks<FloatDType>;
  /** The zeros in `quantB.zeros`. */
  readonly zeros?: CheckedBlocks<FloatDType | QuantDType> | undefined;
  /** The offsets in `quantB.offsets`. */
  readonly offsets?: CheckedBlocks<FloatDType> | undefined;
  /** The zero of every block, where there are neither zeros nor offsets. */
  readonly zero: number;
}

/** Names of the fields, by the paths of the objects that have them. */
export const QUANT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  quantB: ['block', 'scales', 'zeros', 'offsets'],
  'quantB.scales': ['ptr', 'dtype', 'strides'],
  'quantB.zeros': ['ptr', 'dtype', 'strides'],
  'quantB.offsets': ['ptr', 'strides'],
};

const INTEGERS: readonly WeightDType[] = ['i8', 'u8', 'i4', 'u4'];
const FLOATS: readonly FloatDType[] = ['f32', 'f16'];

/** Returns whether elements of B are integers, which need a {@link QuantShape}. */
export function isQuant(dtype: WeightDType): dtype is QuantDType {
  return INTEGERS.includes(dtype);
}

/** An even number of elements where a byte holds two. */
export function wholeBytes(dtype: WeightDType, elements: number): number {
  return WEIGHT_BITS[dtype] === 4 ? elements + (elements % 2) : elements;
}

/** @throws {BackendError} INVALID_ARGUMENT where rows or matrices of 4 bits would begin within a byte */
export function checkWholeBytes(name: string, dtype: WeightDType, elements: number): void {
  if (wholeBytes(dtype, elements) !== elements) {
    throw invalid(`${name} must be even for ${dtype}, so that rows begin at bytes, got ${elements}`);
  }
}

/** Elements of a weight as an operand: those of 4 bits by their bytes. */
export function weightOperand(name: string, dtype: WeightDType, elements: number): OperandSpec {
  if (dtype === 'i4' || dtype === 'u4') return { name, dtype: 'u8', elements: Math.ceil(elements / 2) };
  return { name, dtype, elements };
}

/** Elements of B in the memory of a call. */
interface QuantizedB {
  readonly dtypeB: QuantDType;
  readonly n: number;
  readonly k: number;
  readonly batchCount: number;
  readonly strideB: number;
}

/**
 * The rules of `quantB`.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkQuant(given: unknown, { dtypeB, n, k, batchCount, strideB }: QuantizedB): CheckedQuant {
  const { block, scales, zeros, offsets } = fieldsOf('quantB', given);
  checkPositive('quantB.block', block);
  if (scales === undefined) throw invalid('quantB.scales must be given');
  if (zeros !== undefined && offsets !== undefined) throw invalid('quantB takes zeros or offsets, not both');
  const blocks = Math.ceil(k / block);
  const read = <T extends WeightDType>(name: string, value: unknown, dtypes: readonly T[]): CheckedBlocks<T> => {
    const path = `quantB.${name}`;
    const { dtype: asked, strides } = fieldsOf(path, value);
    const dtype = asked === undefined ? (dtypes[0] as T) : checkOneOf(`${path}.dtype`, asked, dtypes);
    const row = wholeBytes(dtype, blocks);
    if (strides === undefined) return { dtype, strides: [strideB === 0 ? 0 : n * row, row, 1] };
    const sizes = checkSizes(`${path}.strides`, strides);
    if (sizes.length !== 3)
      throw invalid(`${path}.strides must have 3 elements [batch, row, block], got ${sizes.length}`);
    const own = sizes as unknown as BlockStrides;
    if (batchCount > 1) checkWholeBytes(`${path}.strides[0]`, dtype, own[0]);
    if (n > 1) checkWholeBytes(`${path}.strides[1]`, dtype, own[1]);
    if (batchCount > 1 && strideB === 0 && own[0] !== 0) {
      throw invalid(`${path}.strides[0] must be 0 where strideB is, got ${own[0]}: there is one B`);
    }
    return { dtype, strides: own };
  };
  const checked = read('scales', scales, FLOATS);
  const signed = dtypeB === 'i8' || dtypeB === 'i4';
  return {
    block,
    blocks,
    scales: checked,
    zeros: zeros === undefined ? undefined : read('zeros', zeros, [dtypeB, ...FLOATS]),
    offsets: offsets === undefined ? undefined : read('offsets', offsets, [checked.dtype]),
    zero: signed || offsets !== undefined ? 0 : 2 ** (WEIGHT_BITS[dtypeB] - 1),
  };
}

/** The operands of `quantB`, in the order of its fields. */
export function quantOperands(
  { blocks, scales, zeros, offsets }: CheckedQuant,
  { n, batchCount }: Pick<QuantizedB, 'n' | 'batchCount'>,
): OperandSpec[] {
  const operand = (name: string, { dtype, strides }: CheckedBlocks): OperandSpec => {
    const reach = (batchCount - 1) * strides[0] + (n - 1) * strides[1] + (blocks - 1) * strides[2];
    return weightOperand(`quantB.${name}`, dtype, blocks === 0 ? 0 : checkedExtent(`quantB.${name}`, reach + 1));
  };
  return [
    operand('scales', scales),
    ...(zeros === undefined ? [] : [operand('zeros', zeros)]),
    ...(offsets === undefined ? [] : [operand('offsets', offsets)]),
  ];
}

/** Bytes of `quantB` for one B. */
export function quantBytes({ blocks, scales, zeros, offsets }: CheckedQuant, n: number): number {
  const each = BYTES_OF[scales.dtype] * (offsets === undefined ? 1 : 2);
  return n * blocks * (each + (zeros === undefined ? 0 : WEIGHT_BITS[zeros.dtype] / 8));
}

function fieldsOf(path: string, value: unknown): Readonly<Record<string, unknown>> {
  const names = QUANT_FIELDS[path] as readonly string[];
  if (typeof value !== 'object' || value === null) {
    throw invalid(`${path} must be { ${names.join(', ')} }, got ${describe(value)}`);
  }
  checkFields(path, value, names);
  return value as Readonly<Record<string, unknown>>;
}
