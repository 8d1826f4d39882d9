import {
  type BatchedGemmShape,
  type ComputeBackend,
  type DevicePtr,
  type Epilogue,
  type QuantB,
  type StoredFloatDType,
  type WeightDType,
} from '@concord/backend-core';
import { batchedGemmReference } from '@concord/backend-cpu/reference';
import { drawEpilogue, productEpilogue, shrinkEpilogue } from './epilogue.ts';
import { checkPlanned, checkRepeat, makePlanned, type PlanCall } from '../harness/planned-call.ts';
import type { Random } from '../harness/random.ts';
import { plainer, smallerSizes } from '../harness/shrink.ts';
import { nameSlots, type Slot, type Slots } from '../harness/workspace.ts';
import type { Check } from '../harness/case.ts';
import { roundingTo } from '../run/placement.ts';
import { compareAll, productBound, type Tolerance, ulpOf } from './compare.ts';

import { mixedMagnitudes, placeQuant, quantSlots, withIntegers } from './product-weights.ts';
import { type Draw, isZero, makeData, PRODUCT_DEFAULTS, type ProductData, type ProductParams } from './product-data.ts';

/** The call of the op under test. */
export type Multiply = (
  backend: ComputeBackend,
  shape: BatchedGemmShape & { readonly epilogue?: Epilogue; readonly quantB?: QuantB },
  a: Slot,
  b: Slot,
  c: Slot,
) => void;

/** The ops that a product may be. */
export type ProductOp = 'gemm' | 'gemmF16' | 'batchedGemm';

const matricesOf = (c: Slot, { batchCount, strideC, m, n, ldc = n }: BatchedGemmShape): Float32Array => {
  const starts = Array.from({ length: batchCount * m }, (_, row) => Math.floor(row / m) * strideC + (row % m) * ldc);
  return c.rows(starts, n);
};

/** The tolerance of entry i, given the oracle's answer. */
export function productTolerance(
  data: ProductData,
  want: Float64Array,
  magnitude: Float64Array,
  dtype: StoredFloatDType,
): Tolerance {
  const { shape } = data;
  const { m, n, k, alpha = 1, beta = 0, ldc = n, strideC } = shape;
  const mixed = shape.dtypeB === undefined ? undefined : mixedMagnitudes(data);
  return {
    format: dtype,
    bound: (index) => {
      const batch = Math.floor(index / (m * n));
      const row = Math.floor(index / n) % m;
      const old = isZero(beta) ? 0 : (data.c[batch * strideC + row * ldc + (index % n)] as number);
      const terms = (mixed?.terms ?? magnitude)[index] as number;
      const rounding = Math.abs(alpha) * (mixed?.rounding?.[index] ?? 0);
      const roundings = k + Number(mixed !== undefined);
      const bound = rounding + productBound(roundings, Math.fround(alpha), Math.fround(beta), terms, old);
      return dtype === 'f32' ? bound : bound + ulpOf(dtype, Math.abs(want[index] as number) + bound);
    },
  };
}

/** Integers to a largest magnitude. */
const integers =
  (random: Random, largest: number): Draw =>
  () =>
    random.integer(-largest, largest);

/** Integers, and here and there NaN and infinities. */
const special =
  (random: Random, chance: number): Draw =>
  () =>
    random.chance(chance) ? random.pick([Number.NaN, Infinity, -Infinity]) : random.integer(-3, 3);

/** Values as every dtype of a product holds them. */
const rounded = ({ dtype, dtypeB }: ProductParams, draw: Draw): Draw => {
  const narrow = roundingTo(dtype);
  const round = dtypeB === 'f16' || dtypeB === 'bf16' ? (x: number) => roundingTo(dtypeB)(narrow(x)) : narrow;
  return (row, column) => round(draw(row, column));
};

const NONE: Draw = () => 0;

/** The elements of A, B and C. */
type Draws = readonly [a: Draw, b: Draw, c: Draw];

/** The operands of a check. */
interface Data {
  readonly draws: (random: Random, params: ProductParams) => Draws;
  /** True if every order of summation gives the same bits. */
  readonly isExact: boolean;
  /** A factor of the scales of integers that are not exact. Default: 1. */
  readonly scale?: number;
  /** Changes the parameters of the call. */
  readonly change?: (params: ProductParams) => ProductParams;
}

const alike = (draw: Draw): Draws => [draw, draw, draw];

