import {
  type BatchedGemmShape,
  type BlockStrides,
  type DType,
  type QuantB,
  WEIGHT_BITS,
  type WeightDType,
} from '@concord/backend-core';
import { OPS } from '@concord/backend-core/implement';
import { batchedGemmReference, quantReference, type Reference } from '@concord/backend-cpu/reference';
import type { Random } from '../harness/random.ts';
import type { Slot, Slots } from '../harness/workspace.ts';
import { bytesOf, encodeElement, numbersIn, writeBits } from '../run/placement.ts';
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
const isQuant = ({ dtypeB }: Pick<BatchedGemmShape, 'dtypeB'>): boolean => /^[iu]/.test(dtypeB ?? '');

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

type Entry = readonly [string, Partial<ProductParams>];

const FLOATS = ['f32', 'f16', 'bf16'];
const INTEGERS = ['i8', 'u8', 'i4', 'u4'];
const ZEROS = ['none', 'own', 'f32', 'f16', 'offsets'];

/** The listed cases of a B of each type but `dtype`: rows of C from one to those of a tile, blocks whole and short. */
export function weightEntries(dtype: 'f32' | 'f16', more: Partial<ProductParams> = {}): Entry[] {
  const own = { dtype, ...more };
  const floats = FLOATS.filter((each) => each !== dtype).flatMap((dtypeB): Entry[] => [
    ...['NN', 'NT', 'TN', 'TT'].map((trans): Entry => ['exact', { ...own, dtypeB, m: 5, n: 9, k: 7, trans }]),
    ...['NN', 'NT'].flatMap((trans): Entry[] => [
      ['exact', { ...own, dtypeB, m: 68, n: 36, k: 20, trans, beta: 2, padA: 1, padB: 3, padC: 1 }],
      ['exact', { ...own, dtypeB, m: 1, n: 70, k: 264, trans, alpha: -0.5 }],
      ['exact', { ...own, dtypeB, m: 33, n: 1, k: 70, trans, offset: 4 }],
    ]),
    ['bounded', { ...own, dtypeB, m: 3, n: 40, k: 513, trans: 'NT', alpha: 0.3, beta: -1.7 }],
    ['bounded', { ...own, dtypeB, m: 64, n: 64, k: 64 }],
    ...[2, 4, 8].map((m): Entry => ['exact', { ...own, dtypeB, m, n: 35, k: 68, trans: 'NT', padB: 4, beta: 1 }]),
    ['exact', { ...own, dtypeB, m: 6, n: 5, k: 71, trans: 'TT', padB: 1 }],
    ['bounded', { ...own, dtypeB, m: 7, n: 11, k: 4097, trans: 'NT', padB: 3 }],
    ['epilogue', { ...own, dtypeB, m: 1, n: 21, k: 40, trans: 'NT', epilogue: 'bias gelu', view: 'axis 2' }],
    ['epilogue', { ...own, dtypeB, m: 20, n: 21, k: 9, epilogue: 'three inputs', view: 'axis 2', beta: 1 }],
    ['repeat', { ...own, dtypeB, m: 2, n: 33, k: 300, trans: 'NT' }],
  ]);
  const integers = INTEGERS.flatMap((dtypeB): Entry[] => {
    const each = { ...own, dtypeB, trans: 'NT' };
    return [
      ...ZEROS.flatMap((zeros): Entry[] => [
        ['exact', { ...each, zeros, m: 1, n: 37, k: 96 }],
        ['exact', { ...each, zeros, m: 5, n: 9, k: 75, block: 16, scales: 'f16', blocksView: 'padded' }],
        ['bounded', { ...each, zeros, m: 1, n: 10, k: 1000, block: 128, scales: 'f16' }],
        ['bounded', { ...each, zeros, m: 70, n: 36, k: 64, beta: 0.5, alpha: -2 }],
      ]),
      ...[1, 2, 3, 4, 8, 9].map((m): Entry => ['bounded', { ...each, m, n: 70, k: 512, scales: 'f16', zeros: 'own' }]),
      ...[1, 7, 8, 24, 100].map((block): Entry => [
        'exact',
        { ...each, m: 2, n: 11, k: 75, block, zeros: 'own', blocksView: 'turned' },
      ]),
      // Few rows: whole words and pieces of them, last blocks that are short, one block for all of a row.
      ...ZEROS.flatMap((zeros): Entry[] => [
        ['exact', { ...each, zeros, m: 2, n: 11, k: 75, padB: 5, block: 16, scales: 'f16', beta: 2 }],
        ['exact', { ...each, zeros, m: 3, n: 35, k: 200, padB: 8, block: 64, blocksView: 'padded' }],
        ['bounded', { ...each, zeros, m: 6, n: 9, k: 1160, block: 32, scales: 'f16', blocksView: 'turned' }],
        // Whole steps of matrix units.
        [
          'exact',
          { ...each, zeros, m: 11, n: 21, k: 192, padA: 8, padB: 64, padC: 1, block: 64, scales: 'f16', beta: 1 },
        ],
        ['bounded', { ...each, zeros, m: 16, n: 37, k: 320, blocksView: 'turned' }],
      ]),
      ['epilogue', { ...each, m: 12, n: 21, k: 128, epilogue: 'three inputs', view: 'axis 2', beta: 1 }],
      ...[1, 5, 8].map((m): Entry => ['exact', { ...each, m, n: 13, k: 77, padB: 3, block: 100, zeros: 'own' }]),
      ...[4, 7].map((m): Entry => ['bounded', { ...each, m, n: 130, k: 2056, block: 128, padA: 4, zeros: 'own' }]),
      ['bounded', { ...each, m: 1, n: 3, k: 20_000, block: 32, scales: 'f16', zeros: 'own' }],
      ['exact', { ...each, m: 3, n: 5, k: 40, trans: 'TT', padA: 3, padC: 2, block: 8, zeros: 'own', offset: 4 }],
      ['epilogue', { ...each, m: 3, n: 21, k: 40, epilogue: 'three inputs', view: 'axis 2', beta: 1 }],
      ...(dtype === 'f32' ? ['none', 'own'] : []).flatMap((zeros): Entry[] => [
        ['large', { ...each, zeros, m: 1, n: 19, k: 32 }],
        ['large', { ...each, zeros, m: 3, n: 5, k: 20, padB: 4, block: 32, scales: 'f16' }],
      ]),
      ['exact', { ...each, m: 1, n: 6, k: 64, padB: 4, offset: dtype === 'f16' ? 2 : 4, together: true }],
      ['exact', { ...each, m: 3, n: 6, k: 128, padB: 1, block: 64, zeros: 'own' }],
      ['exact', { ...each, m: 7, n: 13, k: 33, trans: 'TT', padA: 2, padC: 3, beta: -1, blocksView: 'repeated' }],
      ['exact', { ...each, m: 4, n: 6, k: 0, beta: 2 }],
      ['exact', { ...each, m: 4, n: 6, k: 5, alpha: 0 }],
      ['epilogue', { ...each, m: 1, n: 21, k: 40, epilogue: 'bias gelu', view: 'axis 2' }],
      ['epilogue', { ...each, m: 12, n: 21, k: 40, epilogue: 'three inputs', view: 'axis 2', beta: 1 }],
      ['repeat', { ...each, m: 1, n: 33, k: 300 }],
    ];
  });
  // So many columns that an invocation may take several.
  const wide = ['i4', 'u4'].flatMap((dtypeB) =>
    ['none', 'own'].map((zeros): Entry => {
      return ['exact', { ...own, dtypeB, zeros, m: 1, n: 6150, k: 64, trans: 'NT', scales: 'f16', beta: 1 }];
    }),
  );
  return [...floats, ...integers, ...wide];
}
