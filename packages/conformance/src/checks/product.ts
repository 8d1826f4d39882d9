import {
  type BatchedGemmShape,
  type ComputeBackend,
  type Epilogue,
  type FloatDType,
  f16BitsToF32,
  f32ToF16Bits,
} from '@concord/backend-core';
import { batchedGemmReference } from '@concord/backend-cpu/reference';
import { drawEpilogue, shrinkEpilogue } from '../epilogue/draw-epilogue.ts';
import type { CaseContext } from '../harness/case.ts';
import { checkPlanned, type PlanCall } from '../harness/planned-call.ts';
import type { Random } from '../harness/random.ts';
import { nameSlots, type Slot, type Slots } from '../harness/slot.ts';
import type { Check } from '../harness/suite.ts';
import { Workspace } from '../harness/workspace.ts';
import { productBound, ulpF16 } from './bounds.ts';
import { compareAll, compareBytes, type Tolerance } from './compare.ts';

import { type Draw, isZero, makeData, PRODUCT_DEFAULTS, type ProductData, type ProductParams } from './product-data.ts';

/** The call of the op under test. */
export type Multiply = (
  backend: ComputeBackend,
  shape: BatchedGemmShape & { readonly epilogue?: Epilogue },
  a: Slot,
  b: Slot,
  c: Slot,
) => void;

/** The ops that a product may be. */
export type ProductOp = 'gemm' | 'gemmF16' | 'batchedGemm';

function placeProduct(slots: Slots, { dtype, beta }: ProductParams, data: ProductData): Record<'a' | 'b' | 'c', Slot> {
  const [a, b] = [slots.input(data.a, dtype), slots.input(data.b, dtype)];
  // beta 0 must not read C, which the poison of an output, NaN, would show. -0 and what float32 rounds to 0 are 0.
  const c = isZero(beta) ? slots.output(data.c.length, dtype) : slots.inOut(data.c, dtype);
  return { a, b, c };
}

const matricesOf = (c: Slot, { batchCount, strideC, m, n, ldc = n }: BatchedGemmShape): Float32Array =>
  c.matrices(batchCount, strideC, m, n, ldc);

async function multiplyOnDevice(
  context: CaseContext,
  params: ProductParams,
  multiply: Multiply,
  data: ProductData,
): Promise<Float32Array> {
  const { offset: offsetBytes, together } = params;
  const workspace = new Workspace(context.backend, { offsetBytes, together });
  const { a, b, c } = placeProduct(workspace, params, data);
  await workspace.run(() => multiply(context.backend, data.shape, a, b, c));
  return matricesOf(c, data.shape);
}

/** The tolerance of entry i, given the oracle's answer. */
export function productTolerance(
  data: ProductData,
  want: Float64Array,
  magnitude: Float64Array,
  dtype: FloatDType,
): Tolerance {
  const { shape } = data;
  const { m, n, k, alpha = 1, beta = 0, ldc = n, strideC } = shape;
  return {
    format: dtype,
    bound: (index) => {
      const batch = Math.floor(index / (m * n));
      const row = Math.floor(index / n) % m;
      const old = isZero(beta) ? 0 : (data.c[batch * strideC + row * ldc + (index % n)] as number);
      const bound = productBound(k, Math.fround(alpha), Math.fround(beta), magnitude[index] as number, old);
      return dtype === 'f16' ? bound + ulpF16(Math.abs(want[index] as number) + bound) : bound;
    },
  };
}

async function compareWithOracle(
  context: CaseContext,
  params: ProductParams,
  multiply: Multiply,
  data: ProductData,
  isExact: boolean,
): Promise<void> {
  compareProduct(params, data, await multiplyOnDevice(context, params, multiply, data), isExact);
}

function compareProduct(params: ProductParams, data: ProductData, got: Float32Array, isExact: boolean): void {
  const { value, magnitude } = batchedGemmReference(data.shape, data.a, data.b, data.c);
  if (isExact) {
    const round = params.dtype === 'f16' ? (x: number) => f16BitsToF32(f32ToF16Bits(x)) : Math.fround;
    compareAll('c', got, value.map(round), { bound: () => 0, format: params.dtype });
  } else {
    compareAll('c', got, value, productTolerance(data, value, magnitude, params.dtype));
  }
}

/** Integers to a largest magnitude. */
export const smallIntegers =
  (random: Random, largest: number): Draw =>
  () =>
    random.integer(-largest, largest);

/** Values as a dtype holds them. */
export const roundTo =
  (dtype: FloatDType, draw: Draw): Draw =>
  (row, column) =>
    dtype === 'f16' ? f16BitsToF32(f32ToF16Bits(draw(row, column))) : Math.fround(draw(row, column));

