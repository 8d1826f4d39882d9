import { drawProduct, type Multiply, productChecks, shrinkProduct } from '../checks/product.ts';
import { PRODUCT_DEFAULTS, type ProductParams } from '../checks/product-data.ts';
import { weightEntries } from '../checks/product-weights.ts';
import { epilogueEntries, productNeeds } from '../checks/epilogue.ts';
import { defineSuite, type Suite } from '../harness/case.ts';

/** The call of the op. */
export const multiply: Multiply = (backend, shape, a, b, c) => {
  const { strideA: _a, strideB: _b, strideC: _c, batchCount: _n, ...plain } = shape;
  backend.gemm({ ...plain, a: a.ptr, b: b.ptr, c: c.ptr });
};

type Entry = readonly [string, Partial<ProductParams>];

const TRANSPOSES = ['NN', 'TN', 'NT', 'TT'];
/** One below, at and above the tile sizes in use (4, 8, 16, 32, 64, 128), and the vectors. */
const SIZES: readonly (readonly [number, number, number])[] = [
  [1, 1, 1],
  [1, 17, 33],
  [17, 1, 33],
  [3, 5, 1],
  [4, 4, 4],
  [5, 3, 7],
  [15, 16, 17],
  [17, 33, 65],
  [31, 33, 32],
  [63, 65, 64],
  [64, 64, 64],
  [129, 31, 63],
  [37, 127, 129],
];
const ODD: Partial<ProductParams> = { m: 13, n: 22, k: 31 };
const BFLOAT: Partial<ProductParams> = { dtype: 'bf16' };

