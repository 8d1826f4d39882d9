import { f16BitsToF32 } from '@concord/backend-core';
import { compareAll } from '../checks/compare.ts';
import { drawProduct, type Multiply, productChecks, shrinkProduct } from '../checks/product.ts';
import { PRODUCT_DEFAULTS, type ProductParams } from '../checks/product-data.ts';
import { weightEntries } from '../checks/product-weights.ts';
import { epilogueEntries, productNeeds } from '../checks/epilogue.ts';
import { type CaseContext, defineSuite, type Suite } from '../harness/case.ts';
import { Workspace } from '../harness/workspace.ts';

/** Every second call goes through `gemm` with a dtype, which must be the same op. */
export const multiply: Multiply = (backend, shape, a, b, c) => {
  const { strideA: _a, strideB: _b, strideC: _c, batchCount: _n, dtype: _d, ...plain } = shape;
  const call = { ...plain, a: a.ptr, b: b.ptr, c: c.ptr };
  if (shape.m % 2 === 0) backend.gemm({ ...call, dtype: 'f16' });
  else backend.gemmF16(call);
};

/** Sums that float32 holds and binary16 must round: ties, the overflow limit, subnormals. */
const ROUNDING: readonly (readonly [terms: readonly number[], want: number])[] = [
  [[2048, 1], 2048],
  [[2048, 3], 2052],
  [[2048, 1, 2 ** -8], 2050],
  [[-2048, -1], -2048],
  [[65504, 15], 65504],
  [[65504, 1], 65504],
  [[65504, 8], 65504],
  [[65504, 15, 0.5], 65504],
  [[-65504, -15, -0.5], -65504],
  [[65504, 16], Infinity],
  [[65504, 32], Infinity],
  [[-65504, -16], -Infinity],
  [[2 ** -24], 2 ** -24],
  [[2 ** -14, -(2 ** -24)], 1023 * 2 ** -24],
  [[-65504, -15], -65504],
  [[2048, 5], 2052],
  [[2 ** -24, -(2 ** -24)], 0],
  [[1, 2 ** -11], 1],
  [[1, 2 ** -10, 2 ** -11], 1 + 2 ** -9],
  // Rounded after every step in binary16, the small terms would be lost one by one.
  [[2048, 1, 1, 1, 1, 1, 1, 1, 1], 2056],
];

async function checkRounding({ backend }: CaseContext, { m }: ProductParams): Promise<void> {
  const k = Math.max(...ROUNDING.map(([terms]) => terms.length));
  const workspace = new Workspace(backend);
  const rows = Array.from({ length: m }, (_, row) => ROUNDING[row % ROUNDING.length] as (typeof ROUNDING)[number]);
  const a = workspace.input(
    rows.flatMap(([terms]) => Array.from({ length: k }, (_, p) => terms[p] ?? 0)),
    'f16',
  );
  const b = workspace.input(
    Array.from({ length: k }, () => 1),
    'f16',
  );
  const c = workspace.output(m, 'f16');
  await workspace.run(() => backend.gemmF16({ m, n: 1, k, a: a.ptr, b: b.ptr, c: c.ptr }));
  compareAll(
    'c',
    c.values(),
    rows.map(([, want]) => want),
    { bound: () => 0, format: 'f16' },
  );
}

/** Every binary16 goes through a product with 1 unharmed. */
async function checkEveryValue({ backend }: CaseContext): Promise<void> {
  const values = Array.from({ length: 65_536 }, (_, bits) => f16BitsToF32(bits));
  const workspace = new Workspace(backend);
  const a = workspace.input(values, 'f16');
  const b = workspace.input([1], 'f16');
  const c = workspace.output(values.length, 'f16');
  await workspace.run(() => backend.gemmF16({ m: values.length, n: 1, k: 1, a: a.ptr, b: b.ptr, c: c.ptr }));
  compareAll('c', c.values(), values, { bound: () => 0, format: 'f16' });
}

type Entry = readonly [string, Partial<ProductParams>];

