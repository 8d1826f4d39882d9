import type { ReduceOp } from '@concord/backend-core';
import { batchedGemmReference, conv2dReference, reduceReference, topKReference } from '@concord/backend-cpu/reference';
import { compareSums, compareWithOracle } from '../cases/attention/checks.ts';
import { type AttentionParams, shapeOf, viewsOf } from '../cases/attention/suite.ts';
import { extentsOf, saidStrides, startsOf, stridesOf } from '../cases/attention/placement.ts';
import type { ReduceParams } from '../cases/reduce.ts';
import { type TopKParams, topKShape } from '../cases/top-k.ts';
import { reduceBound, ulpF16 } from '../checks/compare.ts';
import { conv2dBound, conv2dEpilogue, type Conv2dParams, conv2dShape } from '../checks/conv2d.ts';
import { type ElementwiseOp, type ElementwiseParams, judgedElements } from '../checks/elementwise.ts';
import { isZero, type ProductData, type ProductParams, productShape } from '../checks/product-data.ts';
import { productEpilogue } from '../checks/epilogue.ts';
import { placeQuant, weightsOf } from '../checks/product-weights.ts';
import { type ProductOp, productTolerance } from '../checks/product.ts';
import { roundingTo } from '../run/placement.ts';
import { areWhole, elementsAt, expectedValues, inOrder, isExactSum } from './expected.ts';
import { namedCall, type Values } from './program-calls.ts';
import type { ProgramCall } from './step.ts';

/** The call of attention with these parameters, in each layout but `joined`. Its results are judged, and not known. */
export function planAttentionCall(given: AttentionParams): ProgramCall {
  const params: AttentionParams = { ...given, layout: given.layout === 'joined' ? 'padded' : given.layout };
  const { dtype, layout } = params;
  const extents = extentsOf(params);
  const names = ['q', 'k', 'v', 'o'] as const;
  const strides = Object.fromEntries(names.map((name) => [name, stridesOf(extents[name], layout, name)]));
  const [qAt, kAt, vAt, oAt] = names.map((name) =>
    rowsAt(startsOf(extents[name], strides[name] as ReturnType<typeof stridesOf>), extents[name][3]),
  ) as [Uint32Array, Uint32Array, Uint32Array, Uint32Array];
  return namedCall({
    op: 'attention',
    shape: {
      ...shapeOf(params),
      ...(layout === 'packed' ? {} : { strides: saidStrides(layout, strides) }),
      ...viewsOf(params),
    },
    writes: oAt,
    data: 'unit',
    place: (pointers) => {
      const views = Object.entries(viewsOf(params)).map(([name, view]) => [name, { ptr: pointers[name], ...view }]);
      return { ...pointers, ...Object.fromEntries(views) };
    },
    evaluate: (_, values) => {
      const { lengths, starts, ...given } = values;
      const floats = Object.entries(given).filter(([name]) => name !== 'mask' || params.maskDtype !== 'u8');
      if (floats.some(([, own]) => own.some((x) => Math.abs(x) > 100))) return undefined;
      const taken = (name: string, places: Uint32Array): Float32Array =>
        Float32Array.from(places, (distance) => values[name]?.[distance] as number);
      const mask = values['mask'] && Float32Array.from(values['mask']);
      const places = { lengths: lengths && [...lengths], starts: starts && [...starts] };
      const operands = { q: taken('q', qAt), k: taken('k', kAt), v: taken('v', vAt), mask, ...places };
      const judge = (after: Uint8Array): void =>
        compareWithOracle(params, Float32Array.from(elementsAt(dtype, after, oAt)), operands);
      const judgeSums = (after: Uint8Array): void =>
        compareSums(params, Float32Array.from(elementsAt('f32', after, inOrder(after.length / 4))), operands);
      return {
        o: { bitsOf: () => undefined, judge },
        ...(params.lse ? { lse: { bitsOf: () => undefined, judge: judgeSums } } : {}),
      };
    },
  });
}

/** The distances of the elements of rows, from where each begins. */
function rowsAt(starts: readonly number[], columns: number): Uint32Array {
  const inRow = inOrder(columns);
  return Uint32Array.from(starts.flatMap((start) => [...inRow].map((at) => start + at)));
}

const EXACT = { bound: () => 0 };
const SUMS = ['add', 'sub', 'mul'];

/** The call of unary or binary with these parameters. */
export const planElementwiseCall =
  (kind: ElementwiseOp) =>
  ({ fn, n, inPlace }: ElementwiseParams): ProgramCall =>
    namedCall({
      op: kind.op,
      seesSign: fn === 'div' || fn === 'pow',
      shape: { op: fn, n },
      inPlaceOf: inPlace === 'none' ? undefined : inPlace,
      evaluate: (backend, values) => {
        const columns = kind.operands.map((name) => values[name] as Float64Array);
        const { want, tolerance } = judgedElements(kind, { backend }, fn, columns);
        const isExact = SUMS.includes(fn) && columns.every(areWhole) && want.every((z) => isExactSum(4 * Math.abs(z)));
        return { output: expectedValues('output', 'f32', inOrder(n), want, isExact ? EXACT : tolerance) };
      },
    });

/** The call of reduce with these parameters. */
export function planReduceCall({ fn, shape, axis }: ReduceParams): ProgramCall {
  const op = fn as ReduceOp;
  const length = shape[axis] as number;
  return namedCall({
    op: 'reduce',
    shape: { op, shape, axis },
    evaluate: (_, { input = new Float64Array() }) => {
      const { value, magnitude } = reduceReference({ op, shape, axis }, input);
      const isWhole = areWhole(input);
      const bound = (i: number): number => {
        const own = magnitude[i] as number;
        if (op === 'max' || op === 'min' || (op === 'sum' && isWhole && isExactSum(4 * own))) return 0;
        return reduceBound(length, op === 'mean', own);
      };
      return { output: expectedValues('output', 'f32', inOrder(value.length), value, { bound }) };
    },
  });
}

/** The call of topK with these parameters. */
export function planTopKCall(params: TopKParams): ProgramCall {
  const { rows, columns, k } = params;
  const shape = topKShape(params);
  return namedCall({
    op: 'topK',
    shape: { ...shape },
    evaluate: (_, { input = new Float64Array() }) => {
      const places = topKReference(shape, input);
      const best = Float64Array.from(places, (place, i) => input[Math.floor(i / k) * columns + place] as number);
      return {
        values: expectedValues('values', 'f32', inOrder(rows * k), best, EXACT),
        indices: expectedValues('indices', 'u32', inOrder(rows * k), places, EXACT),
      };
    },
  });
}

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
    const isKept = whole.dtypeB === undefined || params.dtype !== 'f16' || data.b.every((w) => Math.abs(w) <= 2048);
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
      whole.dtypeB === undefined || params.dtype !== 'f16' || dataOf(values).b.every((w) => Math.abs(w) < 65520),
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
