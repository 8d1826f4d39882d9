import { BINARY_OPS, REDUCE_OPS, UNARY_OPS } from '@concord/backend-core';
import { BINARY } from '../cases/binary.ts';
import { planReduce, REDUCE_DEFAULTS, type ReduceParams } from '../cases/reduce.ts';
import { planTopK, TOP_K_DEFAULTS, type TopKParams } from '../cases/top-k.ts';
import { UNARY } from '../cases/unary.ts';
import {
  ELEMENTWISE_DEFAULTS,
  type ElementwiseOp,
  type ElementwiseParams,
  planElementwise,
} from '../checks/elementwise.ts';
import type { ConformanceCase } from '../harness/case.ts';
import { offsetCases } from './offsets.ts';
import { pairCases } from './pairs.ts';
import type { SequenceSubject } from './sequence-case.ts';

const elementwise = (kind: ElementwiseOp): SequenceSubject<ElementwiseParams> => ({
  op: kind.op,
  defaults: ELEMENTWISE_DEFAULTS,
  plan: planElementwise(kind),
});
const REDUCE: SequenceSubject<ReduceParams> = { op: 'reduce', defaults: REDUCE_DEFAULTS, plan: planReduce };
const TOP_K: SequenceSubject<TopKParams> = { op: 'topK', defaults: TOP_K_DEFAULTS, plan: planTopK };

const LENGTHS = [1, 2, 3, 4, 63, 65, 66, 68, 127, 129].map((n) => ({ n }));
const functions = (names: readonly string[]): { readonly fn: string }[] => names.map((fn) => ({ fn }));

const REDUCE_CHANGES: readonly Partial<ReduceParams>[] = [
  ...functions(REDUCE_OPS),
  ...[0, 2].map((axis) => ({ axis })),
  ...[1, 5, 7].map((outer) => ({ shape: [outer, 8, 12] })),
  ...[1, 7, 9].map((length) => ({ shape: [6, length, 12] })),
  ...[1, 11, 13].map((inner) => ({ shape: [6, 8, inner] })),
  ...[
    [6, 12, 8],
    [48, 12],
    [6, 96],
    [2, 3, 8, 12],
  ].map((shape) => ({ shape })),
];
const TOP_K_CHANGES: readonly Partial<TopKParams>[] = [
  ...[1, 5, 7].map((rows) => ({ rows })),
  ...[8, 39, 41, 300].map((columns) => ({ columns })),
  ...[1, 3, 5, 8].map((k) => ({ k })),
  { least: true },
];

/** Sequences of unary, binary, reduce and topK. */
export const derivedSequences: readonly ConformanceCase[] = [
  ...pairCases(elementwise(UNARY), 'functions and lengths', { fn: 'neg', n: 64 }, [
    ...functions(UNARY_OPS),
    ...LENGTHS,
  ]),
  ...pairCases(elementwise(BINARY), 'functions and lengths', { fn: 'sub', n: 64 }, [
    ...functions(BINARY_OPS),
    ...LENGTHS,
  ]),
  ...pairCases(REDUCE, 'middle axis', { fn: 'sum', shape: [6, 8, 12], axis: 1 }, REDUCE_CHANGES),
  ...pairCases(TOP_K, 'few of many', { rows: 6, columns: 40, k: 4 }, TOP_K_CHANGES),
  offsetCases(elementwise(UNARY), {
    name: 'f32',
    shapes: [
      { fn: 'neg', n: 16 },
      { fn: 'relu', n: 5 },
    ],
    operands: 2,
    size: 4,
  }),
  offsetCases(elementwise(BINARY), {
    name: 'f32',
    shapes: [
      { fn: 'sub', n: 16 },
      { fn: 'sub', n: 5 },
    ],
    operands: 3,
    size: 4,
  }),
  offsetCases(REDUCE, {
    ...{ name: 'f32', operands: 2, size: 4 },
    shapes: [
      { shape: [8, 16], axis: 1 },
      { shape: [16, 8], axis: 0 },
      { shape: [3, 5], axis: 1 },
    ],
  }),
  offsetCases(TOP_K, {
    ...{ name: 'f32', operands: 3, size: 4 },
    shapes: [
      { rows: 4, columns: 32, k: 4 },
      { rows: 3, columns: 7, k: 2 },
    ],
  }),
];
