import type { BinaryOp, ComputeBackend, ReduceOp, UnaryOp } from '@concord/backend-core';
import {
  binaryFunction,
  binaryReference,
  reduceReference,
  topKReference,
  unaryFunction,
  unaryReference,
} from '@concord/backend-cpu/reference';
import type { ReduceParams } from '../cases/reduce.ts';
import { topKShape, type TopKParams } from '../cases/top-k.ts';
import { reduceBound } from '../checks/bounds.ts';
import { type ElementwiseParams, flushed, ulpTolerance } from '../checks/elementwise.ts';
import { binaryUlps, unaryUlps } from '../checks/function-accuracy.ts';
import type { CaseContext } from '../harness/case.ts';
import { areWhole, expectedValues, inOrder, isExactSum } from './expected.ts';
import { namedCall } from './named-calls.ts';
import type { ProgramCall } from './program-call.ts';

const ofBackend = (backend: ComputeBackend): CaseContext => ({ backend }) as CaseContext;

const EXACT = { bound: () => 0 };

/** The call of unary with these parameters. */
export function planUnaryCall({ fn, n, inPlace }: ElementwiseParams): ProgramCall {
  const op = fn as UnaryOp;
  return namedCall({
    op: 'unary',
    shape: { op, n },
    inPlaceOf: inPlace === 'none' ? undefined : inPlace,
    evaluate: (backend, { input: x = new Float64Array() }) => {
      const want = unaryReference(op, x);
      const tolerance = ulpTolerance(
        ofBackend(backend),
        want,
        (i) => unaryUlps(op, x[i] as number),
        (i) => flushed(x[i] as number).map(unaryFunction(op)),
      );
      return { output: expectedValues('output', 'f32', inOrder(n), want, tolerance) };
    },
  });
}

/** The call of binary with these parameters. */
export function planBinaryCall({ fn, n, inPlace }: ElementwiseParams): ProgramCall {
  const op = fn as BinaryOp;
  const isSum = op === 'add' || op === 'sub' || op === 'mul';
  return namedCall({
    op: 'binary',
    seesSign: op === 'div' || op === 'pow',
    shape: { op, n },
    inPlaceOf: inPlace === 'none' ? undefined : inPlace,
    evaluate: (backend, { a: x = new Float64Array(), b: y = new Float64Array() }) => {
      const want = binaryReference(op, x, y);
      const isWhole = isSum && areWhole(x) && areWhole(y) && want.every((z) => isExactSum(4 * Math.abs(z)));
      const at = (i: number): [number, number] => [x[i] as number, y[i] as number];
      const tolerance = ulpTolerance(
        ofBackend(backend),
        want,
        (i) => binaryUlps(op, ...at(i)),
        (i) => flushed(at(i)[0]).flatMap((u) => flushed(at(i)[1]).map((v) => binaryFunction(op)(u, v))),
      );
      return { output: expectedValues('output', 'f32', inOrder(n), want, isWhole ? EXACT : tolerance) };
    },
  });
}

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
