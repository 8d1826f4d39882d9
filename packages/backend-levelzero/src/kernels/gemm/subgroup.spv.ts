import { BYTES_OF } from '@concord/backend-core/implement';
import type { FloatDType } from '@concord/backend-core';
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { ofType, shapeOf } from '@concord/variants';
import { bytesOf, loadElement, pointerAt, storeResult } from './storage.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import type { OperandFormats } from './direct.spv.ts';
import {
  bestFirst,
  BOTH,
  FORMATS,
  formatsOf,
  GROUPS_EACH,
  groupsOf,
  operands,
  placeOf,
  type ProductTable,
  SPLIT_PARAMETERS,
  splitsFor,
  tilesAtOnce,
} from './table.ts';
import { type DeviceTraits, smallestLanes } from '../recorder.ts';
import { type Matrix, multiplyAddsOf, type Product } from './product.ts';

/** The tile of C that a sub-group computes. */
interface SubgroupTile {
  /** Work-items of a sub-group. */
  readonly lanes: 8 | 16;
  readonly rows: 8 | 16;
  /** Columns, in units of `lanes`. */
  readonly vectors: 2 | 4;
}

/** Parameters of {@link subgroup}. */
interface SubgroupParams extends OperandFormats, SubgroupTile {
  /** True if A is transposed: then the tile has no more rows than lanes. */
  readonly transA: boolean;
}

/** Sub-groups of a group, one below the other: they read the same columns of B. */
const SUBGROUPS = 8;

/** Entries of C that a group computes. */
const subgroupTile = ({ lanes, rows, vectors }: SubgroupTile): { readonly m: number; readonly n: number } => ({
  m: rows * SUBGROUPS,
  n: vectors * lanes,
});

/**
 * `C = alpha op(A) B + beta C` for GPUs with sub-groups, without workgroup memory and barriers.
 *
 * A sub-group keeps its tile in registers. Of B it reads a row of the tile at once: a block, whose neighbours lie in
 * neighbouring work-items. Of A it reads `lanes` terms of each row at once, or, where A is transposed, one term of all
 * rows; a multiply-add then takes its factor from the work-item that has it. Terms that do not fill a step come one by one.
 *
 * A tile that would go beyond the last column begins so much earlier and writes what is its own, so that every block lies
 * inside of B; and so for rows, where A is transposed. Else rows that are not there are the last again. Therefore C has at
 * least the columns of a tile, and transposed its rows; A and B are below 2 GiB, and blocks of f16 begin at multiples of
 * four bytes.
 */
