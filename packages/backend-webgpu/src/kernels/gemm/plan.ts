import { BYTES_OF, type ResolvedGemm } from '@concord/backend-core/implement';
import { decodeStep, WEIGHT_FEATURES } from '@concord/kernel';
import { BLOCKS, type Family, sizeStep, VariantTables, type Weights } from '@concord/variants';
import type { DeviceTraits, Recorder, Span, StorageBuffer } from '../recorder.ts';
import {
  bytesOfPanel,
  type Matrix,
  MAX_SCRATCH_BYTES,
  mostTerms,
  type OfferedProduct,
  type Part,
  partOf,
  type Product,
  productOf,
  type ProductTable,
  type ProductWork,
  roundDown,
  type Variant,
} from './product.ts';
import { fusedEpilogue } from '../epilogue/fused-epilogue.ts';
import { floatResults, planRun } from '../run/plan-run.ts';
import type { Kernel } from '../kernel.ts';
import { decodeUnitsTable, launchDecodeUnits } from './decode-units.wgsl.ts';
import { directTable } from './direct.wgsl.ts';
import { f16RoundTripTable, finish } from './finish.wgsl.ts';
import { matrixUnitsTable } from './matrix-units.wgsl.ts';
import { matvecTable } from './matvec.ts';
import { outputFormat } from './storage-formats.ts';
import { tiledTable } from './tiled.ts';
import { isOfWeightRows, weightRowsTable } from './weight-rows.ts';
import { isOfWeightUnits, weightUnitsTable } from './weight-units.ts';
import { WEIGHT_BITS, type WeightDType } from '@concord/backend-core';
import { slice } from '../operands.ts';

