import { type FloatDType, WEIGHT_BITS, type WeightDType } from '@concord/backend-core';
import type { CheckedQuant, Operand, ResolvedGemm } from '@concord/backend-core/implement';

/** The operands of {@link CheckedQuant}. */
export const BLOCKS = ['scales', 'zeros', 'offsets'] as const;

/** A B of a type of its own as it is stored. */
export interface Weights<Buffer> {
  readonly dtype: WeightDType;
  readonly span: Operand<Buffer>;
  readonly ld: number;
  readonly stride: number;
  /** The quantization of integers. */
  readonly quant?: CheckedQuant | undefined;
  readonly blocks: { readonly [Name in (typeof BLOCKS)[number]]?: Operand<Buffer> | undefined };
}

/** The B of a call as it is stored, if it is of a type of its own. */
export function weightsOf<Buffer>(call: ResolvedGemm<Buffer>): Weights<Buffer> | undefined {
  const { dtypeB, b, ldb, strideB, quantB } = call;
  if (dtypeB === undefined) return undefined;
  const blocks = Object.fromEntries(BLOCKS.map((name) => [name, call[`quantB.${name}`]]));
  return { dtype: dtypeB, span: b, ld: ldb, stride: strideB, quant: quantB, blocks };
}

/** The storage of a B of a type of its own, as kernels tell it. */
export interface WeightForm {
  /** Storage of B; signed integers are read as unsigned ones, with a sign bit that is flipped. */
  readonly weights: 'f32' | 'f16' | 'bf16' | 'u8' | 'u4';
  /** Storage of the scales of integers. */
  readonly scales?: FloatDType | undefined;
  /** The zeros of integers: one for all, one of their own type for each block, or floats; or offsets. */
  readonly zeros?: 'one' | 'own' | 'floats' | 'offsets' | undefined;
}

const FLOATS: readonly FloatDType[] = ['f32', 'f16'];

/** Every form of integers. */
export const FORMS_OF_INTEGERS: readonly (WeightForm & { readonly weights: 'u8' | 'u4' })[] = (
  ['u8', 'u4'] as const
).flatMap((weights) =>
  FLOATS.flatMap((scales) =>
    (['one', 'own', 'floats', 'offsets'] as const).map((zeros) => ({ weights, scales, zeros })),
  ),
);

/** Every form of weights beside A of a dtype. */
export function formsBeside(input: FloatDType): readonly WeightForm[] {
  const floats = ([...FLOATS, 'bf16'] as const).filter((weights) => weights !== input);
  return [...floats.map((weights) => ({ weights })), ...FORMS_OF_INTEGERS];
}

/** The form of weights as they are stored. */
export function weightFormOf(dtype: WeightDType, quant: CheckedQuant | undefined): WeightForm {
  const weights = unsignedOf(dtype);
  if (quant === undefined) return { weights };
  const { zeros, offsets, scales } = quant;
  const isOwn = zeros?.dtype === dtype;
  const kind = offsets !== undefined ? 'offsets' : zeros === undefined ? 'one' : isOwn ? 'own' : 'floats';
  return { weights, scales: scales.dtype, zeros: kind };
}

/** The type that kernels read weights as: integers without a sign. */
export function unsignedOf(dtype: WeightDType): WeightForm['weights'] {
  if (dtype === 'i8') return 'u8';
  return dtype === 'i4' ? 'u4' : dtype;
}

/** What is added to integers, and to their zeros, to make them unsigned: half of the range of signed ones. */
export function unsignedBias(dtype: WeightDType): number {
  return dtype === 'i8' || dtype === 'i4' ? 2 ** (WEIGHT_BITS[dtype] - 1) : 0;
}

/** log2 of the units of a block, if there is one; a row of a single block has all of them. */
export function blockShift(block: number, k: number, unit: number): number | undefined {
  if (block >= k) return 31;
  const shift = Math.log2(block / unit);
  return Number.isInteger(shift) && shift >= 0 ? shift : undefined;
}