/** A product of small integers: every order of summation gives the same bits, so the tolerance is zero. */
export const planProduct =
  (op: ProductOp, multiply: Multiply): PlanCall<ProductParams> =>
  (slots, { backend, random }, params) => {
    const { dtype } = params;
    // In f16, sums must stay below 2^11 to be exact; in f32 below 2^24.
    const draw = smallIntegers(random, dtype === 'f16' ? (params.k > 200 ? 1 : 3) : 8);
    const data = makeData(params, draw, draw, draw);
    const { shape } = data;
    const operands = placeProduct(slots, params, data);
    nameSlots(operands);
    const { a, b, c } = operands;
    const { strideA: _a, strideB: _b, strideC: _c, batchCount: _n, ...plain } = shape;
    return {
      op,
      shape: op === 'batchedGemm' ? { ...shape } : plain,
      call: () => multiply(backend, shape, a, b, c),
      judge: () => compareProduct(params, data, matricesOf(c, shape), true),
    };
  };

/**
 * One operand has full mantissas, the other at most one power of two per sum, so that the product moves mantissas
 * about and a device that rounds its inputs (tf32, f16) loses bits.
 */
async function checkExactWide(context: CaseContext, params: ProductParams, multiply: Multiply): Promise<void> {
  const { random } = context;
  const { m, n, k, dtype } = params;
  const wide: Draw = roundTo(dtype, () => random.wideFloat());
  const zero: Draw = () => 0;
  const isWideA = random.chance(0.5);
  const order = random.permutation(k);
  const chosen = Array.from({ length: isWideA ? n : m }, (_, i) => order[i % k]);
  const scales = chosen.map(() => random.pick([0.5, 1, 2, -1]));
  const moveA: Draw = (row, p) => (chosen[row] === p ? (scales[row] as number) : 0);
  const moveB: Draw = (p, column) => (chosen[column] === p ? (scales[column] as number) : 0);
  const data = makeData(params, isWideA ? wide : moveA, isWideA ? moveB : wide, zero);
  await compareWithOracle(context, params, multiply, data, true);
}

/** Random numbers, judged by the error bound. */
async function checkBounded(context: CaseContext, params: ProductParams, multiply: Multiply): Promise<void> {
  const { random } = context;
  const draw = roundTo(params.dtype, () => (random.unit() * 2 - 1) * (random.chance(0.1) ? 16 : 1));
  await compareWithOracle(context, params, multiply, makeData(params, draw, draw, draw), false);
}

/** NaN and infinities go where arithmetic sends them, and only there. */
async function checkSpecials(context: CaseContext, params: ProductParams, multiply: Multiply): Promise<void> {
  const { random } = context;
  const integers = smallIntegers(random, 3);
  const special =
    (chance: number): Draw =>
    (row, column) =>
      random.chance(chance) ? random.pick([Number.NaN, Infinity, -Infinity]) : integers(row, column);
  const chance = 1 / (4 * Math.max(1, params.k));
  // With alpha 0 nothing of A and B may be seen, so there may be much to see.
  const seen = isZero(params.alpha) ? 0.5 : chance;
  const data = makeData(params, special(seen), special(seen), isZero(params.beta) ? special(1) : special(0.1));
  await compareWithOracle(context, params, multiply, data, true);
}

/** As {@link checkSpecials}, with -0 for every alpha and beta of 0: it is 0 all the same. */
async function checkMinusZero(context: CaseContext, params: ProductParams, multiply: Multiply): Promise<void> {
  const negated = (scalar: number): number => (scalar === 0 ? -0 : scalar);
  await checkSpecials(context, { ...params, alpha: negated(params.alpha), beta: negated(params.beta) }, multiply);
}

/**
 * alpha and beta that are infinite or NaN. The terms of a sum have one sign or are all 0, so that it does not matter
 * whether alpha is multiplied to the terms or to their sum.
 */
async function checkScalars(context: CaseContext, params: ProductParams, multiply: Multiply): Promise<void> {
  const { random } = context;
  const signs = [0, -1, ...Array.from({ length: params.m }, () => random.pick([-1, 0, 1]))];
  const drawA: Draw = (row) => (signs[row] as number) * random.integer(1, 8);
  const drawB: Draw = () => random.integer(1, 8);
  const data = makeData(params, drawA, drawB, smallIntegers(random, 2));
  await compareWithOracle(context, params, multiply, data, true);
}

/**
 * Sums beyond the range of float32 are infinite before alpha is multiplied to them, also where the product would be back in
 * range. Terms of a sum have one sign: no order keeps it finite.
 */
async function checkOverflow(context: CaseContext, params: ProductParams, multiply: Multiply): Promise<void> {
  const { random } = context;
  const rows = [3e38, -3e38, ...Array.from({ length: params.m }, () => random.pick([3e38, -3e38, 1, -2, 0]))];
  const drawA: Draw = (row) => Math.fround(rows[row] as number);
  const data = makeData(params, drawA, () => 1, smallIntegers(random, 2));
  await compareWithOracle(context, params, multiply, data, true);
}

