import { WEIGHT_BITS, type WeightDType } from '@concord/backend-core';
import { BYTES_OF, type CheckedBlocks } from '@concord/backend-core/implement';
import {
  blockShift,
  formsBeside,
  shapeOf,
  unsignedBias,
  unsignedOf,
  type WeightForm,
  weightFormOf,
} from '@concord/variants';
import { bindEpilogue } from '../epilogue/fused-epilogue.ts';
import { apartFrom, bindable } from '../operands.ts';
import type { Kernel } from '../kernel.ts';
import type { DeviceTraits, Recorder, Span } from '../recorder.ts';
import type { RunSpec } from '../run/run-spec.ts';
import type { MatvecGroup } from './matvec.wgsl.ts';
import { storagesOn } from './product-kernel.ts';
import { bindMatrix, mostTerms, type Product, type ProductTable, type ProductWork, type Variant } from './product.ts';
import { tilesOn } from './tile.ts';
import { aAtOnce, eachOf, MOST_LINES, unitOf, weightRows, wordsOf } from './weight-rows.wgsl.ts';
import type { WeightProduct } from './plan.ts';

/** Workgroups, smallest team first; that of one invocation for devices where barriers are expensive. */
const GROUPS: readonly MatvecGroup[] = [
  { lanes: 64, team: 1 },
  { lanes: 4, team: 32 },
  { lanes: 2, team: 64 },
  { lanes: 1, team: 128 },
];
const idOf = ({ lanes, team }: MatvecGroup): string => `gemm/weight-rows-${lanes}x${team}`;
const GROUP_OF: ReadonlyMap<string, MatvecGroup> = new Map(GROUPS.map((group) => [idOf(group), group]));

/** Invocations that keep the memory of a large GPU busy. */
const ENOUGH_INVOCATIONS = 131_072;
/** Invocations with more sums each that keep a large GPU as busy as twice as many with fewer. */
const MANY_INVOCATIONS = 48_000;
/** The team that a large GPU was fastest with, and units of a member of a team that are worth one: of one row, and of several. */
const [FASTEST_OF_ONE, FASTEST] = [128, 64];
const [MIN_UNITS_OF_ONE, MIN_UNITS] = [4, 2];
/** Units of a member of a team for which a split is worth to be finished. */
const MIN_SPLIT_UNITS = 16;

const LINES = [1, 2, 4, MOST_LINES] as const;

/** Returns whether the kernels for few rows take a product: rows of B at whole words, blocks of a power of two. */
export function isOfWeightRows(product: Product, traits: DeviceTraits): boolean {
  const { m, n, k, batchCount, transB, weights } = product;
  if (weights === undefined || m > MOST_LINES || !transB || k > mostTerms(traits)) return false;
  const { span, dtype, ld, stride, quant } = weights;
  const inWord = 32 / WEIGHT_BITS[dtype];
  const isWhole = (elements: number): boolean => elements % inWord === 0;
  const places = [n === 1 ? 0 : ld, batchCount === 1 ? 0 : stride, ((span.byteOffset % 4) * inWord) / 4];
  return (
    places.every(isWhole) &&
    (quant === undefined || blockShift(quant.block, k, inWord) !== undefined) &&
    areBindable(product as WeightProduct, traits)
  );
}

/** Returns whether each operand fits into a binding. */
export function areBindable({ a, c, weights }: WeightProduct, traits: DeviceTraits): boolean {
  const { span, blocks } = weights;
  const spans = [span, blocks.scales, blocks.zeros, blocks.offsets, a.span, c.span];
  const { storageAlignment, maxBindingBytes } = traits;
  return spans.every(
    (each) => each === undefined || bindable(each, storageAlignment).span.byteLength <= maxBindingBytes,
  );
}

/** Products of few rows and weights of a type of their own. */
export const weightRowsTable: ProductTable = {
  ids: [...GROUP_OF.keys()],
  kernelsFor: (traits) =>
    storagesOn(traits).flatMap(({ input, output }) =>
      formsBeside(input).flatMap((form) =>
        LINES.flatMap((lines) =>
          [0 as const, ...wordsOf({ ...form, lines })].flatMap((wide) => {
            const reading = { lines, wide: wide > 0, words: wide || 1 } as const;
            return groupsOn(traits).flatMap((group) =>
              eachOf({ ...form, lines }).map((each) => weightRows({ input, output, ...form, ...reading, each, group })),
            );
          }),
        ),
      ),
    ),
  candidates: ({ product }, traits) => {
    if (!isOfWeightRows(product, traits)) return undefined;
    const groups = groupsOn(traits);
    const own = product as WeightProduct;
    const variants = groups.map((group) => variantOf(group, own));
    return { variants, preferred: variantOf(bestOf(own, groups, traits), own) };
  },
  appliesEpilogues: () => true,
  launch: launchWeightRows,
};

