import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { ofType, shapeOf } from '@concord/variants';
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
import { loadElement, storeResult } from './storage.ts';
import { type DeviceTraits, lanesToAskFor } from '../recorder.ts';
import { multiplyAddsOf } from './product.ts';

/** Shape of the tile of C that a group computes, and of what one of its work-items does. */
interface Tile {
  /** Entries of C along m and along n. */
  readonly m: number;
  readonly n: number;
  /** Entries of C that one work-item computes, along m and along n: multiples of 4. */
  readonly laneM: number;
  readonly laneN: number;
}

/** Terms that are in workgroup memory at a time. */
const TILE_STEP = 16;

/**
 * Elements that rows of a tile in workgroup memory are longer than the tile: transposing writes hit different banks.
 */
const TILE_PADDING = 4;

/** Work-items of a group along n and along m. */
function tileGroup({ m, n, laneM, laneN }: Tile): readonly [number, number, number] {
  return [n / laneN, m / laneM, 1];
}

/** Bytes of workgroup memory. */
function tileBytes({ m, n }: Tile): number {
  return 4 * TILE_STEP * (m + n + 2 * TILE_PADDING);
}

/** Parameters of {@link local}. */
interface LocalParams extends OperandFormats {
  readonly transA: boolean;
  readonly transB: boolean;
  readonly tile: Tile;
  /** Work-items of a sub-group, where the driver's compiler is not to decide. */
  readonly lanes?: 16 | undefined;
}

/**
 * `C = alpha op(A) op(B) + beta C` for GPUs, tiled after the common scheme (V. Volkov, J. Demmel, "Benchmarking GPUs to
 * tune dense linear algebra", SC 2008).
 *
 * A group computes a tile of C. Step by step along k it brings a strip of op(A) and a strip of op(B) to workgroup
 * memory, as `strip[p][line]`, and each work-item adds the outer products of its rows and columns to `laneM x laneN`
 * sums in registers. Neighbouring work-items read neighbours in memory, whichever way the operand lies, and in
 * workgroup memory vectors of four. The rows of a work-item are fours that are `m / (laneM / 4)` apart. Beyond C and
 * beyond k, zeros are taken.
 */
const local: (params: LocalParams) => Kernel = variants((params: LocalParams) => {
  const { input, output, transA, transB, tile, lanes } = params;
  const groupSize = tileGroup(tile);
  const letters = `${transA ? 'T' : 'N'}${transB ? 'T' : 'N'}`;
  const threads = groupSize[0] * groupSize[1];
  return defineKernel({
    name: `gemm/local ${input}-${output} ${letters} ${tile.m}x${tile.n} ${tile.laneM}x${tile.laneN}${lanes === undefined ? '' : ` of ${lanes}`}`,
    parameters: {
      a: `${input}*`,
      b: `${input}*`,
      c: `${output}*`,
      ...ofType('u64', 'm n a_ld b_ld c_ld a_stride b_stride'),
      ...SPLIT_PARAMETERS,
      ...ofType('f32', 'alpha beta'),
    },
    groupSize,
    subgroupSize: lanes,
    write: (k, { module, args }) => {
      const [f32, u64] = [module.float(32), module.int(64)];
      const four = module.vector(f32, 4);
      const step = k.constant(u64, TILE_STEP);
      const [laneX, laneY] = [k.localId(0), k.localId(1)];
      const flat = k.add(k.mul(laneY, groupSize[0]), laneX);
      const [tileRow, tileColumn] = [k.mul(k.groupId(1), tile.m), k.mul(k.groupId(0), tile.n)];
      const { batch, begin, end, c } = placeOf(k, k.groupId(2), args);

      const strip = (source: Source): Strip => {
        const width = source.size + TILE_PADDING;
        return { ...source, width, memory: k.localArray(f32, TILE_STEP * width) };
      };
      const a = strip({
        start: k.at(args.a, k.mul(batch, args.a_stride)),
        ...{
          ld: args.a_ld,
          alongK: !transA,
          first: tileRow,
          count: args.m,
          size: tile.m,
          lane: laneY,
          each: tile.laneM,
        },
      });
      const b = strip({
        start: k.at(args.b, k.mul(batch, args.b_stride)),
        ...{
          ld: args.b_ld,
          alongK: transB,
          first: tileColumn,
          count: args.n,
          size: tile.n,
          lane: laneX,
          each: tile.laneN,
        },
      });
      const fetch = ({ start, ld, alongK, first, count, size, width, memory }: Strip, from: Value): void => {
        k.forLoop({ from: flat, to: k.mul(step, size), step: threads }, [], (index) => {
          const p = alongK ? k.umod(index, step) : k.udiv(index, size);
          const l = alongK ? k.udiv(index, step) : k.umod(index, size);
          const [term, line] = [k.add(from, p), k.add(first, l)];
          const [value] = k.ifElse(
            k.and(k.ult(term, end), k.ult(line, count)),
            () => {
              const place = alongK ? k.add(k.mul(line, ld), term) : k.add(k.mul(term, ld), line);
              return [loadElement(k, input, k.at(start, place))];
            },
            () => [k.constant(f32, 0)],
          );
          k.store(k.at(memory, k.add(k.mul(p, width), l)), value as Value);
        });
      };

      const rows = tile.laneM;
      const vectors = tile.laneN / 4;
      const zeros = Array.from({ length: rows * vectors }, () => k.constant(four, 0));
      const sums = k.forLoop({ from: begin, to: end, step, unroll: 'dont-unroll' }, zeros, (from, before) => {
        fetch(a, from);
        fetch(b, from);
        k.barrier();
        const next = k.forLoop({ to: step, unroll: 'unroll' }, before, (p, sum) => {
          const [x, y] = [foursOf(k, a, p), foursOf(k, b, p)];
          return sum.map((old, index) => {
            const row = Math.floor(index / vectors);
            const factor = k.splat(four, k.extract(x[Math.floor(row / 4)] as Value, row % 4));
            return k.fma(factor, y[index % vectors] as Value, old);
          });
        });
        k.barrier();
        return next;
      });

      const scalars = { alpha: args.alpha, beta: args.beta };
      sums.forEach((sum, index) => {
        const row = k.add(tileRow, lineOf(k, a, Math.floor(index / vectors)));
        k.when(k.ult(row, args.m), () => {
          const line = k.at(args.c, k.add(c, k.mul(row, args.c_ld)));
          for (let j = 0; j < 4; j++) {
            const column = k.add(tileColumn, lineOf(k, b, 4 * (index % vectors) + j));
            k.when(k.ult(column, args.n), () => {
              storeResult(k, output, k.at(line, column), { sum: k.extract(sum, j), ...scalars });
            });
          }
        });
      });
    },
  });
});

