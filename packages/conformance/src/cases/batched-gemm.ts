import { batchedGemmReference } from '@concord/backend-cpu/reference';
import { compareAll, productBound, ulpOf } from '../checks/compare.ts';
import { drawProduct, type Multiply, productChecks, shrinkProduct } from '../checks/product.ts';
import { PRODUCT_DEFAULTS, type ProductParams } from '../checks/product-data.ts';
import { epilogueEntries, productNeeds } from '../checks/epilogue.ts';
import { type CaseContext, defineSuite, type Suite } from '../harness/case.ts';
import { Workspace } from '../harness/workspace.ts';

/** The call of the op. */
export const multiply: Multiply = (backend, shape, a, b, c) =>
  backend.batchedGemm({ ...shape, a: a.ptr, b: b.ptr, c: c.ptr });

/** One batched call equals a loop of plain ones within twice the bound. */
async function checkLooped({ backend, random }: CaseContext, params: ProductParams): Promise<void> {
  const { m, n, k, batch: batchCount, dtype } = params;
  const strides = { strideA: m * k, strideB: k * n, strideC: m * n };
  const values = (length: number): Float32Array => Float32Array.from({ length }, () => random.unit() * 2 - 1);
  const workspace = new Workspace(backend);
  const a = workspace.input(values(batchCount * m * k), dtype);
  const b = workspace.input(values(batchCount * k * n), dtype);
  const once = workspace.output(batchCount * m * n, dtype);
  const looped = workspace.output(batchCount * m * n, dtype);
  const bytes = dtype === 'f32' ? 4 : 2;
  await workspace.run(() => {
    backend.batchedGemm({ m, n, k, batchCount, dtype, ...strides, a: a.ptr, b: b.ptr, c: once.ptr });
    for (let batch = 0; batch < batchCount; batch++) {
      backend.gemm({
        m,
        n,
        k,
        dtype,
        a: (a.ptr + batch * strides.strideA * bytes) as typeof a.ptr,
        b: (b.ptr + batch * strides.strideB * bytes) as typeof b.ptr,
        c: (looped.ptr + batch * strides.strideC * bytes) as typeof looped.ptr,
      });
    }
  });
  const { magnitude } = batchedGemmReference({ m, n, k, batchCount, ...strides }, a.values(), b.values());
  const want = looped.values();
  compareAll('batched against looped', once.values(), want, {
    format: dtype,
    bound: (i) =>
      2 * productBound(k, 1, 0, magnitude[i] as number, 0) + (dtype === 'f32' ? 0 : ulpOf(dtype, want[i] as number)),
  });
}

type Entry = readonly [string, Partial<ProductParams>];

const TRANSPOSES = ['NN', 'TN', 'NT', 'TT'];
const DTYPES = ['f32', 'f16'] as const;
const ODD: Partial<ProductParams> = { m: 5, n: 9, k: 7, batch: 4 };