function groupsOn({ maxInvocations }: DeviceTraits): readonly MatvecGroup[] {
  return GROUPS.filter(({ lanes, team }) => lanes * team <= maxInvocations);
}

/** The smallest team whose members can have more sums; else the fastest, or the largest below it whose members all have something to do. */
function bestOf(product: WeightProduct, groups: readonly MatvecGroup[], traits: DeviceTraits): MatvecGroup {
  const [single, smallest, ...larger] = groups as readonly [MatvecGroup, MatvecGroup, ...MatvecGroup[]];
  if (tilesOn(traits).length === 0) return single;
  const [fewest, more] = eachOf(readingOf(product));
  const fastest = product.m === 1 ? FASTEST_OF_ONE : FASTEST;
  const units = product.m === 1 && more === undefined ? MIN_UNITS_OF_ONE : MIN_UNITS;
  const fitting = larger.filter(({ team }) => team <= fastest && team * units <= unitsOf(product));
  const enough = [smallest, ...fitting].find((group) => eachFor(product, group) > fewest);
  return enough ?? fitting.at(-1) ?? smallest;
}

function variantOf(group: MatvecGroup, product: WeightProduct): Variant {
  const { lanes, team } = group;
  const columns = lanes * eachFor(product, group);
  const invocations = product.batchCount * Math.ceil(product.n / columns) * lanes * team;
  const lacking = Math.floor(ENOUGH_INVOCATIONS / invocations);
  const worthwhile = Math.floor(unitsOf(product) / (MIN_SPLIT_UNITS * team));
  return { id: idOf(group), splits: team === 1 ? 1 : Math.max(1, Math.min(lacking, worthwhile)) };
}

/** Rows of B that an invocation has sums for: the most that leave enough invocations. */
function eachFor(product: WeightProduct, { team }: MatvecGroup): 2 | 4 {
  const possible = eachOf(readingOf(product));
  const enough = possible.filter((each) => (product.batchCount * product.n * team) / each >= MANY_INVOCATIONS);
  return enough.at(-1) ?? possible[0];
}

function linesOf({ m }: Product): number {
  return LINES.find((count) => count >= m) as number;
}

/** Units of a row of B, if A can be read by vectors. */
function unitsOf(product: WeightProduct): number {
  const reading = readingOf(product);
  return product.k / unitOf({ ...reading, words: wordsOf(reading)[0] });
}

function readingOf(product: WeightProduct): { readonly weights: WeightForm['weights']; readonly lines: number } {
  return { weights: unsignedOf(product.weights.dtype), lines: linesOf(product) };
}

/** Binds the memory of elements of a type: the binding, and the elements in it before the first. */
type Bind = (span: Span, dtype: WeightDType) => { readonly span: Span; readonly start: number };

/** Numbers of blocks as a kernel gets them. */
function blocksOf(name: string, view: CheckedBlocks | undefined, span: Span | undefined, bind: Bind) {
  if (view === undefined || span === undefined)
    return { storage: {}, dtype: undefined, start: 0, strides: [0, 0, 0] } as const;
  const bound = bind(span, view.dtype);
  return { storage: { [name]: bound.span }, dtype: view.dtype, start: bound.start, strides: view.strides } as const;
}

/** What a kernel gets of the integers of a product: nothing of floats. */
interface BoundBlocks {
  readonly storage: Readonly<Record<string, Span>>;
  /** All but `block_shift`. */
  readonly uniforms: Readonly<Record<string, number>>;
}

/** Binds the integers of a product. */
export function blockUniforms({ weights }: WeightProduct, bind: Bind): BoundBlocks {
  const { dtype, quant, blocks } = weights;
  const scales = blocksOf('scales', quant?.scales, blocks.scales, bind);
  const zeros = blocksOf('zeros', quant?.zeros ?? quant?.offsets, blocks.zeros ?? blocks.offsets, bind);
  return {
    storage: { ...scales.storage, ...zeros.storage },
    uniforms: {
      flip: unsignedBias(dtype) * (WEIGHT_BITS[dtype] === 8 ? 0x01010101 : 0x11111111),
      zero_of_all: (quant?.zeros === undefined ? (quant?.zero ?? 0) : 0) + unsignedBias(dtype),
      s_start: scales.start,
      s_batch: scales.strides[0],
      s_row: scales.strides[1],
      s_block: scales.strides[2],
      z_start: zeros.start,
      z_batch: zeros.strides[0],
      z_row: zeros.strides[1],
      z_block: zeros.strides[2],
      z_halves: Number(zeros.dtype === 'f16'),
    },
  };
}

