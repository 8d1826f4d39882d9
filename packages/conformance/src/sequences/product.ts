import { multiply as multiplyBatches } from '../cases/batched-gemm.ts';
import { multiply as multiplyF16 } from '../cases/gemm-f16.ts';
import { multiply } from '../cases/gemm.ts';
import { planProduct } from '../checks/product.ts';
import { PRODUCT_DEFAULTS, type ProductParams } from '../checks/product-data.ts';
import type { ConformanceCase } from '../harness/case.ts';
import { offsetCases } from './offsets.ts';
import { pairCases } from './pairs.ts';
import type { SequenceSubject } from './sequence-case.ts';

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

/** Of a product with one row or column: vectors and matrices of every batch where loads of four may begin, and where not. */
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
export const productSequences: readonly ConformanceCase[] = [
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
