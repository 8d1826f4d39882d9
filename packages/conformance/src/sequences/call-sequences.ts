import { BINARY_OPS, REDUCE_OPS, UNARY_OPS } from '@concord/backend-core';
import { planAttention } from '../cases/attention/checks.ts';
import { ATTENTION_DEFAULTS, type AttentionParams } from '../cases/attention/suite.ts';
import { multiply as multiplyBatches } from '../cases/batched-gemm.ts';
import { BINARY } from '../cases/binary.ts';
import { multiply as multiplyF16 } from '../cases/gemm-f16.ts';
import { multiply } from '../cases/gemm.ts';
import { planReduce, REDUCE_DEFAULTS, type ReduceParams } from '../cases/reduce.ts';
import { planTopK, TOP_K_DEFAULTS, type TopKParams } from '../cases/top-k.ts';
import { UNARY } from '../cases/unary.ts';
import {
  ELEMENTWISE_DEFAULTS,
  type ElementwiseOp,
  type ElementwiseParams,
  planElementwise,
} from '../checks/elementwise.ts';
import { PRODUCT_DEFAULTS, type ProductParams } from '../checks/product-data.ts';
import { planProduct } from '../checks/product.ts';
import type { ConformanceCase } from '../harness/case.ts';
import { offsetCases, pairCases, type SequenceSubject } from './check-calls.ts';
import { conv2dSequences } from './conv2d.ts';

type AttentionChange = Partial<AttentionParams>;

const ATTENTION: SequenceSubject<AttentionParams> = {
  op: 'attention',
  defaults: ATTENTION_DEFAULTS,
  plan: planAttention,
};

const HEADS: AttentionChange = {
  batch: 2,
  heads: 4,
  kvHeads: 2,
  seqQ: 6,
  seqKv: 6,
  headDim: 8,
  mask: 'qk',
  causal: true,
};
const ATTENTION_CHANGES: readonly AttentionChange[] = [
  ...[1, 3].map((batch) => ({ batch })),
  ...[{ heads: 2 }, { heads: 6 }, { kvHeads: 1 }, { kvHeads: 4 }],
  ...[1, 5, 7, 12].flatMap((size): AttentionChange[] => [{ seqQ: size }, { seqKv: size }, { headDim: size }]),
  ...[3, 12].map((valueDim) => ({ valueDim })),
  ...[0.5, 1, 2].map((scale) => ({ scale })),
  ...[1, 5].map((softcap) => ({ softcap })),
  { causal: false },
  ...[1, -1, 4].map((causalOffset) => ({ causalOffset })),
  ...[1, 3, 6].map((window) => ({ window })),
  ...['bhqk', 'hqk', 'bk', 'k', 'q', 'one'].map((mask) => ({ mask })),
  ...[{ maskDtype: 'u8' as const }, { maskDtype: 'own' as const }],
  ...(['interleaved', 'padded', 'joined'] as const).map((layout) => ({ layout })),
  ...[{ lengths: 'each' as const }, { lengths: 'one' as const }, { starts: 'each' as const }],
  { lse: true },
  ...[{ dtypeKv: 'f16' as const }, { dtypeKv: 'bf16' as const }],
  { dtype: 'f16' },
];
/** One query, as where keys are kept: separate kernels on some backends. */
const ONE_QUERY: AttentionChange = { batch: 1, heads: 4, kvHeads: 2, seqQ: 1, seqKv: 40, headDim: 32 };
const CHANGES_OF_ONE: readonly AttentionChange[] = [
  ...[1, 39, 41, 64].map((seqKv) => ({ seqKv })),
  ...[31, 33].map((headDim) => ({ headDim })),
  ...[
    { scale: 0.5 },
    { softcap: 5 },
    { mask: 'k' },
    { window: 7, causalOffset: 39 },
    { causal: true, causalOffset: 20 },
  ],
  ...[{ kvHeads: 1 }, { kvHeads: 4 }, { layout: 'padded' as const }, { dtype: 'f16' as const }],
  ...[{ dtypeKv: 'f16' as const }, { dtypeKv: 'bf16' as const }],
];

const offsets = [['f32', 4] as const, ['f16', 2] as const].map(([dtype, size]) =>
  offsetCases(ATTENTION, {
    ...{ name: dtype, operands: 4, size },
    shapes: [
      { seqQ: 8, seqKv: 8, headDim: 16, dtype },
      { seqQ: 1, seqKv: 16, headDim: 8, dtype },
    ],
  }),
);