function launchWeightRows(work: ProductWork, variant: Variant, recorder: Recorder): void {
  const group = shapeOf(GROUP_OF, variant);
  const product = work.product as WeightProduct;
  const { a, c, weights } = product;
  const lines = linesOf(product);
  const form = weightFormOf(weights.dtype, weights.quant);
  const reading = readingOf(product);
  const possible = wordsOf(reading).find((words) => isByUnits(product, unitOf({ ...reading, words }), recorder.traits));
  const [wide, words] = [possible !== undefined, possible ?? 1];
  const each = eachFor(product, group);
  launchWeights(work, variant, recorder, {
    unit: unitOf({ ...reading, words }),
    columns: group.lanes * each,
    kernel: (spec) => weightRows({ input: a.dtype, output: c.dtype, ...form, lines, wide, words, each, group }, spec),
  });
}

/** Returns whether B is read by units of a number of elements, and A by four, or eight halves: all begin and end at whole ones. */
export function isByUnits(product: WeightProduct, unit: number, { storageAlignment }: DeviceTraits): boolean {
  const { n, k, transA, batchCount, weights } = product;
  const { span, dtype, ld, stride, quant } = weights;
  const start = (bindable(span, storageAlignment).byteOffset * 8) / WEIGHT_BITS[dtype];
  const a = bindMatrix(product.a, storageAlignment);
  return (
    !transA &&
    [a.start, product.a.ld, product.a.stride].every((count) => count % aAtOnce(product.a.dtype, unit) === 0) &&
    // Rows of a single one, and matrices of a single one, may be any distance apart.
    [k, start, n === 1 ? 0 : ld, batchCount === 1 ? 0 : stride].every((count) => count % unit === 0) &&
    (quant === undefined || blockShift(quant.block, k, unit) !== undefined)
  );
}

/** A kernel of a product with weights: the elements of B that it reads at once, and the columns of a workgroup. */
interface WeightsLaunch {
  readonly unit: number;
  readonly columns: number;
  readonly kernel: (epilogue: RunSpec | undefined) => Kernel;
}

/** Launches a kernel that decodes weights itself. */
export function launchWeights(
  { product, splits }: ProductWork,
  variant: Variant,
  recorder: Recorder,
  { unit, columns, kernel }: WeightsLaunch,
): void {
  const { m, n, k, transA, batchCount, alpha, beta, c, epilogue, weights } = product as WeightProduct;
  const { dtype, quant } = weights;
  const { storageAlignment } = recorder.traits;
  const bound: Bind = (span, of) => {
    const { span: whole, byteOffset } = bindable(apartFrom(c.span, span, recorder), storageAlignment);
    return { span: whole, start: (byteOffset * 8) / WEIGHT_BITS[of] };
  };
  const a = bindMatrix(product.a, storageAlignment);
  const b = bound(weights.span, dtype);
  const result = bindMatrix(c, storageAlignment);
  const [ld, strideB] = [n === 1 ? 0 : weights.ld, batchCount === 1 ? 0 : weights.stride];
  const fused = epilogue === undefined ? undefined : bindEpilogue(epilogue, 1, storageAlignment);
  const tiles = Math.ceil(n / columns);
  const [aRow, aColumn] = transA ? [1, product.a.ld] : [product.a.ld, 1];
  const blocks = blockUniforms(product as WeightProduct, bound);
  recorder.launch({
    kernel: kernel(fused?.spec),
    storage: {
      a: b.span,
      b: a.span,
      c: result.span,
      ...blocks.storage,
      ...fused?.storage,
    },
    moving: { c: ['c_start', BYTES_OF[c.dtype]] },
    uniforms: {
      rows: n,
      lines: m,
      k,
      a_ld: ld / unit,
      b_ld: aRow,
      c_ld: c.ld,
      b_step: aColumn,
      c_step: 1,
      a_start: b.start / unit,
      b_start: a.start,
      c_start: result.start,
      a_stride: strideB / unit,
      b_stride: product.a.stride,
      c_stride: c.stride,
      batches: batchCount,
      depth: splits.depth,
      c_split: splits.stride,
      tiles,
      block_shift: quant === undefined ? 0 : (blockShift(quant.block, k, unit) as number),
      alpha,
      beta,
      reads_c: Number(beta !== 0),
      ...blocks.uniforms,
      ...fused?.uniforms,
    },
    groups: tiles * batchCount * splits.count,
    variant: variant.id,
  });
}
