import { batchedGemmReference, conv2dReference } from '@concord/backend-cpu/reference';
import { ulpF16 } from '../checks/bounds.ts';
import { type Conv2dParams, conv2dShape } from '../checks/conv2d-data.ts';
import { conv2dBound, conv2dEpilogue } from '../checks/conv2d.ts';
import { productTolerance, type ProductOp } from '../checks/product.ts';
import { type ProductData, type ProductParams, productShape, isZero } from '../checks/product-data.ts';
import { placeQuant, weightsOf } from '../checks/product-weights.ts';
import { productEpilogue } from '../checks/product-epilogue.ts';
import { roundingTo } from '../run/storage.ts';
import { areWhole, expectedValues, inOrder, isExactSum } from './expected.ts';
import { namedCall, type Values } from './named-calls.ts';
import type { ProgramCall } from './program-call.ts';

/** The call of gemm, gemmF16 or batchedGemm with these parameters. */
export function planProductCall(op: ProductOp, params: ProductParams): ProgramCall {
  const whole = productShape(params);
  const { strideA: _a, strideB: _b, strideC, batchCount, ...plain } = whole;
  const { m, n, ldc = n, alpha = 1, beta = 0 } = whole;
  const writes = Uint32Array.from({ length: batchCount * m * n }, (_, i) => {
    const row = Math.floor(i / n) % m;
    return Math.floor(i / (m * n)) * strideC + row * ldc + (i % n);
  });
  const dataOf = (values: Values): ProductData => {
    const { a = new Float64Array(), b = new Float64Array(), c = new Float64Array() } = values;
    if (whole.quantB === undefined) return { shape: whole, a, b, c };
    const { value, magnitude } = weightsOf(whole, b, (name) => values[`quantB.${name}`] as Float64Array);
    return { shape: whole, a, b: value, c, magnitudeB: magnitude };
  };
  const isScaled = (scalar: number): boolean => Number.isInteger(2 * scalar) && Math.abs(scalar) <= 8;
  const evaluated = (values: Values) => {
    const data = dataOf(values);
    const { value, magnitude } = batchedGemmReference(whole, data.a, data.b, data.c);
    const tolerance = productTolerance(data, value, magnitude, params.dtype);
    // Rounded to binary16 a weight is still itself.
    const isKept = whole.dtypeB === undefined || params.dtype === 'f32' || data.b.every((w) => Math.abs(w) <= 2048);
    const isWhole = isKept && [data.a, data.b, data.c].every(areWhole) && isScaled(alpha) && isScaled(beta);
    const old = (i: number): number => (isZero(beta) ? 0 : Math.abs(beta * (data.c[writes[i] as number] as number)));
    const isExact = (i: number): boolean =>
      isWhole && isExactSum(4 * ((1 + Math.abs(alpha)) * (magnitude[i] as number) + old(i)));
    return { value, tolerance, isExact };
  };
  return namedCall({
    op,
    shape: op === 'batchedGemm' ? { ...whole } : { ...plain },
    ...(isZero(beta) ? {} : { updates: 'c' }),
    writes,
    epilogue: params.epilogue === '' ? undefined : productEpilogue(params),
    place: (pointers) => {
      const own = Object.entries(pointers).filter(([name]) => !name.startsWith('quantB.'));
      const quant = whole.quantB === undefined ? {} : { quantB: whole.quantB };
      return { ...Object.fromEntries(own), ...placeQuant(quant, (name) => pointers[name]) };
    },
    // In f16 a weight may be infinite from here on, and its products anything.
    answers: (values) =>
      whole.dtypeB === undefined || params.dtype === 'f32' || dataOf(values).b.every((w) => Math.abs(w) < 65520),
    evaluate: (_, values) => {
      const { value, tolerance, isExact } = evaluated(values);
      const round = roundingTo(params.dtype);
      const wanted = value.map((x, i) => (isExact(i) ? round(x) : x));
      const bound = (i: number): number => (isExact(i) ? 0 : tolerance.bound(i));
      return { c: expectedValues('c', params.dtype, writes, wanted, { ...tolerance, bound }) };
    },
    accumulate: (values) => {
      const { value, tolerance, isExact } = evaluated(values);
      return { value, bound: (i) => (isExact(i) ? 0 : tolerance.bound(i)) };
    },
  });
}

/** The call of conv2dForward with these parameters. */
export function planConv2dCall(params: Conv2dParams): ProgramCall {
  const shape = conv2dShape(params);
  const { dtype } = params;
  const evaluated = ({ input = new Float64Array(), filter = new Float64Array() }: Values) => {
    const reference = conv2dReference(shape, input, filter);
    const isWhole = areWhole(input) && areWhole(filter);
    const isExact = (i: number): boolean => isWhole && isExactSum(4 * (reference.magnitude[i] as number));
    const bound = (i: number): number => (isExact(i) ? 0 : conv2dBound(shape, reference, i));
    return { value: reference.value, isExact, bound };
  };
  return namedCall({
    op: 'conv2dForward',
    shape: { ...shape },
    epilogue: params.epilogue === '' ? undefined : conv2dEpilogue(params),
    evaluate: (_, values) => {
      const { value, isExact, bound: own } = evaluated(values);
      const round = roundingTo(dtype);
      const bound = (i: number): number =>
        isExact(i) || dtype === 'f32' ? own(i) : own(i) + ulpF16(Math.abs(value[i] as number) + own(i));
      const wanted = value.map((x, i) => (isExact(i) ? round(x) : x));
      return { output: expectedValues('output', dtype, inOrder(value.length), wanted, { bound, format: dtype }) };
    },
    accumulate: evaluated,
  });
}
