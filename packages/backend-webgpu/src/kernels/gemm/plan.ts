import type { ResolvedGemm } from '@concord/backend-core/implement';
import type { DeviceTraits, Recorder, Span, StorageBuffer } from '../recorder.ts';
import { type Family, sizeStep, VariantTables } from '@concord/variants';
import { fusedEpilogue } from '../epilogue/fused-epilogue.ts';
import { floatResults } from '../epilogue/plan-epilogue.ts';
import type { Kernel } from '../kernel.ts';
import { directTable } from './direct.ts';
import { f16RoundTripTable } from './f16-round-trip.wgsl.ts';
import type { OfferedProduct, ProductTable, ProductWork, Variant } from './family.ts';
import { finish } from './finish.wgsl.ts';
import { matrixUnitsTable } from './matrix-units.ts';
import { matvecTable } from './matvec.ts';
import { bytesOfPanel, cuts, panels, panelSizes } from './panels.ts';
import { type Matrix, type Part, partOf, type Product, productOf } from './product.ts';
import { outputFormat } from './storage-formats.ts';
import { tiledTable } from './tiled.ts';

/** Memory for sums in float32, made when it is first asked for. */
type SumsMemory = (bytes: number) => Span;

type ChooseVariant = (product: Product, depth: number, recorder: Recorder) => Variant;

const SUM_BYTES = 4;
/** Ranges of k begin at multiples of this: a whole number of iterations of each tile. */
const DEPTH_MULTIPLE = 64;

/**
 * Kernels that compute products. Where several can compute one, the first of them is preferred. A new one is added here, and
 * nothing else has to know of it.
 */
export const productTables: VariantTables<OfferedProduct, ProductWork, Recorder, Kernel, Variant, ProductTable> =
  new VariantTables(
    [matrixUnitsTable, tiledTable, directTable, matvecTable],
    ({ product: { m, n, k, batchCount, transA, transB, a } }) =>
      ['gemm', a.dtype, `${transA ? 'T' : 'N'}${transB ? 'T' : 'N'}`, ...[m, n, k, batchCount].map(sizeStep)].join(' '),
  );

/** `gemm`, `batchedGemm` and both in f16; beside its variants what finishes products, or tries what they need. */
export const gemmFamily: Family<'gemm', StorageBuffer, Recorder, Kernel> = {
  kernel: 'gemm',
  dtypes: ['f32', 'f16'],
  features: { hasEpilogues: true },
  plan: planGemm,
  tables: [productTables, finish, f16RoundTripTable],
};

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
  choose: ChooseVariant = chooseVariant,
): void {
  if (call.epilogue === undefined) planProduct(productOf(call, recorder), recorder, choose);
  else planWithEpilogue(call, recorder, choose);
}

/** A product, and a kernel after it that makes C of its results: C itself in float32, else scratch memory. */
function planWithEpilogue(call: ResolvedGemm<StorageBuffer>, recorder: Recorder, choose: ChooseVariant): void {
  const { m, n, batchCount, beta, dtype } = call;
  const domain = [batchCount, m, n];
  const strides = [call.strideC, call.ldc, 1];
  const product = { ...productOf(call, recorder), hasEpilogue: true };
  const sizes = panelSizes(product, recorder.traits);
  const isOnePanel = [...panels(product, sizes)].length === 1 && sizes.k >= product.k;
  const variant = isOnePanel ? choose(product, sizes.k, recorder) : undefined;
  const fused = variant !== undefined && canFuse(variant, product, recorder) && fusedEpilogue(call, call.c, recorder);
  const again = variant === undefined ? choose : () => variant;
  if (fused) {
    planProduct({ ...product, epilogue: fused }, recorder, again);
    return;
  }
  if (dtype === 'f32') {
    planProduct(product, recorder, again);
    floatResults.finish(call, domain, { strides, dtype }, call.c, { span: call.c, strides }, recorder);
    return;
  }
  const results =
    beta === 0 ? floatResults.scratch(domain, recorder) : floatResults.widened(call.c, domain, strides, recorder);
  const stride = batchCount === 1 ? 0 : m * n;
  planProduct({ ...product, c: { span: results.span, dtype: 'f32', ld: n, stride } }, recorder, again);
  floatResults.finish(call, domain, { strides, dtype }, call.c, results, recorder);
}