const list: Entry[] = [
  ...DTYPES.flatMap((dtype) =>
    TRANSPOSES.flatMap((trans): Entry[] => [
      ['exact', { m: 3, n: 5, k: 7, batch: 3, trans, dtype }],
      ['exact', { m: 33, n: 17, k: 31, batch: 2, trans, dtype, padA: 2, padB: 3, padC: 1, gapC: 5 }],
    ]),
  ),
  ...DTYPES.flatMap((dtype): Entry[] => [
    ['exact', { ...ODD, dtype, strideA: '0' }],
    ['exact', { ...ODD, dtype, strideB: '0' }],
    ['exact', { ...ODD, dtype, strideA: '0', strideB: '0', beta: 1 }],
    ['exact', { ...ODD, dtype, strideA: '101', strideB: '202', gapC: 30 }],
    ['exact', { ...ODD, dtype, offset: dtype === 'f16' ? 2 : 4, together: true, beta: -1 }],
    ['exact', { ...ODD, dtype, k: 0, beta: 2, gapC: 1 }],
    // Whole rows from one C to the next, of which the last element is nobody's.
    ['exact', { ...ODD, dtype, padC: 1, gapC: 1 }],
    ['exact', { m: 2, n: 3, k: 1500, batch: 3, dtype, padC: 1, gapC: 1 }],
    ['exact', { m: 5, n: 1, k: 64, batch: 3, dtype, padC: 2, gapC: 2, strideB: '65' }],
    ['exact', { ...ODD, dtype, alpha: 0, padC: 1 }],
    ['exact', { ...ODD, dtype, trans: 'CN' }],
    ['exact', { ...ODD, dtype, trans: 'NC' }],
    ['exact', { m: 2, n: 3, k: 1500, batch: 2, dtype }],
    ['exact', { m: 1, n: 40, k: 33, batch: 5, dtype }],
    ['exact', { m: 40, n: 1, k: 33, batch: 5, dtype }],
    // Vectors whose elements lie apart, one for each batch or one for all.
    ...['packed', '0'].flatMap((stride): Entry[] => [
      ['exact', { m: 1, n: 40, k: 65, batch: 5, trans: 'TN', padA: 3, strideA: stride, dtype }],
      ['exact', { m: 40, n: 1, k: 65, batch: 5, padB: 3, strideB: stride, dtype }],
      ['exact', { m: 1, n: 130, k: 300, batch: 3, trans: 'TT', padA: 1, padB: 2, strideA: stride, dtype }],
      // The same of a few vectors.
      ['exact', { m: 40, n: 3, k: 65, batch: 5, strideB: stride, dtype }],
    ]),
    ['exact', { m: 64, n: 64, k: 64, batch: 2, dtype }],
    ['exact-wide', { m: 17, n: 18, k: 19, batch: 3, dtype }],
    ['bounded', { m: 31, n: 33, k: 65, batch: 3, dtype, alpha: 0.7, beta: 0.3 }],
    ['bounded', { m: 31, n: 33, k: 65, batch: 2, trans: 'TT', dtype }],
    ['looped', { m: 12, n: 14, k: 50, batch: 4, dtype }],
    ['specials', { m: 5, n: 6, k: 7, batch: 3, dtype }],
    ['specials', { m: 5, n: 6, k: 7, batch: 3, dtype, alpha: 0 }],
    ['repeat', { m: 16, n: 17, k: 100, batch: 3, dtype }],
  ]),
  ...['f16', 'bf16', 'i8', 'u4'].flatMap((dtypeB): Entry[] =>
    ['packed', '0', '400'].flatMap((strideB): Entry[] => {
      const own: Partial<ProductParams> = { dtypeB, strideB, batch: 3, trans: 'NT', zeros: 'own' };
      return [
        ['exact', { ...own, m: 5, n: 9, k: 37, block: 8, beta: 1, gapC: 3 }],
        ['exact', { ...own, m: 1, n: 9, k: 40, interleaved: true, blocksView: 'padded' }],
        ['exact', { ...own, m: 20, n: 4, k: 64, strideA: '0', scales: 'f16' }],
        ['exact', { ...own, m: 3, n: 5, k: 72, padB: 4, block: 64, beta: -1, gapC: 1 }],
        ['exact', { ...own, m: 8, n: 6, k: 56, block: 8, interleaved: true, blocksView: 'turned', scales: 'f16' }],
      ];
    }),
  ),
  ...['packed', '0'].flatMap((stride): Entry[] => [
    ['exact', { ...ODD, dtype: 'bf16', strideA: stride, beta: 1, gapC: 3 }],
    ['exact', { m: 3, n: 5, k: 40, batch: 3, dtype: 'bf16', trans: 'TT', strideB: stride, padA: 2 }],
    ['exact', { m: 1, n: 9, k: 72, batch: 3, dtype: 'bf16', trans: 'NT', strideB: stride, interleaved: true }],
  ]),
  ['epilogue', { ...ODD, dtype: 'bf16', epilogue: 'bias', view: 'axis 0' }],
  ['looped', { m: 12, n: 14, k: 50, batch: 4, dtype: 'bf16' }],
  ['exact', { m: 1, n: 1, k: 1, batch: 1 }],
  ['overflow', { m: 5, n: 7, k: 9, batch: 3, alpha: 0.25, gapC: 2 }],
  ['exact', { m: 2, n: 2, k: 2, batch: 66_000 }],
  // Rows of B that overlap between batches: an input may.
  ['exact', { ...ODD, strideA: '7', strideB: '1' }],
  ...DTYPES.flatMap((dtype): Entry[] => [
    ['exact', { ...ODD, dtype, interleaved: true }],
    ['exact', { ...ODD, dtype, interleaved: true, padC: 3, beta: 2 }],
    ['exact', { m: 68, n: 36, k: 20, batch: 3, dtype, interleaved: true }],
    ['exact', { m: 64, n: 64, k: 32, batch: 2, dtype, interleaved: true, trans: 'NT' }],
    ['exact', { m: 40, n: 1, k: 33, batch: 5, dtype, interleaved: true }],
    ['exact', { m: 2, n: 3, k: 1500, batch: 2, dtype, interleaved: true }],
    ['exact', { ...ODD, dtype, k: 0, beta: 2, interleaved: true }],
    ['specials', { m: 5, n: 6, k: 7, batch: 3, dtype, interleaved: true, beta: 1 }],
    ...epilogueEntries({ ...ODD, dtype }),
    ['epilogue', { ...ODD, dtype, epilogue: 'bias', view: 'axis 0' }],
    ['epilogue', { ...ODD, dtype, epilogue: 'three inputs', view: 'padded', interleaved: true }],
    ['epilogue', { m: 68, n: 36, k: 20, batch: 3, dtype, epilogue: 'bias gelu', view: 'axis 2', interleaved: true }],
  ]),
];

/** `batchedGemm` in float32, f16 and bf16. */
export const batchedGemmSuite: Suite = defineSuite<ProductParams>({
  op: 'batchedGemm',
  defaults: PRODUCT_DEFAULTS,
  checks: {
    ...productChecks('batchedGemm', multiply),
    looped: checkLooped,
  },
  list,
  needs: productNeeds('batchedGemm'),
  draw: (random) => drawProduct(random, ['f32', 'f16', 'bf16'], true),
  shrink: shrinkProduct,
});