/** NaN and infinities go where arithmetic sends them, and only there. */
const drawSpecials: Data['draws'] = (random, { k, alpha, beta }) => {
  // With alpha 0 nothing of A and B may be seen, so there may be much to see.
  const seen = isZero(alpha) ? 0.5 : 1 / (4 * Math.max(1, k));
  return [special(random, seen), special(random, seen), special(random, isZero(beta) ? 1 : 0.1)];
};

const drawUniform: Data['draws'] = (random, params) => alike(rounded(params, () => random.unit() * 2 - 1));
const drawWide: Data['draws'] = (random, params) => alike(rounded(params, () => random.wideFloat()));

/** Small integers. In f16, sums must stay below 2^11 to be exact; in f32 below 2^24. */
const SMALL: Data = {
  draws: (random, { dtype, k }) => alike(integers(random, dtype === 'f16' ? (k > 200 ? 1 : 3) : 8)),
  isExact: true,
};

const DATA: Readonly<Record<string, Data>> = {
  exact: SMALL,
  /**
   * One operand has full mantissas, the other at most one power of two per sum, so that the product moves mantissas about and a
   * device that rounds its inputs (tf32, f16) loses bits.
   */
  'exact-wide': {
    draws: (random, params) => {
      const { m, n, k } = params;
      const wide = rounded(params, () => random.wideFloat());
      const isWideA = random.chance(0.5);
      const order = random.permutation(k);
      const chosen = Array.from({ length: isWideA ? n : m }, (_, i) => order[i % k]);
      const scales = chosen.map(() => random.pick([0.5, 1, 2, -1]));
      const moved = (line: number, p: number): number => (chosen[line] === p ? (scales[line] as number) : 0);
      return isWideA ? [wide, (p, column) => moved(column, p), NONE] : [moved, wide, NONE];
    },
    isExact: true,
  },
  /** Random numbers, judged by the error bound. */
  bounded: {
    draws: (random, params) => alike(rounded(params, () => (random.unit() * 2 - 1) * (random.chance(0.1) ? 16 : 1))),
    isExact: false,
  },
  specials: { draws: drawSpecials, isExact: true },
  /** Data as of `specials`, with -0 for every alpha and beta of 0: it is 0 all the same. */
  'minus-zero': {
    draws: drawSpecials,
    isExact: true,
    change: ({ alpha, beta, ...rest }) => ({ ...rest, alpha: alpha === 0 ? -0 : alpha, beta: beta === 0 ? -0 : beta }),
  },
  /**
   * alpha and beta that are infinite or NaN. The terms of a sum have one sign or are all 0, so that it does not matter whether
   * alpha is multiplied to the terms or to their sum.
   */
  scalars: {
    draws: (random, { m }) => {
      const signs = [0, -1, ...Array.from({ length: m }, () => random.pick([-1, 0, 1]))];
      return [(row) => (signs[row] as number) * random.integer(1, 8), () => random.integer(1, 8), integers(random, 2)];
    },
    isExact: true,
  },
  /**
   * Sums beyond the range of float32 are infinite before alpha is multiplied to them, also where the product would be back in
   * range. Terms of a sum have one sign: no order keeps it finite.
   */
  overflow: {
    draws: (random, { m }) => {
      const rows = [3e38, -3e38, ...Array.from({ length: m }, () => random.pick([3e38, -3e38, 1, -2, 0]))];
      return [(row) => Math.fround(rows[row] as number), () => 1, integers(random, 2)];
    },
    isExact: true,
  },
  /** `(q - zero) x` is beyond the range where `(q - zero) scale x` is not, nor any sum of those. */
  large: {
    draws: (random) => [() => Math.fround((random.unit() + 1) * random.pick([1.5e37, -1.5e37])), NONE, NONE],
    isExact: false,
    scale: 0.001,
  },
  /** Integers whose sums float32 holds and binary16 does not. */
  epilogue: { draws: (random, { k }) => alike(integers(random, k > 200 ? 8 : 60)), isExact: true },
  'epilogue-bounded': { draws: drawUniform, isExact: false },
  'epilogue-specials': {
    draws: (random, { k }) => alike(special(random, 1 / (4 * Math.max(1, k)))),
    isExact: true,
  },
};

/** B as it is stored. */
function slotOfB({ shape, b, weights }: ProductData, slots: Slots): Slot {
  const { dtype, dtypeB = dtype } = shape;
  return weights === undefined
    ? slots.input(b, dtypeB as StoredFloatDType)
    : slots.stored(weights.bytes, weights.dtype);
}

