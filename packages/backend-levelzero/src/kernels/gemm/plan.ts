import type { ResolvedGemm } from '@concord/backend-core/implement';
import { pickVariant } from '@concord/variants';
import type { DeviceMemory, DeviceTraits, Recorder } from '../recorder.ts';
import { planEpilogue, resultsOf, widened } from '../epilogue/plan-epilogue.ts';
import { secondsFor } from '../estimate.ts';
import { type Variant, variantsFor } from './choose-variant.ts';
import { launchEntries } from './entries.ts';
import { finish } from './finish.spv.ts';
import { launchMatrix, mostAtOnceOfMatrix } from './launch-matrix.ts';
import { launchMatvec } from './launch-matvec.ts';
import { launchDirect, launchLocal, launchSubgroup } from './launch-product.ts';
import { launchWide } from './launch-wide.ts';
import { type Matrix, partOf, parts, type Product, productOf, type ProductShape } from './product.ts';
import { ENGINE_SPEEDUP } from './matrix-engine.ts';
import { ReusedScratch } from './reused-scratch.ts';
import type { Splits } from './splits.ts';
import { type SubgroupTile, subgroupTile } from './subgroup.spv.ts';

export { allKernels } from './all-kernels.ts';
export { VARIANT_IDS } from './choose-variant.ts';

type ChooseVariant = (product: Product, recorder: Recorder) => Variant;

/** Rows of the largest tile of any kernel. */
const ROWS_MULTIPLE = 128;
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
  choose: ChooseVariant = chooseVariant,
): void {
  if (call.epilogue === undefined) planProduct(productOf(call), recorder, choose);
  else planWithEpilogue(call, recorder, choose);
}

/** A product, and a kernel after it that makes C of its results: C itself in float32, else scratch memory. */
function planWithEpilogue(call: ResolvedGemm<DeviceMemory>, recorder: Recorder, choose: ChooseVariant): void {
  const { m, n, batchCount, beta, dtype } = call;
  const domain = [batchCount, m, n];
  const strides = [call.strideC, call.ldc, 1];
  const product = productOf(call);
  if (dtype === 'f32') {
    planProduct(product, recorder, choose);
    planEpilogue(call, domain, { strides, dtype }, call.c, { span: call.c, strides }, recorder);
    return;
  }
  const results = beta === 0 ? resultsOf(domain, recorder) : widened(call.c, domain, strides, recorder);
  const stride = batchCount === 1 ? 0 : m * n;
  planProduct({ ...product, c: { span: results.span, dtype: 'f32', ld: n, stride } }, recorder, choose);
  planEpilogue(call, domain, { strides, dtype }, call.c, results, recorder);
}

function planProduct(product: Product, recorder: Recorder, choose: ChooseVariant): void {
  const variant = choose(product, recorder);
  if (variant.kind === 'wide') {
    launchWide(product, variant, recorder);
    return;
  }
  const range = Math.ceil(product.k / variant.splits / DEPTH_MULTIPLE) * DEPTH_MULTIPLE;
  const splits = Math.ceil(product.k / range);
  const most = mostAtOnce(product, variant, splits, recorder.traits);
  const min = variant.kind === 'subgroup' ? leastOf(variant.tile) : undefined;
  const scratch = new ReusedScratch(recorder);
  for (const part of parts(product, most, min)) {
    multiply(partOf(product, part), variant, range, splits, recorder, scratch);
  }
}

function chooseVariant(product: Product, recorder: Recorder): Variant {
  return pickVariant(recorder, variantsFor(product, recorder.traits));
}

type SplitVariant = Exclude<Variant, { readonly kind: 'wide' }>;

/** The part of C that one launch can have the groups for. */
function mostAtOnce(
  product: Product,
  variant: SplitVariant,
  splits: number,
  traits: DeviceTraits,
): Pick<ProductShape, 'batchCount' | 'm' | 'n'> {
  const { batchCount, m, n } = product;
  const { maxGroups } = traits;
  const together = Math.max(1, Math.floor(maxGroups[2] / splits));
  if (variant.kind === 'matvec') return { batchCount: together, m, n };
  if (variant.kind === 'direct') return traits.isCpuLike ? { batchCount, m, n } : { ...inTime(product, 1, traits), n };
  if (variant.kind === 'matrix') {
    const time = inTime(product, ENGINE_SPEEDUP, traits);
    const most = mostAtOnceOfMatrix(product, variant.lanes, Math.min(together, time.batchCount), traits);
    return { ...most, m: Math.min(most.m, time.m) };
  }
  const time = inTime(product, 1, traits);
  const tile = variant.kind === 'local' ? variant.tile : subgroupTile(variant.tile);
  return {
    batchCount: Math.min(together, time.batchCount),
    m: Math.min(maxGroups[1] * tile.m, time.m),
    n: maxGroups[0] * tile.n,
  };
}

/**
 * Matrices, or rows of one, that about a second is enough for: kernel drivers take a device for hung that works on one launch
 * for long.
 */
function inTime(
  { m, n, k }: ProductShape,
  speedup: number,
  traits: DeviceTraits,
): Pick<ProductShape, 'batchCount' | 'm'> {
  const rows = speedup / secondsFor(n * k, traits);
  if (rows >= m) return { batchCount: Math.floor(rows / m), m };
  return { batchCount: 1, m: Math.max(1, Math.floor(rows / ROWS_MULTIPLE)) * ROWS_MULTIPLE };
}

/** The minimal size of a part of a product for a tile: see `subgroup`. */
const leastOf = (tile: SubgroupTile): Pick<ProductShape, 'm' | 'n'> => ({ m: tile.rows, n: subgroupTile(tile).n });

function multiply(
  product: Product,
  variant: SplitVariant,
  range: number,
  splits: number,
  recorder: Recorder,
  scratch: ReusedScratch,
): void {
  const { m, n, k, batchCount, alpha, beta } = product;
  if (splits === 1) {
    launch(product, variant, { depth: k, count: 1, stride: 0 }, recorder, scratch);
    return;
  }
  const entries = batchCount * m * n;
  const { span: sums } = scratch.take('sums', 4 * splits * entries);
  const c: Matrix = { span: sums, dtype: 'f32', ld: n, stride: batchCount === 1 ? 0 : m * n };
  const ranges = { depth: range, count: splits, stride: entries };
  launch({ ...product, alpha: 1, beta: 0, c }, variant, ranges, recorder, scratch);
  const own = { sums, splits, split_stride: entries, alpha, beta };
  launchEntries(recorder, finish({ output: product.c.dtype }), { m, n, batchCount, c: product.c }, own);
}

function launch(
  product: Product,
  variant: SplitVariant,
  splits: Splits,
  recorder: Recorder,
  scratch: ReusedScratch,
): void {
  switch (variant.kind) {
    case 'matvec':
      return launchMatvec(product, variant, splits, recorder);
    case 'direct':
      return launchDirect(product, variant, splits, recorder);
    case 'local':
      return launchLocal(product, variant, splits, recorder);
    case 'subgroup':
      return launchSubgroup(product, variant, splits, recorder);
    case 'matrix':
      return launchMatrix(product, variant, splits, recorder, scratch);
  }
}