/** The same call twice gives the same bits. */
async function checkRepeat(context: CaseContext, params: ProductParams, multiply: Multiply): Promise<void> {
  const { random } = context;
  const draw = roundTo(params.dtype, () => random.wideFloat());
  const data = makeData(params, draw, draw, draw);
  const first = await multiplyOnDevice(context, params, multiply, data);
  const second = await multiplyOnDevice(context, params, multiply, data);
  compareBytes('second of two equal calls', new Uint8Array(second.buffer), new Uint8Array(first.buffer));
}

/** (A B)^T = B^T A^T within twice the bound. */
async function checkTransposed(context: CaseContext, params: ProductParams, multiply: Multiply): Promise<void> {
  const { random } = context;
  const { m, n, trans, padA, padB } = params;
  const draw = roundTo(params.dtype, () => random.unit() * 2 - 1);
  const data = makeData({ ...params, beta: 0 }, draw, draw, () => 0);
  const swap = (letter: string | undefined): string => (letter === 'N' ? 'T' : 'N');
  const mirrored = { ...params, m: n, n: m, trans: swap(trans[1]) + swap(trans[0]), padA: padB, padB: padA, beta: 0 };
  const mirroredData = {
    ...makeData(
      mirrored,
      () => 0,
      () => 0,
      () => 0,
    ),
    a: data.b,
    b: data.a,
  };
  const straight = await multiplyOnDevice(context, { ...params, beta: 0 }, multiply, data);
  const turned = await multiplyOnDevice(context, mirrored, multiply, mirroredData);
  const { value, magnitude } = batchedGemmReference(data.shape, data.a, data.b);
  const { bound } = productTolerance(data, value, magnitude, params.dtype);
  const want = straight.map((_, i) => turned[(i % n) * m + Math.floor(i / n)] as number);
  compareAll('(AB)^T against B^T A^T', straight, want, { bound: (i) => 2 * bound(i), format: params.dtype });
}

/** Random parameters for fuzzing. */
export function drawProduct(random: Random, dtypes: readonly FloatDType[], batched: boolean): [string, ProductParams] {
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
    offset: random.pick(dtype === 'f16' ? [0, 2, 4, 6] : [0, 4, 12]),
    together: random.chance(0.2),
    dtype,
    batch: batched ? random.integer(1, 5) : 1,
    strideA: batched && random.chance(0.2) ? '0' : 'packed',
    strideB: batched && random.chance(0.2) ? '0' : 'packed',
    gapC: batched ? random.pick([0, 0, 3]) : 0,
    interleaved: batched && random.chance(0.2),
    ...drawEpilogue(random, 3),
    seed: random.uint32(),
  };
  if (params.epilogue !== '')
    return [random.pick(['epilogue', 'epilogue', 'epilogue-bounded', 'epilogue-specials']), params];
  const checks = params.k === 0 ? ['exact', 'specials'] : ['exact', 'bounded', 'bounded', 'specials', 'repeat'];
  return [random.pick(checks), params];
}

/** Smaller parameters, largest steps first. */
export function shrinkProduct(params: ProductParams): Partial<ProductParams>[] {
  const { m, n, k, batch } = params;
  const smaller: Partial<ProductParams>[] = [];
  for (const [name, size] of Object.entries({ m, n, k, batch })) {
    if (size > 1) smaller.push({ [name]: Math.ceil(size / 2) }, { [name]: size - 1 });
  }
  for (const name of ['padA', 'padB', 'padC', 'offset', 'gapC', 'beta'] as const) {
    if (params[name] !== 0) smaller.push({ [name]: 0 });
  }
  if (params.alpha !== 1) smaller.push({ alpha: 1 });
  if (params.together) smaller.push({ together: false });
  if (params.interleaved) smaller.push({ interleaved: false });
  smaller.push(...shrinkEpilogue(params));
  if (params.trans !== 'NN') smaller.push({ trans: 'NN' });
  return smaller;
}

/** The checks that gemm, gemmF16 and batchedGemm share, for one way of calling the op. */
export function productChecks(op: ProductOp, multiply: Multiply): Readonly<Record<string, Check<ProductParams>>> {
  const checks = {
    'exact-wide': checkExactWide,
    bounded: checkBounded,
    specials: checkSpecials,
    'minus-zero': checkMinusZero,
    scalars: checkScalars,
    overflow: checkOverflow,
    repeat: checkRepeat,
    transposed: checkTransposed,
  };
  const bound = Object.entries(checks).map(([name, check]): [string, Check<ProductParams>] => [
    name,
    (context, params) => check(context, params, multiply),
  ]);
  return { exact: checkPlanned(planProduct(op, multiply)), ...Object.fromEntries(bound) };
}