/** Sequences of attention. */
const attentionSequences: readonly ConformanceCase[] = [
  ...pairCases(ATTENTION, 'many queries', HEADS, ATTENTION_CHANGES),
  ...pairCases(ATTENTION, 'one query', ONE_QUERY, CHANGES_OF_ONE),
  ...offsets,
];

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
const derivedSequences: readonly ConformanceCase[] = [
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

type Change = Partial<ProductParams>;
type Subject = SequenceSubject<ProductParams>;

const GEMM: Subject = { op: 'gemm', defaults: PRODUCT_DEFAULTS, plan: planProduct('gemm', multiply) };
const BATCHED: Subject = {
  op: 'batchedGemm',
  defaults: PRODUCT_DEFAULTS,
  plan: planProduct('batchedGemm', multiplyBatches),
};
const F16: Subject = {
  op: 'gemmF16',
  defaults: { ...PRODUCT_DEFAULTS, dtype: 'f16' },
  plan: planProduct('gemmF16', multiplyF16),
};

const SIZES: readonly Change[] = [
  ...[15, 17, 20, 33].flatMap((size): Change[] => [{ m: size }, { n: size }, { k: size }]),
  { m: 1 },
  { n: 1 },
  { k: 1 },
  { k: 0 },
];
/** Steps of 1, 2 and 4 elements: rows that begin where vectors of 4, 8 and 16 bytes may not and may. */
const PADS: readonly Change[] = [1, 2, 4].flatMap((pad): Change[] => [{ padA: pad }, { padB: pad }, { padC: pad }]);
const REST: readonly Change[] = [
  ...['TN', 'NT', 'TT', 'CN'].map((trans) => ({ trans })),
  ...[0, -1, 2, 0.5].map((alpha) => ({ alpha })),
  ...[1, -1, 2].map((beta) => ({ beta })),
];
const BATCHES: readonly Change[] = [
  { batch: 1 },
  { batch: 5 },
  ...['0', '256', '257', '258', '260', '300'].flatMap((stride): Change[] => [{ strideA: stride }, { strideB: stride }]),
  ...[1, 2, 4].map((gapC) => ({ gapC })),
  { interleaved: true },
];

/**
 * Products with one row or column: vectors and matrices of every batch, some of which begin where loads of four may.
 */
const VECTORS: readonly Change[] = [
  ...['32', '33', '34', '36', '1024', '1025', '1026', '1028'].flatMap((stride): Change[] => [
    { strideA: stride },
    { strideB: stride },
  ]),
  ...PADS,
  ...[1, 2, 3, 4].flatMap((gapC): Change[] => [{ gapC }, { gapC, padC: gapC }]),
];

/** Whole tiles and vectors, odd sizes, and both kinds of vector times matrix. */
const shapes = (more: Change): Change[] => [
  { m: 16, n: 16, k: 16, ...more },
  { m: 7, n: 9, k: 5, ...more },
  { m: 1, n: 32, k: 32, ...more },
  { m: 32, n: 1, k: 32, ...more },
];

const SQUARE: Change = { m: 16, n: 16, k: 16 };
const SCALED: Change = { m: 12, n: 24, k: 20, padA: 4, padB: 4, padC: 4, trans: 'TN', alpha: 2, beta: -1 };
const PADS_OF_SCALED: readonly Change[] = (['padA', 'padB', 'padC'] as const).flatMap((pad) =>
  [0, 3, 5, 6, 8].map((size): Change => ({ [pad]: size })),
);

/** Sequences of gemm, gemmF16 and batchedGemm. */
const productSequences: readonly ConformanceCase[] = [
  ...pairCases(GEMM, 'square', SQUARE, [...SIZES, ...PADS, ...REST]),
  ...pairCases(GEMM, 'scaled and transposed', SCALED, [...SIZES, ...PADS_OF_SCALED, ...REST]),
  ...pairCases(F16, 'square', SQUARE, [...SIZES, ...PADS, ...REST]),
  ...pairCases(BATCHED, 'square', { ...SQUARE, batch: 3 }, [
    ...SIZES.filter(({ m = 1, n = 1, k = 1 }) => m * n * k < 21),
    ...PADS,
    ...REST,
    ...BATCHES,
  ]),
  ...pairCases(BATCHED, 'columns', { m: 32, n: 1, k: 32, batch: 3 }, VECTORS),
  ...pairCases(BATCHED, 'rows', { m: 1, n: 32, k: 32, batch: 3, trans: 'NT' }, VECTORS),
  ...pairCases(BATCHED, 'columns f16', { m: 32, n: 1, k: 32, batch: 3, dtype: 'f16' }, [{ dtype: 'f32' }, ...VECTORS]),
  ...pairCases(BATCHED, 'f16', { ...SQUARE, batch: 3, dtype: 'f16' }, [{ dtype: 'f32' }, ...PADS, ...REST, ...BATCHES]),
  offsetCases(GEMM, { name: 'f32', shapes: shapes({}), operands: 3, size: 4 }),
  offsetCases(F16, { name: 'f16', shapes: shapes({}), operands: 3, size: 2 }),
  offsetCases(BATCHED, { name: 'f32', shapes: [{ m: 8, n: 8, k: 8, batch: 2 }], operands: 3, size: 4 }),
];

/** Calls of each op one after the other that differ in one field, or in where their operands are. */
export const callSequenceCases: readonly ConformanceCase[] = [
  ...productSequences,
  ...conv2dSequences,
  ...attentionSequences,
  ...derivedSequences,
];
