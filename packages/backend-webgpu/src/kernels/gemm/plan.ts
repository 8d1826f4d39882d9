import type { ResolvedGemm, ResolvedScale } from '@concord/backend-core/implement';
import type { DeviceTraits, Recorder, Span, StorageBuffer } from '../recorder.ts';
import { pickVariant } from '@concord/variants';
import { type Variant, variantsFor } from './choose-variant.ts';
import { type EntriesShape, entriesLaunch } from './entries.ts';
import { finish } from './finish.wgsl.ts';
import { launchProduct } from './launch-product.ts';
import { withMatrixUnits } from './matrix-units.ts';
import { bytesOfPanel, cuts, panels, panelSizes, panelSizesOfOutput } from './panels.ts';
import { bindMatrix, type Matrix, type Part, partOf, partOfMatrix, type Product, productOf } from './product.ts';
import { scale } from './scale.wgsl.ts';
import { outputFormat } from './storage-formats.ts';

export { allKernels } from './all-kernels.ts';
export { VARIANT_IDS } from './choose-variant.ts';

/** Memory for sums in float32, made when it is first asked for. */
type SumsMemory = (bytes: number) => Span;

const SUM_BYTES = 4;
/** Ranges of k begin at multiples of this: a whole number of turns of each tile. */
const DEPTH_MULTIPLE = 64;

/**
 * Plans `gemm`, `batchedGemm` and both in f16, with k > 0.
 *
 * Operands that do not fit into bindings are worked on in panels. Where the kernel cannot write C itself - binary16
 * without `f16`, k split for more workgroups, k cut into panels - it leaves sums in float32, and a second kernel makes C
 * of them: alpha and beta are applied once.
 *
 * @param choose - gives the kernel for a panel; tests and measurements have their own
 * @throws {BackendError} OUT_OF_MEMORY when scratch memory exceeds the largest buffer
 */
export function planGemm(
  call: ResolvedGemm<StorageBuffer>,
  recorder: Recorder,
  choose: (product: Product, depth: number, recorder: Recorder) => Variant = chooseVariant,
): void {
  const product = productOf(call, recorder);
  const sizes = panelSizes(product, recorder.traits);
  const sums = sumsMemory(recorder);
  for (const part of panels(product, sizes)) {
    const panel = isWhole(product, part) ? product : partOf(product, part);
    multiply(panel, choose(panel, sizes.k, recorder), sizes.k, sums, recorder);
  }
}

function chooseVariant(product: Product, depth: number, recorder: Recorder): Variant {
  const { traits } = recorder;
  return pickVariant(recorder, withMatrixUnits(variantsFor(product, traits), product, depth, traits));
}

/** Plans what is left of a gemm with k = 0 or alpha = 0: `C = beta * C`. */
export function planScale(call: ResolvedScale<StorageBuffer>, recorder: Recorder): void {
  const { m, n, batchCount, beta, dtype } = call;
  const { traits } = recorder;
  const whole = { m, n, k: 0, batchCount };
  const c: Matrix = { span: call.c, dtype, ld: call.ldc, stride: call.strideC };
  const output = outputFormat(dtype, traits);
  for (const part of panels(whole, panelSizesOfOutput(whole, c, traits))) {
    const panel = partOfMatrix(c, part, part.row, part.column, part.m, part.n);
    const { span, start } = bindMatrix(panel, traits.storageAlignment);
    const { uniforms, groups } = entriesLaunch(output, entriesOf(part, panel, start, beta), { beta });
    recorder.launch({ kernel: scale({ output }), storage: { c: span }, uniforms, groups });
  }
}

/** One panel of C with all of k, of which at most `depth` terms at a time fit into bindings. */
function multiply(product: Product, variant: Variant, depth: number, sums: SumsMemory, recorder: Recorder): void {
  const { m, n, k, batchCount } = product;
  const { traits } = recorder;
  const output = outputFormat(product.c.dtype, traits);
  const entries = batchCount * m * n;
  const wanted = depth < k ? 1 : splitsThatFit(variant.splits, entries, traits);
  const range = wanted === 1 ? k : Math.ceil(k / wanted / DEPTH_MULTIPLE) * DEPTH_MULTIPLE;
  const splits = Math.ceil(k / range);
  if (splits === 1 && depth >= k && output !== 'half-words') {
    launchProduct(product, variant, { depth: k, count: 1, stride: 0 }, recorder);
    return;
  }

  const span = sums(splits * entries * SUM_BYTES);
  const c: Matrix = { span, dtype: 'f32', ld: n, stride: batchCount === 1 ? 0 : m * n };
  for (const [start, length] of cuts(k, depth)) {
    const terms = { batch: 0, row: 0, column: 0, depth: start, batchCount, m, n, k: length };
    const panel = length === k ? product : partOf(product, terms);
    const partial: Product = { ...panel, alpha: 1, beta: start === 0 ? 0 : 1, c };
    launchProduct(partial, variant, { depth: range, count: splits, stride: entries }, recorder);
  }
  finishProduct(product, c, splits, recorder);
}

/** `C = alpha * sums + beta * C`. */
function finishProduct(product: Product, sums: Matrix, splits: number, recorder: Recorder): void {
  const { m, n, batchCount, alpha, beta, c } = product;
  const { traits } = recorder;
  const output = outputFormat(c.dtype, traits);
  const { span, start } = bindMatrix(c, traits.storageAlignment);
  const own = { splits, split_stride: batchCount * m * n, alpha, beta };
  const { uniforms, groups } = entriesLaunch(output, entriesOf(product, c, start, beta), own);
  recorder.launch({ kernel: finish({ output }), storage: { sums: sums.span, c: span }, uniforms, groups });
}

function entriesOf(
  { m, n, batchCount }: Pick<Product, 'm' | 'n' | 'batchCount'>,
  { ld, stride }: Matrix,
  start: number,
  beta: number,
): EntriesShape {
  return { m, n, batchCount, ld, stride, start, readsC: beta !== 0 };
}

function isWhole(product: Product, part: Part): boolean {
  return part.batchCount === product.batchCount && part.m === product.m && part.n === product.n;
}

function splitsThatFit(splits: number, entries: number, traits: DeviceTraits): number {
  const most = Math.floor(bytesOfPanel(traits) / SUM_BYTES / entries);
  return Math.max(1, Math.min(splits, most));
}

/** Panels come one after the other and share the memory; the first is the largest, but may be split less. */
function sumsMemory(recorder: Recorder): SumsMemory {
  let memory: Span | undefined;
  return (bytes) => {
    if (memory === undefined || memory.byteLength < bytes) memory = recorder.scratch(bytes);
    return { ...memory, byteLength: bytes };
  };
}
