import type { FloatDType } from '@concord/backend-core';
import type { Value } from '@concord/spirv-builder';
import { ofType, type NamedVariant } from '@concord/variants';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { storeResult } from './storage.ts';
import { LANES, pack, PACK_DEPTH, PANEL_COLUMNS, PANEL_ROWS, TILE } from './pack.spv.ts';
import type { Recorder, Span } from '../recorder.ts';
import { cuts } from '../work.ts';
import {
  type Matrix,
  type Part,
  partOf,
  parts,
  type Product,
  shifted,
  type Steps,
  stepsOfA,
  stepsOfB,
} from './product.ts';
import { BOTH, DTYPES, type ProductTable, type ProductWork, type ReusedScratch } from './table.ts';

/** Parameters of {@link wide}. */
interface WideParams {
  readonly output: FloatDType;
}

const VECTORS = PANEL_COLUMNS / LANES;

/**
 * `C = alpha op(A) op(B) + beta C` for processors: one work-item is one wide job, after K. Goto and R. van de Geijn,
 * "Anatomy of high-performance matrix multiplication" (2008).
 *
 * A comes in packed panels of 8 rows, `panel[p][8]`; B in panels of 32 columns whose rows are `b_step` apart: packed
 * ones, or B itself where it needs no packing. A work-item, which is a separate group, takes one panel of B and
 * `panels_each` panels of A, so that the panel of B stays in the cache. Each pair of panels gives a tile of C, 8 rows
 * by 2 vectors of 16 columns, that is summed in registers: an iteration of the inner loop is 2 loads of B, 8 broadcasts of A
 * and 16 fused multiply-adds.
 *
 * A long k comes in several launches. Between them the sums stay as they are in `sums`, tile by tile; the last one
 * makes C of them.
 */
const wide: (params: WideParams) => Kernel = variants(({ output }: WideParams) =>
  defineKernel({
    name: `gemm/wide ${output}`,
    parameters: {
      ...ofType('f32*', 'a b'),
      c: `${output}*`,
      sums: 'f32*',
      ...ofType('u64', 'm n k a_stride b_stride c_stride b_panel b_step c_ld row_panels panels_each'),
      ...ofType('u32', 'is_first is_last'),
      ...ofType('f32', 'alpha beta'),
    },
    groupSize: [1, 1, 1],
    write: (k, { module, args }) => {
      const f32 = module.float(32);
      const lanes = module.vector(f32, LANES);
      const [columnPanel, batch] = [k.groupId(0), k.groupId(2)];
      const column = k.mul(columnPanel, PANEL_COLUMNS);
      const firstPanel = k.mul(k.groupId(1), args.panels_each);
      const endPanel = k.math('u_min', k.add(firstPanel, args.panels_each), args.row_panels);
      const aBatch = k.at(args.a, k.mul(batch, args.a_stride));
      const bPanel = k.at(args.b, k.add(k.mul(batch, args.b_stride), k.mul(columnPanel, args.b_panel)));
      const cColumn = k.at(args.c, k.add(k.mul(batch, args.c_stride), column));
      const columnsLeft = k.sub(args.n, column);
      const aPanelStep = k.mul(args.k, PANEL_ROWS);
      const tilesBefore = k.mul(k.add(k.mul(batch, args.row_panels), 0), k.groupCount(0));
      const zero = k.constant(lanes, 0);

      k.forLoop({ from: firstPanel, to: endPanel, unroll: 'dont-unroll' }, [], (rowPanel) => {
        const aPanel = k.at(aBatch, k.mul(rowPanel, aPanelStep));
        const tile = k.add(k.add(k.mul(rowPanel, k.groupCount(0)), columnPanel), tilesBefore);
        const tileSums = k.at(args.sums, k.mul(tile, TILE));
        const sumAt = (index: number): Value => k.at(tileSums, index * LANES);
        const start = k.ifElse(
          k.ne(args.is_first, 0),
          () => Array.from({ length: TILE / LANES }, () => zero),
          () => Array.from({ length: TILE / LANES }, (_, index) => k.loadVector(sumAt(index), LANES)),
        );
        const sums = k
          .forLoop({ to: args.k }, [...start, aPanel, bPanel], (_, carried) => {
            const a = carried[TILE / LANES] as Value;
            const b = carried[TILE / LANES + 1] as Value;
            const columns = Array.from({ length: VECTORS }, (_none, v) => k.loadVector(k.at(b, v * LANES), LANES));
            const next = Array.from({ length: PANEL_ROWS }, (_none, row) => {
              const factor = k.splat(lanes, k.load(k.at(a, row)));
              return columns.map((values, v) => k.fma(factor, values, carried[row * VECTORS + v] as Value));
            });
            return [...next.flat(), k.at(a, PANEL_ROWS), k.at(b, args.b_step)];
          })
          .slice(0, TILE / LANES);

        k.ifElse(
          k.eq(args.is_last, 0),
          () => sums.forEach((sum, index) => k.storeVector(sumAt(index), sum)),
          () => {
            const row = k.mul(rowPanel, PANEL_ROWS);
            const rowsLeft = k.sub(args.m, row);
            const cTile = k.at(cColumn, k.mul(row, args.c_ld));
            const isWhole = k.and(k.uge(rowsLeft, PANEL_ROWS), k.uge(columnsLeft, PANEL_COLUMNS));
            const scalars = { alpha: args.alpha, beta: args.beta };
            k.ifElse(
              isWhole,
              () => {
                sums.forEach((sum, index) => {
                  const line = k.at(cTile, k.mul(args.c_ld, Math.floor(index / VECTORS)));
                  storeResult(k, output, k.at(line, (index % VECTORS) * LANES), { sum, ...scalars });
                });
              },
              () => {
                const edge = k.privateArray(f32, TILE);
                sums.forEach((sum, index) => k.storeVector(k.at(edge, index * LANES), sum));
                const rows = k.math('u_min', rowsLeft, PANEL_ROWS);
                const columns = k.math('u_min', columnsLeft, PANEL_COLUMNS);
                k.forLoop({ to: rows, unroll: 'dont-unroll' }, [], (i) => {
                  const line = k.at(cTile, k.mul(i, args.c_ld));
                  k.forLoop({ to: columns, unroll: 'dont-unroll' }, [], (j) => {
                    const sum = k.load(k.at(edge, k.add(k.mul(i, PANEL_COLUMNS), j)));
                    storeResult(k, output, k.at(line, j), { sum, ...scalars });
                  });
                });
              },
            );
          },
        );
      });
    },
  }),
);