/** An operand, and which of its lines a group has. */
interface Source {
  /** The start of the matrix. */
  readonly start: Value;
  readonly ld: Value;
  /** True if neighbours in memory are neighbours along k; else they are neighbouring lines. */
  readonly alongK: boolean;
  /** The first line of the tile, and the number of lines of the operand. */
  readonly first: Value;
  readonly count: Value;
  /** Lines of the tile. */
  readonly size: number;
  /** Number of this work-item along the lines, and lines that it has. */
  readonly lane: Value;
  readonly each: number;
}

/** An operand's part of workgroup memory. */
interface Strip extends Source {
  /** Elements between neighbouring terms. */
  readonly width: number;
  readonly memory: Value;
}

/** Line `i` of a work-item, counted from the start of the tile. */
function lineOf(k: FunctionBuilder, { lane, size, each }: Source, i: number): Value {
  return k.add(k.mul(lane, 4), Math.floor(i / 4) * (size / (each / 4)) + (i % 4));
}

/** Term p of the lines of a work-item, by fours. */
function foursOf(k: FunctionBuilder, strip: Strip, p: Value): readonly Value[] {
  const term = k.mul(p, strip.width);
  return Array.from({ length: strip.each / 4 }, (_, four) =>
    k.loadVector(k.at(strip.memory, k.add(term, lineOf(k, strip, 4 * four))), 4, { align: 16 }),
  );
}

/** Tiles for GPUs, largest first. */
const TILES: readonly Tile[] = [
  { m: 128, n: 64, laneM: 8, laneN: 4 },
  { m: 64, n: 64, laneM: 4, laneN: 4 },
  { m: 32, n: 32, laneM: 4, laneN: 4 },
];

const TILE_OF: ReadonlyMap<string, Tile> = new Map(TILES.map((tile) => [idOf(tile), tile]));

/** Products with a group for each tile, which passes through workgroup memory: for GPUs. */
export const localTable: ProductTable = {
  ids: [...TILE_OF.keys()],
  kernelsFor: (traits) =>
    FORMATS.flatMap((formats) =>
      tilesOn(traits).flatMap((tile) =>
        BOTH.flatMap((transA) =>
          BOTH.map((transB) => local({ ...formats, transA, transB, tile, lanes: lanesToAskFor(traits) })),
        ),
      ),
    ),
  candidates: (product, traits) => {
    if (product.m === 1 || product.n === 1) return undefined;
    const possible = tilesOn(traits);
    // Not even the smallest tile makes groups enough where k is split.
    const splitsOf = (tile: Tile): number =>
      tile === possible.at(-1) ? splitsFor(groupsOf(product, tile), product.k, GROUPS_EACH * traits.computeUnits) : 1;
    const variants = bestFirst(possible, (tile) => tile, product, traits).map((tile) => {
      return { id: idOf(tile), splits: splitsOf(tile) };
    });
    const [preferred] = variants;
    return preferred && { variants, preferred, rank: 2 };
  },
  mostAtOnce: (product, variant, splits, traits) => tilesAtOnce(product, shapeOf(TILE_OF, variant), splits, traits),
  launch: ({ product, splits }, variant, recorder) => {
    const tile = shapeOf(TILE_OF, variant);
    const { id } = variant;
    const { m, n, transA, transB, a, b, batchCount } = product;
    recorder.launch({
      kernel: local({ ...formatsOf(product), transA, transB, tile, lanes: lanesToAskFor(recorder.traits) }),
      args: { ...operands(product, splits), m, n, a_ld: a.ld, b_ld: b.ld },
      groups: [Math.ceil(n / tile.n), Math.ceil(m / tile.m), batchCount * splits.count],
      multiplyAdds: multiplyAddsOf(product),
      variant: id,
    });
  },
};

/** The tiles that a device has room for. */
function tilesOn({ isCpuLike, maxGroupSize, maxLocalBytes }: DeviceTraits): readonly Tile[] {
  if (isCpuLike) return [];
  return TILES.filter((tile) => {
    const [x, y] = tileGroup(tile);
    return x * y <= maxGroupSize && tileBytes(tile) <= maxLocalBytes;
  });
}

function idOf({ m, n }: Tile): string {
  return `gemm/local-${m}x${n}`;
}