/** The operands of a call, with its epilogue's, and how it is made and judged. */
const planData =
  (
    op: ProductOp,
    multiply: Multiply,
    dataOf: (random: Random, params: ProductParams) => ProductData,
    isExact: boolean,
  ): PlanCall<ProductParams> =>
  (slots, context, params) => {
    const { backend, random } = context;
    const { dtype, beta } = params;
    const data = dataOf(random, params);
    const { shape } = data;
    const planned = params.epilogue === '' ? undefined : productEpilogue(params);
    const a = slots.input(data.a, dtype);
    const b = slotOfB(data, slots);
    const quant = quantSlots(data, slots);
    const inputs = planned?.inputs(slots, random, isExact) ?? {};
    // beta 0 must not read C, which the poison of an output, NaN, would show. -0 and what float32 rounds to 0 are 0.
    const c = isZero(beta) ? slots.output(data.c.length, dtype) : slots.inOut(data.c, dtype);
    nameSlots({ a, b, c, ...quant });
    const { strideA: _a, strideB: _b, strideC: _c, batchCount: _n, ...plain } = shape;
    const epilogue = planned === undefined ? {} : { epilogue: planned.shape };
    return {
      op,
      shape: { ...(op === 'batchedGemm' ? shape : plain), ...epilogue },
      call: () => {
        const own = planned?.call((name) => inputs[name]?.ptr as DevicePtr);
        const placed = placeQuant(shape, (name) => quant[name]?.ptr) as Parameters<Multiply>[1];
        multiply(backend, own === undefined ? placed : { ...placed, epilogue: own }, a, b, c);
      },
      judge: () => {
        const got = matricesOf(c, shape);
        const { value, magnitude } = batchedGemmReference(shape, data.a, data.b, data.c);
        // An epilogue gets the product in float32, whatever C is stored as.
        const tolerance = productTolerance(data, value, magnitude, planned === undefined ? dtype : 'f32');
        const bound = isExact ? () => 0 : tolerance.bound;
        if (planned !== undefined) return planned.check(context, c, inputs, value, bound);
        compareAll('c', got, isExact ? value.map(roundingTo(dtype)) : value, { bound, format: dtype });
      },
    };
  };

const planDrawn = (
  op: ProductOp,
  multiply: Multiply,
  { draws, isExact, change, scale }: Data,
): PlanCall<ProductParams> => {
  const dataOf = (random: Random, params: ProductParams): ProductData =>
    withIntegers(makeData(params, ...draws(random, params)), random, isExact, scale);
  const plan = planData(op, multiply, dataOf, isExact);
  return change === undefined ? plan : (slots, context, params) => plan(slots, context, change(params));
};

/** A product of small integers. */
export const planProduct = (op: ProductOp, multiply: Multiply): PlanCall<ProductParams> =>
  planDrawn(op, multiply, SMALL);

/** (A B)^T = B^T A^T within twice the bound. */
const checkTransposed =
  (op: ProductOp, multiply: Multiply): Check<ProductParams> =>
  async (context, given) => {
    const params = { ...given, beta: 0 };
    const { m, n, trans, padA, padB, dtype } = params;
    const data = makeData(params, ...drawUniform(context.random, params));
    const swap = (letter: string | undefined): string => (letter === 'N' ? 'T' : 'N');
    const mirrored = { ...params, m: n, n: m, trans: swap(trans[1]) + swap(trans[0]), padA: padB, padB: padA };
    const made = async (own: ProductParams, operands: ProductData): Promise<Float32Array> => {
      const { slots } = await makePlanned(
        context,
        own,
        planData(op, multiply, () => operands, false),
      );
      return matricesOf(slots.all.at(-1) as Slot, operands.shape);
    };
    const straight = await made(params, data);
    const mirror = await made(mirrored, { ...makeData(mirrored, NONE, NONE, NONE), a: data.b, b: data.a });
    const { value, magnitude } = batchedGemmReference(data.shape, data.a, data.b);
    const { bound } = productTolerance(data, value, magnitude, dtype);
    const want = straight.map((_, i) => mirror[(i % n) * m + Math.floor(i / n)] as number);
    compareAll('(AB)^T against B^T A^T', straight, want, { bound: (i) => 2 * bound(i), format: dtype });
  };

const WEIGHTS = ['f32', 'f16', 'bf16', 'i8', 'u8', 'i4', 'u4'] as const satisfies readonly WeightDType[];