/** The part of a product that is packed at a time. */
interface WideLimits {
  /** The maximum number of terms: a panel of B, 128 bytes a term, should stay in the cache of a core. */
  readonly depth: number;
  /** The maximum number of bytes of the packed panels of one operand, unless one panel has more. */
  readonly bytes: number;
  /** Bytes of panels of A that a work-item goes through with one panel of B. */
  readonly bytesEach: number;
  /** Work-items for each thread, so that all end at about the same time. */
  readonly itemsEach: number;
  /**
   * The rows up to which B is not packed if it can be read as it is, nor if it has at most that many bytes: packing
   * pays when it is read often, and from far away.
   */
  readonly fewRows: number;
  readonly fewBytes: number;
}

export const WIDE_LIMITS: WideLimits = {
  depth: 2048,
  bytes: 64 * 2 ** 20,
  bytesEach: 2 * 2 ** 20,
  itemsEach: 16,
  fewRows: 32,
  fewBytes: 2 ** 20,
};

/** The source of panels: some lines and terms of some matrices of an operand. */
interface Block {
  readonly matrix: Matrix;
  readonly steps: Steps;
  readonly lines: number;
  readonly k: number;
  readonly batchCount: number;
  readonly width: 8 | 32;
}

/** Panels as the product reads them. */
interface Panels {
  readonly span: Span;
  /** Elements between matrices, panels and terms. */
  readonly stride: number;
  readonly panel: number;
  readonly step: number;
}

/** Products of fewer terms in all, sums times terms, are not worth packing. */
const FEW_TERMS = 8192;
/** This many terms of a wide tile take as long as one of a direct kernel. */
const ADVANTAGE = 16;

/** Products for processors, of operands that are packed. */
export const wideTable: ProductTable = {
  ids: ['gemm/wide'],
  kernelsFor: ({ isCpuLike }) => {
    if (!isCpuLike) return [];
    const packs = DTYPES.flatMap((input) => [
      ...([8, 32] as const).flatMap((width) => BOTH.map((alongK) => pack({ input, width, alongK }))),
      pack({ input, width: 1, alongK: false }),
    ]);
    return [...DTYPES.map((output) => wide({ output })), ...packs];
  },
  candidates: ({ m, n, k, batchCount }, { isCpuLike }) => {
    if (!isCpuLike) return undefined;
    const terms = m * n * k;
    const tiles = Math.ceil(m / PANEL_ROWS) * Math.ceil(n / PANEL_COLUMNS);
    const isWorthwhile = tiles * TILE * k <= ADVANTAGE * terms && terms * batchCount >= FEW_TERMS;
    const variant = { id: 'gemm/wide', splits: 1 };
    return { variants: [variant], preferred: variant, rank: isWorthwhile ? 2 : 0 };
  },
  launch: launchWide,
};

/**
 * Launches a product for processors: operands are packed block by block, and each pair of blocks is multiplied. Blocks
 * along k go to one block of C one after the other.
 */