const subgroup: (params: SubgroupParams) => Kernel = variants((params: SubgroupParams) => {
  const { input, output, lanes, rows, vectors, transA } = params;
  const atOnce = transA ? 4 : lanes;
  return defineKernel({
    name: `gemm/subgroup ${input}-${output} ${transA ? 'T' : 'N'}N ${rows}x${vectors * lanes} of ${lanes}`,
    parameters: {
      a: `${input}*`,
      b: `${input}*`,
      c: `${output}*`,
      ...ofType('u32', 'm n a_ld b_ld'),
      ...ofType('u64', 'c_ld a_stride b_stride'),
      ...SPLIT_PARAMETERS,
      ...ofType('f32', 'alpha beta'),
    },
    groupSize: [lanes, SUBGROUPS, 1],
    subgroupSize: lanes,
    write: (k, { module, args }) => {
      const [f32, u32, u64] = [module.float(32), module.int(32), module.int(64)];
      const { batch, begin, end, c } = placeOf(k, k.groupId(2), args);
      const [from, to] = [k.uconvert(begin, u32), k.uconvert(end, u32)];
      const row = k.mul(k.add(k.mul(k.uconvert(k.groupId(1), u32), SUBGROUPS), k.subgroupId()), rows);
      const column = k.mul(k.uconvert(k.groupId(0), u32), vectors * lanes);
      const firstRow = transA ? k.math('u_min', row, k.sub(args.m, rows)) : row;
      const firstColumn = k.math('u_min', column, k.sub(args.n, vectors * lanes));
      const tileRows = Array.from({ length: rows }, (_, i) => i);

      // Places are 32-bit numbers of bytes, so that the loop has one addition for each block, and nothing to multiply.
      const size = BYTES_OF[input];
      const startOf = (stride: Value): Value => k.mul(k.uconvert(k.mul(batch, stride), u32), size);
      const [aPitch, bPitch] = [k.mul(args.a_ld, size), k.mul(args.b_ld, size)];
      const aStep = transA ? aPitch : k.constant(u32, size);
      const aStart = startOf(args.a_stride);
      const aLines = transA
        ? [k.add(aStart, k.mul(firstRow, size))]
        : tileRows.map((i) => k.add(aStart, k.mul(k.math('u_min', k.add(firstRow, i), k.sub(args.m, 1)), aPitch)));
      const bLine = k.add(startOf(args.b_stride), k.mul(firstColumn, size));
      const [aSteps, bSteps] = [aStep, bPitch].map((step) =>
        Array.from({ length: atOnce }, (_, t) => k.mul(step, t)),
      ) as [Value[], Value[]];
      const [aBytes, bBytes] = [bytesOf(k, args.a), bytesOf(k, args.b)];
      const columnsOfB = (at: Value, t: number): Value[] =>
        readBlocks(k, input, pointerAt(k, bBytes, k.add(at, bSteps[t] as Value), args.b), vectors);
      /** One term of every row of the tile, the `t`-th from `at` on, after what reads several at once. */
      const rowsOfA = (at: Value): ((t: number) => Value[]) => {
        const block = (line: Value, t: number): Value => {
          const place = k.add(k.add(line, at), aSteps[t] as Value);
          return readBlocks(k, input, pointerAt(k, aBytes, place, args.a), 1)[0] as Value;
        };
        if (!transA) {
          const mine = aLines.map((line) => block(line, 0));
          return (t) => mine.map((value) => k.subgroupBroadcast(value, t));
        }
        return (t) => {
          const term = block(aLines[0] as Value, t);
          return tileRows.map((i) => k.subgroupBroadcast(term, i));
        };
      };
      const singleOfA = (at: Value): Value[] =>
        transA
          ? rowsOfA(at)(0)
          : aLines.map((line) => loadElement(k, input, pointerAt(k, aBytes, k.add(line, at), args.a)));
      const added = (sums: readonly Value[], x: readonly Value[], y: readonly Value[]): Value[] =>
        sums.map((sum, index) => k.fma(x[Math.floor(index / vectors)] as Value, y[index % vectors] as Value, sum));

      const zeros = Array.from({ length: rows * vectors }, () => k.constant(f32, 0));
      const start = [k.mul(from, aStep), k.add(bLine, k.mul(from, bPitch)), ...zeros];
      const whole = k.add(from, k.and(k.sub(to, from), -atOnce));
      const most = k.forLoop({ from, to: whole, step: atOnce, unroll: 'dont-unroll' }, start, (_, carried) => {
        const [aAt, bAt, ...before] = carried as [Value, Value, ...Value[]];
        const x = rowsOfA(aAt);
        let sums: readonly Value[] = before;
        for (let t = 0; t < atOnce; t++) sums = added(sums, x(t), columnsOfB(bAt, t));
        return [k.add(aAt, k.mul(aStep, atOnce)), k.add(bAt, k.mul(bPitch, atOnce)), ...sums];
      });
      const [, , ...sums] = k.forLoop({ from: whole, to }, most, (_, carried) => {
        const [aAt, bAt, ...before] = carried as [Value, Value, ...Value[]];
        return [k.add(aAt, aStep), k.add(bAt, bPitch), ...added(before, singleOfA(aAt), columnsOfB(bAt, 0))];
      });

      const lane = k.subgroupLocalId();
      sums.forEach((sum, index) => {
        const i = k.add(firstRow, Math.floor(index / vectors));
        const j = k.add(firstColumn, k.add(lane, (index % vectors) * lanes));
        const isOwn = k.and(k.and(k.uge(i, row), k.ult(i, args.m)), k.uge(j, column));
        k.when(isOwn, () => {
          const place = k.add(k.mul(k.uconvert(i, u64), args.c_ld), k.uconvert(j, u64));
          storeResult(k, output, k.at(args.c, k.add(c, place)), { sum, alpha: args.alpha, beta: args.beta });
        });
      });
    },
  });
});

/** Neighbouring blocks as float32: of each, one element for every work-item. */
function readBlocks(k: FunctionBuilder, dtype: FloatDType, pointer: Value, count: 1 | 2 | 4): Value[] {
  const [element, f32] = [k.types.float(dtype === 'f32' ? 32 : 16), k.types.float(32)];
  if (count === 1) return [k.fconvert(k.subgroupBlockRead(pointer, element), f32)];
  const block = k.subgroupBlockRead(pointer, k.types.vector(element, count));
  return Array.from({ length: count }, (_, index) => k.fconvert(k.extract(block, index), f32));
}

/** Every tile that there are kernels for, largest first. */
const TILES: readonly SubgroupTile[] = [
  { lanes: 16, rows: 16, vectors: 2 },
  { lanes: 8, rows: 8, vectors: 4 },
];