/** Returns whether the kernel of a product that is one panel stores C itself, and would apply the epilogue. */
function canFuse(variant: Variant, { c }: Product, { traits }: Recorder): boolean {
  return (
    variant.splits === 1 &&
    productTables.tableOf(variant).appliesEpilogues?.(variant) === true &&
    outputFormat(c.dtype, traits) !== 'half-words'
  );
}

function planProduct(product: Product, recorder: Recorder, choose: ChooseVariant): void {
  const sizes = panelSizes(product, recorder.traits);
  const sums = sumsMemory(recorder);
  for (const part of panels(product, sizes)) {
    const panel = isWhole(product, part) ? product : partOf(product, part);
    multiply(panel, choose(panel, sizes.k, recorder), sizes.k, sums, recorder);
  }
}

function chooseVariant(product: Product, depth: number, recorder: Recorder): Variant {
  return productTables.choose({ product, depth }, recorder);
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
    productTables.launch({ product, splits: { depth: k, count: 1, stride: 0 } }, variant, recorder);
    return;
  }

  const span = sums(splits * entries * SUM_BYTES);
  const whole: Entries = { m, n, batchCount, c: product.c };
  const own = isInterleaved(whole) ? turned(whole) : whole;
  const c: Matrix = { span, dtype: 'f32', ...packed(own, whole) };
  for (const [start, length] of cuts(k, depth)) {
    const terms = { batch: 0, row: 0, column: 0, depth: start, batchCount, m, n, k: length };
    const panel = length === k ? product : partOf(product, terms);
    const partial: Product = { ...panel, alpha: 1, beta: start === 0 ? 0 : 1, c };
    const work = { product: partial, splits: { depth: range, count: splits, stride: entries } };
    productTables.launch(work, variant, recorder);
  }
  const { alpha, beta } = product;
  const uniforms = { splits, split_stride: entries, alpha, beta };
  finish.launch({ ...own, beta, storage: { sums: span }, uniforms }, recorder);
}

/** A batch of C. */
type Entries = Pick<Product, 'm' | 'n' | 'batchCount' | 'c'>;

/** Returns whether a row of each C comes before the second of any. */
function isInterleaved({ m, batchCount, c }: Entries): boolean {
  return batchCount > 1 && m > 1 && c.stride < c.ld;
}

/** The same entries with batches for rows: the finishing kernel expects neighbours in memory to follow each other. */
function turned({ m, n, batchCount, c }: Entries): Entries {
  return { m: batchCount, n, batchCount: m, c: { ...c, ld: c.stride, stride: c.ld } };
}

/** Where sums lie that are packed in the order of `entries`, as `whole` counts rows and batches. */
function packed(entries: Entries, whole: Entries): Pick<Matrix, 'ld' | 'stride'> {
  const { m, n, batchCount } = entries;
  if (entries !== whole) return { ld: m * n, stride: n };
  return { ld: n, stride: batchCount === 1 ? 0 : m * n };
}

function isWhole(product: Product, part: Part): boolean {
  return part.batchCount === product.batchCount && part.m === product.m && part.n === product.n;
}

function splitsThatFit(splits: number, entries: number, traits: DeviceTraits): number {
  const max = Math.floor(bytesOfPanel(traits) / SUM_BYTES / entries);
  return Math.max(1, Math.min(splits, max));
}

/** Panels come one after the other and share the memory; the first is the largest, but may be split less. */
function sumsMemory(recorder: Recorder): SumsMemory {
  let memory: Span | undefined;
  return (bytes) => {
    if (memory === undefined || memory.byteLength < bytes) memory = recorder.scratch(bytes);
    return { ...memory, byteLength: bytes };
  };
}
