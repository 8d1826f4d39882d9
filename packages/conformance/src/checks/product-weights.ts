import type { BatchedGemmShape, BlockStrides, DType, QuantB, WeightDType } from '@concord/backend-core';
import { WEIGHT_BITS } from '@concord/backend-core';
import { OPS } from '@concord/backend-core/implement';
import { batchedGemmReference, quantReference, type Reference } from '@concord/backend-cpu/reference';
import type { Random } from '../harness/random.ts';
import type { Slot, Slots } from '../harness/slot.ts';
import { encodeElement, numbersIn, writeBits, bytesOf } from '../run/storage.ts';
import type { ProductData, ProductParams } from './product-data.ts';

/** Parts of `quantB` that are operands. */
const PARTS = ['scales', 'zeros', 'offsets'] as const;
type Part = (typeof PARTS)[number];

/** B of a type of its own, as it lies in memory. */
export interface Weights {
  /** Integers as bytes. */
  readonly bytes: Uint8Array;
  readonly dtype: DType;
  readonly parts: { readonly [Name in Part]?: { readonly bytes: Uint8Array; readonly dtype: DType } };
}

const isNibble = (dtype: WeightDType): boolean => WEIGHT_BITS[dtype] === 4;

/** Returns whether B is of integers. */
export const isQuant = ({ dtypeB }: Pick<BatchedGemmShape, 'dtypeB'>): boolean => /^[iu]/.test(dtypeB ?? '');

/** The `quantB` of a case, without its pointers. */
export function quantShape({ dtypeB, block, scales, zeros, blocksView, n, k, strideB }: ProductParams): {
  readonly quantB?: Omit<QuantB, 'scales'> & { readonly scales: object };
} {
  if (!isQuant({ dtypeB: dtypeB as WeightDType })) return {};
  const blocks = Math.ceil(k / block);
  const strides = blocksView === 'packed' ? {} : { strides: stridesOf(blocksView, n, blocks, strideB === '0') };
  const zeroDType = zeros === 'own' ? {} : { dtype: zeros };
  const quantB = {
    block,
    scales: { dtype: scales, ...strides },
    ...(zeros === 'none' || zeros === 'offsets' ? {} : { zeros: { ...zeroDType, ...strides } }),
    ...(zeros === 'offsets' ? { offsets: { ...strides } } : {}),
  };
  return { quantB: quantB as never };
}

function stridesOf(view: string, n: number, blocks: number, isOne: boolean): BlockStrides {
  // Even, for zeros of 4 bits.
  const line = 2 * Math.ceil((blocks + 3) / 2);
  const columns = n + (n % 2);
  switch (view) {
    case 'padded':
      return [isOne ? 0 : n * line, line, 1];
    case 'turned':
      return [isOne ? 0 : 2 * blocks * columns, 2, 2 * columns];
    default:
      // One number for all rows.
      return [0, 0, 1];
  }
}

/** The integers of B or of zeros, of the numbers that an operand's own type makes of its bytes. */
function integersOf(dtype: WeightDType, stored: Float64Array): Float64Array {
  if (!isNibble(dtype)) return stored;
  const lowest = dtype === 'i4' ? 8 : 0;
  return Float64Array.from({ length: 2 * stored.length }, (_, at) => {
    const bits = ((stored[at >> 1] as number) >> (4 * (at & 1))) & 15;
    return (bits ^ lowest) - lowest;
  });
}

/** B as numbers, of what its operands hold: integers of 4 bits as bytes. */
export function weightsOf(shape: BatchedGemmShape, b: Float64Array, part: (name: Part) => Float64Array): Reference {
  const { dtypeB = 'f32', quantB } = shape;
  const { zeros, offsets } = quantB as NonNullable<typeof quantB>;
  return quantReference(shape, integersOf(dtypeB, b), {
    scales: part('scales'),
    zeros: zeros && integersOf(zeros.dtype ?? dtypeB, part('zeros')),
    offsets: offsets && part('offsets'),
  });
}

/**
 * Draws integers of B in the place of its numbers.
 *
 * @param isExact - whether sums have to be exact whatever their order
 * @param scale - what scales that are not exact are multiplied by
 */