export function launchWide(
  { product, scratch }: Pick<ProductWork, 'product' | 'scratch'>,
  { id }: NamedVariant,
  recorder: Recorder,
  limits: WideLimits = WIDE_LIMITS,
): void {
  const { m, n, batchCount } = product;
  const k = Math.min(product.k, limits.depth);
  // The sums of a block have up to four times as many.
  const bytes = Math.min(limits.bytes, recorder.traits.maxAllocationBytes / 8);
  const linesIn = (width: number): number => Math.max(1, Math.floor(bytes / (4 * k * width))) * width;
  const { maxGroups } = recorder.traits;
  const panels = Math.min(maxGroups[0], maxGroups[1]);
  const rows = Math.min(m, linesIn(PANEL_ROWS), panels * PANEL_ROWS);
  const columns = Math.min(n, linesIn(PANEL_COLUMNS), panels * PANEL_COLUMNS);
  const isWhole = rows === m && columns === n;
  const together = isWhole
    ? Math.max(1, Math.floor(bytes / (4 * k * (padded(m, PANEL_ROWS) + padded(n, PANEL_COLUMNS)))))
    : 1;
  const batches = Math.min(batchCount, together, maxGroups[2]);
  for (const part of parts(product, { batchCount: batches, m: rows, n: columns }))
    multiplyPart(product, id, part, k, scratch, recorder, limits);
}

/** One part of C, from at most `depth` terms at a time. */
function multiplyPart(
  product: Product,
  variant: string,
  part: Part,
  depth: number,
  scratch: ReusedScratch,
  recorder: Recorder,
  limits: WideLimits,
): void {
  const { a, b, c, batchCount: count, m, n, alpha, beta } = partOf(product, part);
  const [stepsA, stepsB] = [stepsOfA(product), stepsOfB(product)];
  const [rowPanels, columnPanels] = [Math.ceil(m / PANEL_ROWS), Math.ceil(n / PANEL_COLUMNS)];
  const isLong = depth < product.k;
  const mayStay = product.m <= limits.fewRows || 4 * product.n * product.k <= limits.fewBytes;
  const sums = isLong ? scratch.take('sums', 4 * count * rowPanels * columnPanels * TILE).span : c.span;
  for (const [from, terms] of cuts(product.k, depth)) {
    const blockOf = (matrix: Matrix, steps: Steps, lines: number, width: 8 | 32): Block => ({
      matrix: shifted(matrix, from * steps.term),
      ...{ steps, lines, k: terms, batchCount: matrix.stride === 0 ? 1 : count, width },
    });
    const right = panelsOf('b', blockOf(b, stepsB, n, PANEL_COLUMNS), mayStay, scratch, recorder);
    const left = panelsOf('a', blockOf(a, stepsA, m, PANEL_ROWS), false, scratch, recorder);
    const each = panelsEach(rowPanels, columnPanels * count, terms, recorder.traits.computeUnits, limits);
    recorder.launch({
      kernel: wide({ output: c.dtype }),
      args: {
        ...{ a: left.span, a_stride: left.stride },
        ...{ b: right.span, b_stride: right.stride, b_panel: right.panel, b_step: right.step },
        ...{ c: c.span, c_ld: c.ld, c_stride: c.stride, sums, m, n, k: terms, alpha, beta },
        ...{ row_panels: rowPanels, panels_each: each },
        ...{ is_first: Number(from === 0), is_last: Number(from + terms === product.k) },
      },
      groups: [columnPanels, Math.ceil(rowPanels / each), count],
      variant,
    });
  }
}

/** Panels of A for one work-item: as many as stay in the cache, and so few that every thread has some work-items. */
function panelsEach(panels: number, columns: number, k: number, threads: number, limits: WideLimits): number {
  const cached = Math.max(1, Math.floor(limits.bytesEach / (4 * k * PANEL_ROWS)));
  const blocks = Math.ceil((threads * limits.itemsEach) / columns);
  return Math.max(1, Math.min(cached, Math.ceil(panels / blocks)));
}

/** The panels of a block, in scratch memory that is kept for the next one; `mayStay` where they may be what is in memory already. */
function panelsOf(
  name: string,
  { matrix, steps, lines, k, batchCount, width }: Block,
  mayStay: boolean,
  scratch: ReusedScratch,
  recorder: Recorder,
): Panels {
  const isPlain = steps.line === 1 && matrix.dtype === 'f32' && lines % width === 0;
  if (mayStay && isPlain) return { span: matrix.span, stride: matrix.stride, panel: width, step: steps.term };
  const size = padded(lines, width) * k;
  const contents = [matrix.span.byteOffset, lines, k, batchCount].join(' ');
  const { span, isFilled } = scratch.take(name, 4 * size * batchCount, contents);
  if (!isFilled) {
    const alongK = steps.line !== 1;
    const source_ld = alongK ? steps.line : steps.term;
    recorder.launch({
      kernel: pack({ input: matrix.dtype, width, alongK }),
      args: {
        ...{ source: matrix.span, panels: span, lines, k, source_ld, source_stride: matrix.stride },
        each: PACK_DEPTH,
      },
      groups: [Math.ceil(lines / width), Math.ceil(k / PACK_DEPTH), batchCount],
    });
  }
  return { span, stride: batchCount === 1 ? 0 : size, panel: width * k, step: width };
}

const padded = (lines: number, width: number): number => Math.ceil(lines / width) * width;