const list: Entry[] = [
  ...SIZES.flatMap(([m, n, k]) => TRANSPOSES.map((trans): Entry => ['exact', { m, n, k, trans }])),
  ...TRANSPOSES.map((trans): Entry => ['exact', { ...ODD, trans, padA: 3, padB: 5, padC: 7 }]),
  ...TRANSPOSES.map((trans): Entry => ['exact', { ...ODD, trans, padA: 1, offset: 4, together: true }]),
  ['exact', { ...ODD, trans: 'CC' }],
  ['exact', { ...ODD, trans: 'CN', beta: -1 }],
  ['exact', { ...ODD, beta: 1 }],
  ['exact', { ...ODD, alpha: 2, beta: 3, padC: 1 }],
  ['exact', { ...ODD, alpha: -0.5, beta: 0.5 }],
  ['exact', { ...ODD, k: 0 }],
  ['exact', { ...ODD, k: 0, beta: 2, padC: 3 }],
  ['exact', { ...ODD, k: 0, beta: 1 }],
  ['exact', { ...ODD, alpha: 0 }],
  ['exact', { ...ODD, alpha: 0, padC: 3 }],
  ['exact', { ...ODD, alpha: 0, beta: 2 }],
  ['exact', { m: 2, n: 3, k: 4099 }],
  ['exact', { m: 1, n: 1, k: 10_007 }],
  // More terms than some drivers let a loop have turns.
  ['exact', { m: 1, n: 1, k: 300_007 }],
  ['exact', { m: 1, n: 3, k: 300_007 }],
  ['exact', { m: 3, n: 1, k: 300_007 }],
  ['exact', { m: 3, n: 2, k: 300_007 }],
  ['exact', { m: 300, n: 2, k: 70, trans: 'TN' }],
  ['exact', { m: 70_001, n: 2, k: 3 }],
  ['exact', { m: 2, n: 70_001, k: 3 }],
  ...TRANSPOSES.map((trans): Entry => ['exact-wide', { m: 17, n: 33, k: 65, trans }]),
  ['exact-wide', { m: 64, n: 64, k: 64 }],
  ['exact-wide', { m: 1, n: 70, k: 70 }],
  ['exact-wide', { m: 70, n: 1, k: 70 }],
  ['exact-wide', { m: 129, n: 130, k: 131, padA: 1, padB: 2, padC: 3 }],
  ...TRANSPOSES.map((trans): Entry => ['bounded', { m: 65, n: 67, k: 129, trans, alpha: 0.3, beta: -1.7 }]),
  ['bounded', { m: 1, n: 100, k: 1000 }],
  ['bounded', { m: 100, n: 1, k: 1000 }],
  ['bounded', { m: 3, n: 3, k: 20_000 }],
  ['bounded', { m: 2, n: 3, k: 25_001 }],
  ['bounded', { m: 33, n: 34, k: 35, alpha: 1e-50 }],
  ['bounded', { ...ODD, alpha: 0.1, beta: 0.1 }],
  ['specials', { m: 9, n: 11, k: 6 }],
  ['specials', { m: 9, n: 11, k: 6, alpha: 0 }],
  ['specials', { m: 9, n: 11, k: 6, alpha: 0, beta: 2 }],
  ['specials', { m: 33, n: 35, k: 37, trans: 'TT', beta: 1 }],
  ['specials', { m: 9, n: 11, k: 0 }],
  ['specials', { m: 9, n: 11, k: 6, alpha: 1e-50, beta: 2 }],
  ...[1e-50, -1e-50].flatMap((beta): Entry[] => [
    ['specials', { m: 9, n: 11, k: 6, beta }],
    ['specials', { m: 9, n: 11, k: 6, alpha: 0, beta }],
    ['specials', { m: 9, n: 11, k: 0, beta, padC: 3 }],
  ]),
  ['minus-zero', { m: 9, n: 11, k: 6 }],
  ['minus-zero', { m: 33, n: 35, k: 37, padC: 1 }],
  ['minus-zero', { m: 9, n: 11, k: 0 }],
  ['minus-zero', { m: 9, n: 11, k: 6, alpha: 0 }],
  ['minus-zero', { m: 9, n: 11, k: 6, alpha: 0, beta: 2 }],
  ...[Infinity, -Infinity, Number.NaN].flatMap((scalar): Entry[] => [
    ['scalars', { m: 9, n: 11, k: 6, alpha: scalar }],
    ['scalars', { m: 33, n: 35, k: 37, alpha: scalar, beta: 2, trans: 'TT' }],
    ['scalars', { m: 9, n: 11, k: 6, beta: scalar }],
    ['scalars', { m: 33, n: 35, k: 37, alpha: 2, beta: scalar, padC: 3 }],
    ['scalars', { m: 9, n: 11, k: 6, alpha: Infinity, beta: scalar }],
    ['scalars', { m: 9, n: 11, k: 6, alpha: 0, beta: scalar }],
    ['scalars', { m: 9, n: 11, k: 0, beta: scalar, padC: 3 }],
    ['scalars', { m: 9, n: 11, k: 0, alpha: scalar, beta: 2 }],
  ]),
  ['overflow', { m: 1, n: 1, k: 2, alpha: 0.25 }],
  ['overflow', { m: 9, n: 11, k: 6, alpha: -(2 ** -100), beta: 2 }],
  ['overflow', { m: 33, n: 35, k: 37, alpha: 0.25, trans: 'TT', padC: 1 }],
  ['overflow', { m: 64, n: 64, k: 64, alpha: 0.125 }],
  ['overflow', { m: 1, n: 70, k: 70, alpha: 0.25 }],
  ['overflow', { m: 70, n: 1, k: 70, alpha: 0.25 }],
  ['overflow', { m: 2, n: 3, k: 4099, alpha: 2 ** -14 }],
  ['repeat', { m: 65, n: 66, k: 300 }],
  ['repeat', { m: 3, n: 5, k: 5000, beta: 1 }],
  ['transposed', { m: 31, n: 45, k: 129 }],
  ['transposed', { m: 31, n: 45, k: 129, trans: 'TN', padA: 2 }],
  ...epilogueEntries(ODD),
  ...weightEntries('f32'),
  ...TRANSPOSES.flatMap((trans): Entry[] => [
    ['exact', { ...BFLOAT, ...ODD, trans, padA: 1, padB: 2, padC: 3, beta: 2 }],
    ['exact', { ...BFLOAT, m: 64, n: 64, k: 64, trans }],
    ['exact', { ...BFLOAT, m: 1, n: 70, k: 264, trans, offset: 2 }],
    ['exact', { ...BFLOAT, m: 70, n: 1, k: 65, trans, padC: 1 }],
    ['bounded', { ...BFLOAT, m: 35, n: 37, k: 129, trans, alpha: 0.3, beta: -1.7 }],
  ]),
  ['exact', { ...BFLOAT, ...ODD, k: 0, beta: 2, padC: 1 }],
  ['exact', { ...BFLOAT, ...ODD, alpha: 0 }],
  ['exact', { ...BFLOAT, ...ODD, offset: 2, together: true }],
  ['exact-wide', { ...BFLOAT, m: 17, n: 33, k: 65 }],
  ['exact-wide', { ...BFLOAT, m: 1, n: 70, k: 70, trans: 'NT' }],
  ['bounded', { ...BFLOAT, m: 3, n: 40, k: 4097, trans: 'NT' }],
  ['specials', { ...BFLOAT, m: 9, n: 11, k: 6, beta: 1 }],
  ['repeat', { ...BFLOAT, m: 33, n: 34, k: 300 }],
  ['epilogue', { ...BFLOAT, ...ODD, epilogue: 'bias', view: 'axis 2', stored: 'bf16', padC: 3 }],
  ['epilogue', { ...BFLOAT, ...ODD, epilogue: 'three inputs', view: 'permuted', beta: -1 }],
  ['epilogue-bounded', { ...BFLOAT, m: 1, n: 40, k: 65, trans: 'NT', epilogue: 'bias gelu', view: 'axis 2' }],
  ...['f32', 'f16', 'i8', 'u4'].flatMap((dtypeB): Entry[] =>
    [1, 3, 20].map((m) => ['bounded', { ...BFLOAT, dtypeB, m, n: 36, k: 72, trans: 'NT', zeros: 'own', beta: 1 }]),
  ),
];

/** `gemm` in float32 and bf16. */
export const gemmSuite: Suite = defineSuite<ProductParams>({
  op: 'gemm',
  defaults: PRODUCT_DEFAULTS,
  checks: productChecks('gemm', multiply),
  list,
  needs: productNeeds('gemm'),
  draw: (random) => drawProduct(random, ['f32', 'f32', 'bf16'], false),
  shrink: shrinkProduct,
});
