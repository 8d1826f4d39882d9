import { BINARY_OPS, type BinaryOp } from '@concord/backend-core';
import { binaryFunction } from '@concord/backend-cpu/reference';
import {
  binaryUlps,
  type ElementwiseOp,
  type ElementwiseParams,
  elementwiseSuite,
  type Rows,
} from '../checks/elementwise.ts';
import { drawModerate, SPECIAL_VALUES, SUBNORMALS } from '../checks/compare.ts';
import type { Random } from '../harness/random.ts';
import type { Suite } from '../harness/case.ts';

/** Pairs for pow whose result is neither 0 nor infinite: any base, exponents that fit it; integers for negative bases. */
function drawPower(random: Random): [number, number] {
  const base = Math.abs(drawModerate(random));
  const limit = 60 / Math.max(0.01, Math.abs(Math.log2(base)));
  const exponent = Math.fround((random.unit() * 2 - 1) * Math.min(limit, 200));
  if (random.chance(0.3)) return [-base, Math.round(exponent)];
  // Near 1 with a large exponent, where a logarithm in float32 has lost its digits.
  if (random.chance(0.1))
    return [Math.fround(1 + random.integer(-20, 20) * 2 ** -20), random.integer(-100_000, 100_000)];
  return [base, exponent];
}

const ALL_SPECIAL_PAIRS: Rows = SPECIAL_VALUES.flatMap((x) => SPECIAL_VALUES.map((y) => [x, y]));
const ALL_SUBNORMAL_PAIRS: Rows = SUBNORMALS.flatMap((x) =>
  [...SUBNORMALS, 1, -2, 0.5, 2 ** 100, 0].flatMap((y) => [
    [x, y],
    [y, x],
  ]),
);

/** Functions of two numbers. */
export const BINARY: ElementwiseOp = {
  op: 'binary',
  fns: BINARY_OPS,
  operands: ['a', 'b'],
  noun: 'pairs',
  ulps: (fn, [x = 0, y = 0]) => binaryUlps(fn as BinaryOp, x, y),
  apply: (fn, [x = 0, y = 0]) => binaryFunction(fn as BinaryOp)(x, y),
  moderate: (random, fn) => (fn === 'pow' ? drawPower(random) : [drawModerate(random), drawModerate(random)]),
  fixed: { specials: () => ALL_SPECIAL_PAIRS, subnormals: () => ALL_SUBNORMAL_PAIRS },
};

type Entry = readonly [string, Partial<ElementwiseParams>];

/** `binary`. */
export const binarySuite: Suite = elementwiseSuite(BINARY, [
  ...BINARY_OPS.flatMap((fn): Entry[] => [
    ['accuracy', { fn, n: 4096 }],
    ['range', { fn, n: 4096 }],
    ['specials', { fn }],
    ['subnormals', { fn }],
    ['accuracy', { fn, n: 1001, inPlace: 'a' }],
    ['accuracy', { fn, n: 1001, inPlace: 'b' }],
    // Whole vectors, for which some kernels take a separate path.
    ['accuracy', { fn, n: 1024, inPlace: 'a' }],
    ['accuracy', { fn, n: 1024, inPlace: 'b' }],
    ['accuracy', { fn, n: 5, offset: 4, together: true }],
  ]),
  ...[1, 2, 3, 7, 63, 64, 65, 255, 257, 1023, 1025].map((n): Entry => ['accuracy', { fn: 'sub', n }]),
  ...[4, 8, 12].map((offset): Entry => ['accuracy', { fn: 'add', n: 129, offset }]),
  // Over 65,535 workgroups of 256.
  ['long', { fn: 'sub', n: 65_537 * 256 + 3 }],
]);