/** B of a type of its own, now and then. */
function drawWeights(random: Random): Partial<ProductParams> {
  if (random.chance(0.6)) return {};
  const dtypeB = random.pick(WEIGHTS);
  const own = { dtypeB, padB: random.pick([0, 0, 1, 4, 16]) };
  if (dtypeB.endsWith('16') || dtypeB === 'f32') return own;
  return {
    ...own,
    // Half of them have few rows, of whole words.
    ...(random.chance(0.5) ? { m: random.integer(1, 9), k: 8 * random.integer(1, 40), padB: 0 } : {}),
    trans: random.pick(['NT', 'NT', 'TT']),
    block: random.pick([32, 32, 16, 128, 8, 64, 1000, random.integer(1, 40)]),
    scales: random.pick(['f32', 'f16']),
    zeros: random.pick(['none', 'own', 'own', 'f32', 'f16', 'offsets']),
    blocksView: random.pick(['packed', 'packed', 'padded', 'turned', 'repeated']),
  };
}

/** Random parameters for fuzzing. */
export function drawProduct(
  random: Random,
  dtypes: readonly StoredFloatDType[],
  batched: boolean,
): [string, ProductParams] {
  const size = (): number => random.pick([random.integer(1, 5), random.integer(1, 40), random.integer(1, 140)]);
  const dtype = random.pick(dtypes);
  const params: ProductParams = {
    ...PRODUCT_DEFAULTS,
    m: size(),
    n: size(),
    k: random.chance(0.05) ? 0 : size(),
    trans: random.pick(['NN', 'NT', 'TN', 'TT', 'CN', 'NC']),
    alpha: random.pick([1, 1, -0.5, 2, 0]),
    beta: random.pick([0, 0, 1, -2]),
    padA: random.pick([0, 0, 1, 7]),
    padB: random.pick([0, 0, 1, 5]),
    padC: random.pick([0, 0, 1, 3]),
    offset: random.pick(dtype === 'f32' ? [0, 4, 12] : [0, 2, 4, 6]),
    together: random.chance(0.2),
    dtype,
    batch: batched ? random.integer(1, 5) : 1,
    strideA: batched && random.chance(0.2) ? '0' : 'packed',
    strideB: batched && random.chance(0.2) ? '0' : 'packed',
    gapC: batched ? random.pick([0, 0, 3]) : 0,
    interleaved: batched && random.chance(0.2),
    ...drawWeights(random),
    ...drawEpilogue(random, 3),
    seed: random.uint32(),
  };
  if (params.dtypeB !== 'same' && params.epilogue === '') return [random.pick(['exact', 'bounded', 'repeat']), params];
  if (params.epilogue !== '')
    return [random.pick(['epilogue', 'epilogue', 'epilogue-bounded', 'epilogue-specials']), params];
  const checks = params.k === 0 ? ['exact', 'specials'] : ['exact', 'bounded', 'bounded', 'specials', 'repeat'];
  return [random.pick(checks), params];
}

/** Smaller parameters, largest steps first. */
export function shrinkProduct(params: ProductParams): Partial<ProductParams>[] {
  const { m, n, k, batch, trans, dtypeB } = params;
  const layout = ['padA', 'padB', 'padC', 'offset', 'gapC'] as const;
  const rest = ['beta', 'alpha', 'zeros', 'blocksView', 'dtypeB', 'together', 'interleaved'] as const;
  return [
    ...Object.entries({ m, n, k, batch }).flatMap(([name, size]) =>
      smallerSizes(size).map((less) => ({ [name]: less })),
    ),
    ...plainer(params, PRODUCT_DEFAULTS, [...layout, ...rest]),
    ...shrinkEpilogue(params),
    ...(trans !== 'NN' && !/^[iu]/.test(dtypeB) ? [{ trans: 'NN' }] : []),
  ];
}

/** The checks that gemm, gemmF16 and batchedGemm share, for one way of calling the op. */
export function productChecks(op: ProductOp, multiply: Multiply): Readonly<Record<string, Check<ProductParams>>> {
  return {
    ...Object.fromEntries(
      Object.entries(DATA).map(([name, data]) => [name, checkPlanned(planDrawn(op, multiply, data))]),
    ),
    repeat: checkRepeat(planDrawn(op, multiply, { draws: drawWide, isExact: false })),
    transposed: checkTransposed(op, multiply),
  };
}