/** The part of a product that is computed at a time. */
interface PanelSizes {
  readonly batchCount: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

type Sizes = { -readonly [Name in keyof PanelSizes]: PanelSizes[Name] };
type Dimension = 'm' | 'n' | 'k';

/**
 * The largest panels whose operands each fit into a binding: several whole matrices of the batch, or one matrix cut
 * along m, n or k; and no sum has more terms than a loop can have iterations. A panel of C is also held as packed float32 sums
 * when C is not float32 or k is cut.
 */
function panelSizes(product: Product, traits: DeviceTraits): PanelSizes {
  const { batchCount, m, n, k, transA, transB, a, b, c } = product;
  if (product.weights !== undefined) return product;
  const sizes: Sizes = { batchCount, m, n, k: Math.min(k, mostTerms(traits)) };
  const bytes = bytesOfPanel(traits);
  fit(sizes, a, transA ? 'k' : 'm', transA ? 'm' : 'k', bytes);
  fit(sizes, b, transB ? 'n' : 'k', transB ? 'k' : 'n', bytes);
  fit(sizes, c, 'm', 'n', bytes);
  if (c.dtype !== 'f32' || sizes.k < k) {
    fit(sizes, { dtype: 'f32', ld: sizes.n, stride: sizes.m * sizes.n }, 'm', 'n', bytes);
  }
  return sizes;
}

/** The parts of m x n and the batch, in order, each with all of k. */
function* panels(whole: PanelSizes, sizes: PanelSizes): Generator<Part> {
  for (const [batch, batchCount] of cuts(whole.batchCount, sizes.batchCount)) {
    for (const [row, m] of cuts(whole.m, sizes.m)) {
      for (const [column, n] of cuts(whole.n, sizes.n)) {
        yield { batch, row, column, depth: 0, batchCount, m, n, k: whole.k };
      }
    }
  }
}

/** Cuts `total` into pieces of `size`, the last one smaller: their starts and lengths. */
function* cuts(total: number, size: number): Generator<readonly [start: number, length: number]> {
  for (let start = 0; start < total; start += size) yield [start, Math.min(size, total - start)];
}

/**
 * Makes sizes smaller until an operand fits, which stays true as they become smaller still.
 *
 * @param rows - the dimension that its stored rows count
 */
function fit(
  sizes: Sizes,
  { dtype, ld, stride }: Pick<Matrix, 'dtype' | 'ld' | 'stride'>,
  rows: Dimension,
  columns: Dimension,
  bytes: number,
): void {
  const max = Math.floor(bytes / BYTES_OF[dtype]);
  const extent = (sizes[rows] - 1) * ld + sizes[columns];
  if (extent <= max) {
    if (stride > 0) sizes.batchCount = Math.min(sizes.batchCount, 1 + Math.floor((max - extent) / stride));
    return;
  }
  sizes.batchCount = 1;
  if (sizes[columns] > max) sizes[columns] = roundDown(max);
  const fitting = 1 + Math.floor((max - sizes[columns]) / ld);
  if (sizes[rows] > fitting) sizes[rows] = roundDown(fitting);
}

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
const productTables: Tables = new VariantTables(
  [matrixUnitsTable, tiledTable, directTable, matvecTable],
  ({ product: { transA, transB, a, ...sizes } }) =>
    classOf([a.dtype, `${transA ? 'T' : 'N'}${transB ? 'T' : 'N'}`], sizes),
);

/** Kernels that decode weights themselves. */
const weightTables: Tables = new VariantTables(
  [weightUnitsTable, weightRowsTable],
  ({ product: { a, weights, ...sizes } }) => classOf([a.dtype, weights?.dtype as string], sizes),
);

type Tables = VariantTables<OfferedProduct, ProductWork, Recorder, Kernel, Variant, ProductTable>;

const tablesFor = ({ weights }: Product): Tables => (weights === undefined ? productTables : weightTables);

function classOf(what: readonly string[], { m, n, k, batchCount }: PanelSizes): string {
  return ['gemm', ...what, ...[m, n, k, batchCount].map(sizeStep)].join(' ');
}

/** `gemm`, `batchedGemm` and both in f16; beside its variants what finishes products, or tries what they need. */
export const gemmFamily: Family<'gemm', StorageBuffer, Recorder, Kernel> = {
  kernel: 'gemm',
  dtypes: ['f32', 'f16', 'bf16'],
  features: ['epilogues', ...WEIGHT_FEATURES],
  plan: planGemm,
  tables: [productTables, weightTables, decodeUnitsTable, finish, f16RoundTripTable],
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
  if (call.dtype === 'bf16') floatResults.bfloatProduct(call, recorder, (wide) => planGemm(wide, recorder, choose));
  else if (call.epilogue === undefined) planProduct(productOf(call, recorder), recorder, choose);
  else planWithEpilogue(call, recorder, choose);
}

/** A product, and a kernel after it that makes C of its results: C itself in float32, else scratch memory. */
function planWithEpilogue(call: ResolvedGemm<StorageBuffer>, recorder: Recorder, choose: ChooseVariant): void {
  const product = decodedWhole({ ...productOf(call, recorder), hasEpilogue: true }, recorder);
  const sizes = panelSizes(product, recorder.traits);
  const isOnePanel =
    !isToBeDecoded(product, recorder.traits) && [...panels(product, sizes)].length === 1 && sizes.k >= product.k;
  const variant = isOnePanel ? choose(product, sizes.k, recorder) : undefined;
  const fused = variant !== undefined && canFuse(variant, product, recorder) && fusedEpilogue(call, call.c, recorder);
  const again = variant === undefined ? choose : () => variant;
  if (fused) {
    planProduct({ ...product, epilogue: fused }, recorder, again);
    return;
  }
  floatResults.product(call, recorder, (change) => planProduct({ ...product, ...change }, recorder, again));
}

/** Returns whether the kernel of a product that is one panel stores C itself, and would apply the epilogue. */
function canFuse(variant: Variant, product: Product, { traits }: Recorder): boolean {
  return (
    variant.splits === 1 &&
    tablesFor(product).tableOf(variant).appliesEpilogues?.(variant) === true &&
    outputFormat(product.c.dtype, traits) !== 'half-words'
  );
}

function planProduct(product: Product, recorder: Recorder, choose: ChooseVariant): void {
  if (isToBeDecoded(product, recorder.traits)) {
    // Pieces come one after the other and share the memory; the first is the largest.
    let memory: Span | undefined;
    for (const piece of decodablePieces(product, recorder.traits)) {
      const own = isToBeDecoded(piece, recorder.traits) ? decoded(piece, recorder, memory) : piece;
      if (own !== piece) memory ??= own.b.span;
      planProduct(own, recorder, choose);
    }
    return;
  }
  const sizes = panelSizes(product, recorder.traits);
  const sums = sumsMemory(recorder);
  for (const part of panels(product, sizes)) {
    const panel = isWhole(product, part) ? product : partOf(product, part);
    multiply(panel, choose(panel, sizes.k, recorder), sizes.k, sums, recorder);
  }
}

/** Returns whether a product has weights that have to be decoded before it. */
function isToBeDecoded(product: Product, traits: DeviceTraits): product is WeightProduct {
  return product.weights !== undefined && !isOfWeightRows(product, traits) && !isOfWeightUnits(product, traits);
}

/** The product of decoded weights, if they have to be decoded and all of them can be at once. */
function decodedWhole(product: Product, recorder: Recorder): Product {
  if (!isToBeDecoded(product, recorder.traits)) return product;
  const [first] = decodablePieces(product, recorder.traits);
  return first === product ? decoded(product, recorder) : product;
}

function chooseVariant(product: Product, depth: number, recorder: Recorder): Variant {
  return tablesFor(product).choose({ product, depth }, recorder);
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
    tablesFor(product).launch({ product, splits: { depth: k, count: 1, stride: 0 } }, variant, recorder);
    return;
  }

