import type { NamedVariant } from '@concord/variants';
import { gridOf } from '../work.ts';
import type { DeviceTraits, Recorder, Span } from '../recorder.ts';
import {
  BLOCK_DEPTH,
  columnsOf,
  ENGINE_SPEEDUP,
  type EngineLanes,
  linesOf,
  matrix,
  MATRIX_LANES,
  MATRIX_PACK_GROUP,
  matrixPack,
  type MatrixPackParams,
  matrixTile,
} from './matrix.spv.ts';
import {
  type Matrix,
  multiplyAddsOf,
  type Product,
  type ProductShape,
  type Steps,
  stepsOfA,
  stepsOfB,
} from './product.ts';
import {
  BOTH,
  DTYPES,
  GROUPS_EACH,
  groupsOf,
  inTime,
  type ProductTable,
  type ReusedScratch,
  splitArguments,
  splitsFor,
  togetherIn,
} from './table.ts';

/** Multiply-adds for each number that is laid out from which on that pays. */
const WORTHWHILE = 64;
/** Bytes of blocks are counted in 32 bits. */
const MAX_BYTES = 2 ** 31;

/** Returns whether a product is large enough that laying out its operands does not count. */
function isWorthPacking({ m, n }: ProductShape): boolean {
  return (m * n) / (m + n) >= WORTHWHILE;
}

/** Returns whether the blocks of a tile, at their minimum, are within what a device allocates and 32 bits count. */
function canLayOut({ k }: ProductShape, lanes: EngineLanes, { maxAllocationBytes }: DeviceTraits): boolean {
  const tile = matrixTile(lanes);
  return bytesOfLine(k) * Math.max(tile.m, tile.n) <= Math.min(MAX_BYTES, maxAllocationBytes);
}

/** Returns the largest part of a product whose operands are laid out at a time. */
function mostLaidOut(
  { m, n, k, batchCount }: Product,
  lanes: EngineLanes,
  together: number,
  { maxGroups, maxAllocationBytes }: DeviceTraits,
): Pick<ProductShape, 'batchCount' | 'm' | 'n'> {
  const limit = Math.min(MAX_BYTES, maxAllocationBytes);
  const tile = matrixTile(lanes);
  const linesThatFit = (size: number): number => Math.max(size, Math.floor(limit / bytesOfLine(k) / size) * size);
  const rows = Math.min(linesThatFit(tile.m), maxGroups[1] * tile.m);
  const columns = Math.min(linesThatFit(tile.n), maxGroups[0] * tile.n);
  const lines = Math.max(padded(Math.min(m, rows), tile.m), padded(Math.min(n, columns), tile.n));
  const matrices = Math.max(1, Math.floor(limit / (bytesOfLine(k) * lines)));
  return { m: rows, n: columns, batchCount: Math.min(batchCount, together, matrices) };
}

