import type { ResolvedGemm } from '@concord/backend-core/implement';
import { decodeStep, WEIGHT_FEATURES } from '@concord/kernel';
import { type Family, type KernelTable, sizeStep, VariantTables } from '@concord/variants';
import { floatResults, planRun } from '../run/plan.ts';
import type { Kernel } from '../kernel.ts';
import type { DeviceMemory, DeviceTraits, Recorder } from '../recorder.ts';
import { directTable } from './direct.spv.ts';
import { finish, launchEntries } from './finish.spv.ts';
import { localTable } from './local.spv.ts';
import { matrixTable } from './matrix.ts';
import { type Matrix, partOf, parts, type Product, productOf } from './product.ts';
import { DTYPES, type ProductTable, type ProductWork, ReusedScratch, type Splits, type Variant } from './table.ts';
import { subgroupTable } from './subgroup.spv.ts';
import { vectorTables } from './vectors.ts';
import { isOfWeightRows, weightRowsTable } from './weight-rows.ts';
import { wideTable } from './wide.spv.ts';

/** Kernels that compute products. A new one is added here, and nothing else has to know of it. */
export const productTables: VariantTables<Product, ProductWork, Recorder, Kernel, Variant, ProductTable> =
  new VariantTables(
    [localTable, subgroupTable, matrixTable, ...vectorTables, wideTable, directTable],
    ({ m, n, k, batchCount, transA, transB, a }) => {
      const letters = `${transA ? 'T' : 'N'}${transB ? 'T' : 'N'}`;
      return `gemm ${a.dtype} ${letters} ${[m, n, k, batchCount].map(sizeStep).join(' ')}`;
    },
  );

/** Kernels that decode a B of a type of its own themselves. */
const weightTables: VariantTables<Product, ProductWork, Recorder, Kernel, Variant, ProductTable> = new VariantTables(
  [weightRowsTable],
  ({ m, n, k, batchCount, a, weights }) =>
    `gemm ${a.dtype} ${weights?.dtype} ${[m, n, k, batchCount].map(sizeStep).join(' ')}`,
);

const tablesFor = ({ weights }: Product): typeof productTables =>
  weights === undefined ? productTables : weightTables;

/** The kernels that add up the ranges of k. */
const finishTable: KernelTable<DeviceTraits, Kernel> = {
  ids: [],
  kernelsFor: () => DTYPES.map((output) => finish({ output })),
};

/** `gemm`, `batchedGemm` and both in f16. */
export const gemmFamily: Family<'gemm', DeviceMemory, Recorder, Kernel> = {
  kernel: 'gemm',
  dtypes: ['f32', 'f16', 'bf16'],
  features: ['epilogues', ...WEIGHT_FEATURES],
  plan: planGemm,
  tables: [productTables, weightTables, finishTable],
};

type ChooseVariant = (product: Product, recorder: Recorder) => Variant;

/** Ranges of k begin at multiples of this: a whole number of iterations of each kernel. */
const DEPTH_MULTIPLE = 64;

/**
 * Plans `gemm`, `batchedGemm` and both in f16, with k > 0.
 *
 * @param choose - gives the kernel for a product; tests and measurements have their own
 * @throws {BackendError} OUT_OF_MEMORY when scratch memory exceeds the largest allocation
 */
export function planGemm(
  call: ResolvedGemm<DeviceMemory>,
  recorder: Recorder,
  choose: ChooseVariant = (product) => tablesFor(product).choose(product, recorder),
): void {
  if (call.dtype === 'bf16') {
    floatResults.bfloatProduct(call, recorder, (wide) => planGemm(wide, recorder, choose));
    return;
  }
  const isDecoded = call.dtypeB !== undefined && !isOfWeightRows(productOf(call), recorder.traits);
  const own = isDecoded ? withPlainB(call, recorder) : call;
  if (call.epilogue === undefined) planProduct(productOf(own), recorder, choose);
  else floatResults.product(own, recorder, (change) => planProduct({ ...productOf(own), ...change }, recorder, choose));
}

/** The same product of a B in the dtype of A and C, which is written to scratch memory first. */
function withPlainB(call: ResolvedGemm<DeviceMemory>, recorder: Recorder): ResolvedGemm<DeviceMemory> {
  const { geometry, inputs, bytes, call: plain } = decodeStep(call);
  const b = recorder.scratch(bytes);
  planRun({ geometry, spans: [...inputs.map((name) => call[name]), b] }, recorder);
  return { ...call, ...plain, b };
}

function planProduct(product: Product, recorder: Recorder, choose: ChooseVariant): void {
  const variant = choose(product, recorder);
  const table = tablesFor(product).tableOf(variant);
  const scratch = new ReusedScratch(recorder);
  if (table.mostAtOnce === undefined) {
    table.launch({ product, splits: { depth: product.k, count: 1, stride: 0 }, scratch }, variant, recorder);
    return;
  }
  const range = Math.ceil(product.k / variant.splits / DEPTH_MULTIPLE) * DEPTH_MULTIPLE;
  const splits = Math.ceil(product.k / range);
  const most = table.mostAtOnce(product, variant, splits, recorder.traits);
  for (const part of parts(product, most, table.least?.(variant))) {
    multiply(partOf(product, part), variant, range, splits, recorder, scratch);
  }
}

function multiply(
  product: Product,
  variant: Variant,
  range: number,
  splits: number,
  recorder: Recorder,
  scratch: ReusedScratch,
): void {
  const { m, n, k, batchCount, alpha, beta } = product;
  const launch = (part: Product, ranges: Splits): void =>
    productTables.launch({ product: part, splits: ranges, scratch }, variant, recorder);
  if (splits === 1) {
    launch(product, { depth: k, count: 1, stride: 0 });
    return;
  }
  const entries = batchCount * m * n;
  const { span: sums } = scratch.take('sums', 4 * splits * entries);
  const c: Matrix = { span: sums, dtype: 'f32', ld: n, stride: batchCount === 1 ? 0 : m * n };
  const ranges = { depth: range, count: splits, stride: entries };
  launch({ ...product, alpha: 1, beta: 0, c }, ranges);
  const own = { sums, splits, split_stride: entries, alpha, beta };
  launchEntries(recorder, finish({ output: product.c.dtype }), { m, n, batchCount, c: product.c }, own);
}
