import { UNARY_OPS, type UnaryOp } from '@concord/backend-core';
import { unaryFunction } from '@concord/backend-cpu/reference';
import {
  type ElementwiseOp,
  type ElementwiseParams,
  elementwiseSuite,
  type Rows,
  unaryUlps,
} from '../checks/elementwise.ts';
import { drawModerate, SPECIAL_VALUES, SUBNORMALS } from '../checks/compare.ts';
import type { Suite } from '../harness/case.ts';

const repeated = (values: readonly number[], n: number): Rows =>
  Array.from({ length: Math.max(values.length, n) }, (_, i) => [values[i % values.length] as number]);

/** Functions of one number. */
export const UNARY: ElementwiseOp = {
  op: 'unary',
  fns: UNARY_OPS,
  operands: ['input'],
  noun: 'values',
  ulps: (fn, [x = 0]) => unaryUlps(fn as UnaryOp, x),
  apply: (fn, [x = 0]) => unaryFunction(fn as UnaryOp)(x),
  moderate: (random, fn) => {
    const x = drawModerate(random);
    return [fn === 'log' || fn === 'sqrt' ? Math.abs(x) : x];
  },
  fixed: { specials: (n) => repeated(SPECIAL_VALUES, n), subnormals: (n) => repeated(SUBNORMALS, n) },
};

type Entry = readonly [string, Partial<ElementwiseParams>];

/** `unary`. */
export const unarySuite: Suite = elementwiseSuite(UNARY, [
  ...UNARY_OPS.flatMap((fn): Entry[] => [
    ['accuracy', { fn, n: 4096 }],
    ['range', { fn, n: 4096 }],
    ['specials', { fn }],
    ['subnormals', { fn }],
    ['accuracy', { fn, n: 1001, inPlace: 'input' }],
    // Whole vectors, for which some kernels take a separate path.
    ['accuracy', { fn, n: 1024, inPlace: 'input' }],
    ['accuracy', { fn, n: 5, offset: 4, together: true }],
  ]),
  ...[1, 2, 3, 7, 63, 64, 65, 255, 257, 1023, 1025].map((n): Entry => ['accuracy', { fn: 'neg', n }]),
  ...[4, 8, 12].map((offset): Entry => ['accuracy', { fn: 'relu', n: 129, offset }]),
  // Over 65,535 workgroups of 256.
  ['long', { fn: 'relu', n: 65_537 * 256 + 3 }],
]);
