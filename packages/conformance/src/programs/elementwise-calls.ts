import type { ReduceOp } from '@concord/backend-core';
import { reduceReference, topKReference } from '@concord/backend-cpu/reference';
import type { ReduceParams } from '../cases/reduce.ts';
import { topKShape, type TopKParams } from '../cases/top-k.ts';
import { reduceBound } from '../checks/bounds.ts';
import { type ElementwiseOp, type ElementwiseParams, judgedElements } from '../checks/elementwise.ts';
import { areWhole, expectedValues, inOrder, isExactSum } from './expected.ts';
import { namedCall } from './named-calls.ts';
import type { ProgramCall } from './program-call.ts';

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