/** The tiles by id. */
export const SUBGROUP_TILES: ReadonlyMap<string, SubgroupTile> = new Map(TILES.map((tile) => [idOf(tile), tile]));

/**
 * Products with a sub-group for each tile: for GPUs. Without barriers, and with more multiply-adds for each instruction than
 * others.
 */
export const subgroupTable: ProductTable = {
  ids: [...SUBGROUP_TILES.keys()],
  kernelsFor: (traits) =>
    FORMATS.filter(({ input }) => input !== 'f16' || traits.hasF16).flatMap((formats) =>
      possibleTiles(traits).flatMap((tile) => BOTH.map((transA) => subgroup({ ...formats, ...tile, transA }))),
    ),
  candidates: (product, traits) => {
    if (product.m === 1 || product.n === 1) return undefined;
    const wanted = GROUPS_EACH * traits.computeUnits;
    // Halves with A transposed are rare enough not to have kernels for a part of k.
    const canSplit = product.a.dtype === 'f32' || !product.transA;
    const variants = bestFirst(fittingTiles(product, traits), subgroupTile, product, traits).map((tile) => {
      const groups = groupsOf(product, subgroupTile(tile));
      return { id: idOf(tile), splits: canSplit ? splitsFor(groups, product.k, wanted) : 1 };
    });
    const [preferred] = variants;
    return preferred && { variants, preferred, rank: 3 };
  },
  mostAtOnce: (product, variant, splits, traits) =>
    tilesAtOnce(product, subgroupTile(shapeOf(SUBGROUP_TILES, variant)), splits, traits),
  least: (variant) => {
    const tile = shapeOf(SUBGROUP_TILES, variant);
    return { m: tile.rows, n: subgroupTile(tile).n };
  },
  launch: ({ product, splits }, variant, recorder) => {
    const tile = shapeOf(SUBGROUP_TILES, variant);
    const { id } = variant;
    const { m, n, transA, a, b, batchCount } = product;
    const ofGroup = subgroupTile(tile);
    recorder.launch({
      kernel: subgroup({ ...formatsOf(product), ...tile, transA }),
      args: { ...operands(product, splits), m, n, a_ld: a.ld, b_ld: b.ld },
      groups: [Math.ceil(n / ofGroup.n), Math.ceil(m / ofGroup.m), batchCount * splits.count],
      multiplyAdds: multiplyAddsOf(product),
      variant: id,
    });
  },
};

function idOf({ lanes, rows, vectors }: SubgroupTile): string {
  return `gemm/subgroup-${rows}x${lanes * vectors}`;
}

/** The tiles that a device keeps in its registers, largest first. */
function possibleTiles(traits: DeviceTraits): readonly SubgroupTile[] {
  const { isCpuLike, subgroupSizes, maxGroupSize, hasLargeRegisterFile } = traits;
  if (isCpuLike) return [];
  return TILES.filter(({ lanes, rows }) => {
    // Before Xe-HPG, addresses of 64 bits take the registers that 16 rows of 16 work-items want.
    const isKept = rows === 8 || hasLargeRegisterFile || smallestLanes(traits) === 16;
    return isKept && subgroupSizes.includes(lanes) && lanes * SUBGROUPS <= maxGroupSize;
  });
}

/** Returns the tiles that can compute a product: see `subgroup`. */
function fittingTiles(product: Product, traits: DeviceTraits): readonly SubgroupTile[] {
  const { m, n, k, transA, transB, a, b, batchCount } = product;
  if (transB) return [];
  const isF16 = a.dtype === 'f16';
  if (isF16 && !(traits.hasF16 && isByWords(a, transA ? m : 2) && isByWords(b, n))) return [];
  const [rowsOfA, columnsOfA] = transA ? [k, m] : [m, k];
  if (!isCounted(a, rowsOfA, columnsOfA, batchCount) || !isCounted(b, k, n, batchCount)) return [];
  return possibleTiles(traits).filter((tile) => n >= subgroupTile(tile).n && (!transA || m >= tile.rows));
}

/** Returns whether rows, and whatever even column of them, begin at multiples of four bytes. */
function isByWords({ span, ld, stride }: Matrix, columns: number): boolean {
  return span.byteOffset % 4 === 0 && [ld, stride, columns].every((elements) => elements % 2 === 0);
}

/** Returns whether 32 bits count its bytes: as offsets of pointers they have a sign. */
function isCounted({ dtype, ld, stride }: Matrix, rows: number, columns: number, batchCount: number): boolean {
  return BYTES_OF[dtype] * ((batchCount - 1) * stride + (rows - 1) * ld + columns) < 2 ** 31;
}