  const span = sums(splits * entries * SUM_BYTES);
  const whole: Entries = { m, n, batchCount, c: product.c };
  const own = isInterleaved(whole) ? transposed(whole) : whole;
  const c: Matrix = { span, dtype: 'f32', ...packed(own, whole) };
  for (const [start, length] of cuts(k, depth)) {
    const terms = { batch: 0, row: 0, column: 0, depth: start, batchCount, m, n, k: length };
    const panel = length === k ? product : partOf(product, terms);
    const partial: Product = { ...panel, alpha: 1, beta: start === 0 ? 0 : 1, c };
    const work = { product: partial, splits: { depth: range, count: splits, stride: entries } };
    tablesFor(product).launch(work, variant, recorder);
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
function transposed({ m, n, batchCount, c }: Entries): Entries {
  return { m: batchCount, n, batchCount: m, c: { ...c, ld: c.stride, stride: c.ld } };
}

/** Returns the place of sums that are packed in the order of `entries`, as `whole` counts rows and batches. */
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

/** A product, and its weights. */
export type WeightProduct = Product & { readonly weights: Weights<StorageBuffer> };

/** The pieces of a product, along the batch and n, whose B can be decoded into memory that fits a binding, and the pool. */
export function* decodablePieces(product: WeightProduct, traits: DeviceTraits): Generator<WeightProduct> {
  const { m, n, k, batchCount, a, weights } = product;
  const max = Math.min(bytesOfPanel(traits), MAX_SCRATCH_BYTES) / BYTES_OF[a.dtype];
  // Rows of what is decoded are padded to 8.
  const most = Math.max(1, Math.floor(max / (k + 8)));
  const columns = n <= most ? n : Math.max(1, most - (most % 8));
  const batches = weights.stride === 0 ? batchCount : Math.max(1, Math.floor(max / ((n + 8) * (k + 8))));
  for (let batch = 0; batch < batchCount; batch += batches) {
    for (let column = 0; column < n; column += columns) {
      const size = { batchCount: Math.min(batches, batchCount - batch), m, n: Math.min(columns, n - column), k };
      if (size.batchCount === batchCount && size.n === n) yield product;
      else yield pieceOf(product, { batch, row: 0, column, depth: 0, ...size });
    }
  }
}

function pieceOf(product: WeightProduct, part: Part): WeightProduct {
  const { weights, transB, k } = product;
  const { batch, column, batchCount, n } = part;
  const { dtype, span, ld, stride, quant } = weights;
  const [rows, columns] = transB ? [n, k] : [k, n];
  const first = batch * stride + column * (transB ? ld : 1);
  const last = first + (batchCount - 1) * stride + (rows - 1) * ld + columns - 1;
  const blocks = BLOCKS.flatMap((name) => {
    const view = quant?.[name];
    if (quant === undefined || view === undefined) return [];
    const [inBatch, inRow, inBlock] = view.strides;
    const start = batch * inBatch + column * inRow;
    const end = start + (batchCount - 1) * inBatch + (n - 1) * inRow + (quant.blocks - 1) * inBlock;
    return [[name, range(weights.blocks[name] as Span, view.dtype, start, end)] as const];
  });
  return {
    ...partOf(product, part),
    weights: { ...weights, span: range(span, dtype, first, last), blocks: Object.fromEntries(blocks) },
  };
}

/** The bytes of the elements from one to another. */
function range(span: Span, dtype: WeightDType, first: number, last: number): Span {
  const start = Math.floor((first * WEIGHT_BITS[dtype]) / 8);
  return slice(span, start, Math.ceil(((last + 1) * WEIGHT_BITS[dtype]) / 8) - start);
}

/** The same product of a B in the dtype of A, which is written to scratch memory first: to `memory`, if it is large enough. */
export function decoded(product: WeightProduct, recorder: Recorder, memory?: Span): Product {
  const { n, k, batchCount, transB, a, weights } = product;
  const { dtype: dtypeB, ld: ldb, stride: strideB, quant: quantB, span, blocks } = weights;
  const step = decodeStep({ n, k, batchCount, transB, dtype: a.dtype, dtypeB, ldb, strideB, quantB });
  const fits = memory !== undefined && memory.byteLength >= step.bytes;
  const b = fits ? { ...memory, byteLength: step.bytes } : recorder.scratch(step.bytes);
  if (!launchDecodeUnits(product, b, recorder)) {
    const inputs = step.inputs.map((name) =>
      name === 'b' ? span : blocks[name.slice('quantB.'.length) as (typeof BLOCKS)[number]],
    );
    planRun({ geometry: step.geometry, inputs, outputs: [b], params: [], inPlace: [false] }, recorder);
  }
  const { ldb: ld, strideB: stride } = step.call;
  return { ...product, weights: undefined, b: { span: b, dtype: a.dtype, ld, stride: batchCount === 1 ? 0 : stride } };
}
