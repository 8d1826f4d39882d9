import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import type { OperandFormats } from './direct.spv.ts';
import { placeOf, SPLIT_PARAMETERS } from './splits.ts';
import { loadElement, storeResult } from './storage.ts';
import { type Tile, TILE_PADDING, TILE_STEP, tileGroup } from './tile.ts';

/** Parameters of {@link local}. */
export interface LocalParams extends OperandFormats {
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
export const local: (params: LocalParams) => Kernel = variants((params: LocalParams) => {
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
      m: 'u64',
      n: 'u64',
      a_ld: 'u64',
      b_ld: 'u64',
      c_ld: 'u64',
      a_stride: 'u64',
      b_stride: 'u64',
      ...SPLIT_PARAMETERS,
      alpha: 'f32',
      beta: 'f32',
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
  /** Where the matrix starts. */
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