const TRANSPOSES = ['NN', 'TN', 'NT', 'TT'];
const SIZES: readonly (readonly [number, number, number])[] = [
  [1, 1, 1],
  [1, 19, 33],
  [17, 1, 33],
  [3, 5, 7],
  [16, 15, 17],
  [33, 17, 65],
  [64, 64, 64],
];
const ODD: Partial<ProductParams> = { m: 13, n: 21, k: 31 };
/** Rows that begin and end at multiples of 16 bytes, as matrix units want them, also where tiles are cut off. */
const BY_EIGHTS: Partial<ProductParams> = { m: 136, n: 72, k: 40 };

const list: Entry[] = [
  ...SIZES.flatMap(([m, n, k]) => TRANSPOSES.map((trans): Entry => ['exact', { m, n, k, trans }])),
  // Rows of odd length: two neighbours share a word, which must not be torn.
  ...TRANSPOSES.map((trans): Entry => ['exact', { ...ODD, trans, padA: 2, padB: 3, padC: 2 }]),
  ...[BY_EIGHTS, { m: 128, n: 128, k: 128 }, { m: 8, n: 16, k: 1032 }, { m: 200, n: 264, k: 96 }].flatMap((sizes) =>
    TRANSPOSES.map((trans): Entry => ['exact', { ...sizes, trans }]),
  ),
  ...TRANSPOSES.map((trans): Entry => ['exact', { ...BY_EIGHTS, trans, padA: 8, padB: 16, padC: 4, offset: 16 }]),
  ['exact', { ...BY_EIGHTS, alpha: 2, beta: -1 }],
  ['exact', { ...ODD, offset: 2 }],
  ['exact', { ...ODD, offset: 2, padC: 1, beta: 1 }],
  ['exact', { ...ODD, offset: 2, padC: 2, together: true }],
  ['exact', { ...ODD, k: 0 }],
  ['exact', { ...ODD, k: 0, beta: 2, padC: 2 }],
  ['exact', { ...ODD, trans: 'CN' }],
  ['exact', { ...ODD, trans: 'NC' }],
  ['exact', { ...ODD, alpha: 0, beta: 1 }],
  ['exact', { ...ODD, alpha: 0, padC: 3 }],
  ['exact', { ...ODD, alpha: 2, beta: -1 }],
  ['exact', { m: 2, n: 3, k: 1025 }],
  ['exact', { m: 70_001, n: 1, k: 2 }],
  ['exact-wide', { m: 17, n: 33, k: 65 }],
  ['exact-wide', { m: 64, n: 64, k: 64, trans: 'TT' }],
  ['exact-wide', { ...BY_EIGHTS, trans: 'TN' }],
  ...TRANSPOSES.map((trans): Entry => ['bounded', { m: 35, n: 37, k: 129, trans, alpha: 0.3, beta: -1.7 }]),
  ['bounded', { m: 136, n: 72, k: 520, alpha: 0.3, beta: -1.7 }],
  ['bounded', { m: 1, n: 50, k: 2000 }],
  ['bounded', { m: 50, n: 1, k: 2000 }],
  ['specials', { m: 9, n: 11, k: 6 }],
  ['specials', { m: 9, n: 11, k: 6, alpha: 0, beta: 2 }],
  ['specials', { m: 16, n: 24, k: 8 }],
  ['repeat', { m: 33, n: 34, k: 300 }],
  ['repeat', { m: 136, n: 264, k: 304 }],
  ['transposed', { m: 31, n: 44, k: 65 }],
  ['transposed', { m: 128, n: 136, k: 72 }],
  ['rounding', { m: 1 }],
  ['rounding', { m: 60 }],
  ['every-value', {}],
  ...epilogueEntries({ ...ODD, dtype: 'f16' }),
  ...weightEntries('f16'),
];

/** `gemmF16`, and `gemm` with dtype f16. */
export const gemmF16Suite: Suite = defineSuite<ProductParams>({
  op: 'gemmF16',
  defaults: { ...PRODUCT_DEFAULTS, dtype: 'f16' },
  checks: {
    ...productChecks('gemmF16', multiply),
    rounding: checkRounding,
    'every-value': checkEveryValue,
  },
  list,
  needs: productNeeds('gemmF16'),
  draw: (random) => drawProduct(random, ['f16'], false),
  shrink: shrinkProduct,
});