/** Products of halves on matrix engines, after what lays their operands out. */
export const matrixTable: ProductTable = {
  ids: MATRIX_LANES.map(matrixId),
  kernelsFor: ({ isCpuLike, matrixEngine: lanes }) => {
    if (isCpuLike || lanes === undefined) return [];
    const packs = (['rows', columnsOf(lanes)] as const).flatMap((block) =>
      BOTH.map((hasWords) => matrixPack({ block, hasWords })),
    );
    return [...packs, ...DTYPES.map((output) => matrix({ lanes, output }))];
  },
  candidates: (product, traits) => {
    const { isCpuLike, matrixEngine: lanes, computeUnits } = traits;
    if (isCpuLike || lanes === undefined || product.m === 1 || product.n === 1) return undefined;
    if (product.a.dtype !== 'f16' || !canLayOut(product, lanes, traits)) return undefined;
    const splits = splitsFor(groupsOf(product, matrixTile(lanes)), product.k, GROUPS_EACH * computeUnits);
    const variant = { id: matrixId(lanes), splits };
    return { variants: [variant], preferred: variant, rank: isWorthPacking(product) ? 5 : 0 };
  },
  mostAtOnce: (product, variant, splits, traits) => {
    const time = inTime(product, ENGINE_SPEEDUP, traits);
    const together = Math.min(togetherIn(splits, traits), time.batchCount);
    const most = mostLaidOut(product, lanesOf(variant), together, traits);
    return { ...most, m: Math.min(most.m, time.m) };
  },
  launch: ({ product, splits, scratch }, variant, recorder) => {
    const lanes = lanesOf(variant);
    const { m, n, k, a, b, c, alpha, beta, batchCount } = product;
    const tile = matrixTile(lanes);
    const rows: Side = { matrix: a, steps: stepsOfA(product), lines: m, block: 'rows', size: tile.m };
    const columns: Side = { matrix: b, steps: stepsOfB(product), lines: n, block: columnsOf(lanes), size: tile.n };
    const left = layOut(rows, product, recorder, scratch);
    const right = layOut(columns, product, recorder, scratch);
    const blocks = { ...splits, depth: Math.ceil(splits.depth / BLOCK_DEPTH) };
    recorder.launch({
      kernel: matrix({ lanes, output: c.dtype }),
      args: {
        a: left.span,
        b: right.span,
        c: c.span,
        m,
        n,
        blocks: depthOf(k),
        a_stride: left.stride,
        b_stride: right.stride,
        c_ld: c.ld,
        ...splitArguments(depthOf(k), blocks, c.stride),
        alpha,
        beta,
      },
      groups: [Math.ceil(n / tile.n), Math.ceil(m / tile.m), batchCount * splits.count],
      multiplyAdds: multiplyAddsOf(product) / ENGINE_SPEEDUP,
      variant: variant.id,
    });
  },
};

/** Id of the variant of an engine. */
export function matrixId(lanes: EngineLanes): string {
  return `gemm/matrix-${lanes}`;
}

const lanesOf = ({ id }: NamedVariant): EngineLanes =>
  MATRIX_LANES.find((lanes) => matrixId(lanes) === id) as EngineLanes;

/** An operand, as lines of terms. */
interface Side {
  readonly matrix: Matrix;
  readonly steps: Steps;
  readonly lines: number;
  readonly block: MatrixPackParams['block'];
  /** Lines of a group's tile, which are all laid out. */
  readonly size: number;
}

/** Lays out an operand's matrices, or the one that all share; `stride` counts words. */
function layOut(
  { matrix: source, steps, lines, block, size }: Side,
  { k, batchCount }: Product,
  recorder: Recorder,
  scratch: ReusedScratch,
): { readonly span: Span; readonly stride: number } {
  const matrices = source.stride === 0 ? 1 : batchCount;
  const matrixWords = (padded(lines, size) / linesOf(block)) * depthOf(k) * linesOf(block) * (BLOCK_DEPTH / 2);
  const words = matrices * matrixWords;
  const stride = source.stride === 0 ? 0 : matrixWords;
  // Parts that differ in their rows alone have the same columns.
  const contents = [source.span.byteOffset, lines, matrices].join();
  const { span, isFilled } = scratch.take(block, 4 * words, contents);
  if (isFilled) return { span, stride };
  const isEven = [k, steps.line, source.stride].every((elements) => elements % 2 === 0);
  const hasWords = steps.term === 1 && isEven && source.span.byteOffset % 4 === 0;
  recorder.launch({
    kernel: matrixPack({ block, hasWords }),
    args: {
      source: source.span,
      blocks: span,
      lines,
      terms: k,
      line_step: steps.line,
      term_step: steps.term,
      source_stride: source.stride,
      depth: depthOf(k),
      matrix_words: matrixWords,
      words,
    },
    groups: gridOf(Math.ceil(words / MATRIX_PACK_GROUP), recorder.traits),
  });
  return { span, stride };
}

/** Bytes of a line that is laid out. */
const bytesOfLine = (k: number): number => 2 * BLOCK_DEPTH * depthOf(k);

/** Blocks along the terms. */
const depthOf = (k: number): number => Math.ceil(k / BLOCK_DEPTH);

const padded = (size: number, multiple: number): number => Math.ceil(size / multiple) * multiple;