export function withIntegers(data: ProductData, random: Random, isExact: boolean, scale = 1): ProductData {
  const { shape } = data;
  const { dtypeB = 'f32', dtype, quantB, m, k } = shape;
  if (quantB === undefined) return data;
  const checked = OPS.batchedGemm.check(shape, false);
  const elements = (name: string): number => checked?.operands.find((operand) => operand.name === name)?.elements ?? 0;
  // In binary16 sums stay below 2^11, in float32 below 2^24: numbers in the middle of the range, or all of it.
  const bits = WEIGHT_BITS[dtypeB];
  const isFew = isExact && (dtype === 'f16' || (bits === 8 && k > 500));
  const middle = dtypeB.startsWith('u') && quantB.offsets === undefined ? 2 ** (bits - 1) : 0;
  const few = m > 0 && k > 200 ? 1 : 3;
  const near = (): number => middle + random.integer(middle === 0 && dtypeB.startsWith('u') ? 0 : -few, few);
  const bytes = Uint8Array.from({ length: elements('b') }, () => {
    if (!isFew) return random.integer(0, 255);
    return isNibble(dtypeB) ? (near() & 15) | ((near() & 15) << 4) : near() & 255;
  });
  const part = (name: Part, own: WeightDType, draw: () => number): [Part, object][] => {
    if (quantB[name] === undefined) return [];
    const length = elements(`quantB.${name}`);
    const held = isNibble(own) ? 'u8' : (own as DType);
    const view = new DataView(new ArrayBuffer(length * bytesOf(held)));
    for (let at = 0; at < length; at++) writeBits(view, held, at * bytesOf(held), encodeElement(held, draw()));
    return [[name, { bytes: new Uint8Array(view.buffer), dtype: held }]];
  };
  const scales = quantB.scales.dtype ?? 'f32';
  const zeros = quantB.zeros?.dtype ?? dtypeB;
  const isFloat = zeros === 'f32' || zeros === 'f16';
  const zero = (): number => {
    if (!isFloat && !isFew) return random.integer(zeros === 'i8' ? -128 : 0, zeros === 'i8' ? 127 : 255);
    if (isNibble(zeros)) return (near() & 15) | ((near() & 15) << 4);
    return isExact ? middle : middle + random.unit() * 4 - 2;
  };
  const weights: Weights = {
    bytes,
    dtype: isNibble(dtypeB) ? 'u8' : (dtypeB as DType),
    parts: Object.fromEntries([
      ...part('scales', scales, () =>
        isExact ? random.pick(isFew ? [1, -1] : [1, 2, -1, 0.5]) : scale * random.unit() * random.pick([0.01, -0.1, 1]),
      ),
      ...part('zeros', zeros, zero),
      ...part('offsets', scales, () => (isExact ? random.integer(-1, 1) : random.unit() * 4 - 2)),
    ]),
  };
  const { value, magnitude } = weightsOf(shape, numbersIn(weights.dtype, bytes), (name) => {
    const own = weights.parts[name] as NonNullable<Weights['parts'][Part]>;
    return numbersIn(own.dtype, own.bytes);
  });
  return { ...data, b: value, magnitudeB: magnitude, weights };
}

/** Makes the operands of `quantB`. */
export function quantSlots({ weights }: ProductData, slots: Slots): Readonly<Record<string, Slot>> {
  return Object.fromEntries(
    Object.entries(weights?.parts ?? {}).map(([name, { bytes, dtype }]) => [
      `quantB.${name}`,
      slots.stored(bytes, dtype),
    ]),
  );
}

/** A call's shape with the pointers of `quantB`. */
export function placeQuant<Shape extends object>(shape: Shape, ptrOf: (name: string) => unknown): Shape {
  const { quantB } = shape as Partial<BatchedGemmShape>;
  if (quantB === undefined) return shape;
  const placed = PARTS.filter((name) => quantB[name] !== undefined).map((name) => [
    name,
    { ...quantB[name], ptr: ptrOf(`quantB.${name}`) },
  ]);
  return { ...shape, quantB: { ...quantB, ...Object.fromEntries(placed) } };
}

/** sum |a||b| where B is of a type of its own, and what a device may add that rounds B to binary16: see `docs/numerics.md`. */
export function mixedMagnitudes({ shape, a, b, magnitudeB = b }: ProductData): {
  readonly terms: Float64Array;
  readonly rounding: Float64Array | undefined;
} {
  const terms = batchedGemmReference(shape, a, magnitudeB).magnitude;
  if (shape.dtype !== 'f16') return { terms, rounding: undefined };
  const normal = b.map((x) => Math.max(Math.abs(x), 2 ** -14));
  const { magnitude } = batchedGemmReference(shape, a, normal);
  return { terms, rounding: magnitude.map((sum) => 2 ** -11 * sum) };
}
