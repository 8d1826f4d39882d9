import { ofType } from '@concord/variants';
import type { Value } from '@concord/spirv-builder';
import type { FloatDType } from '@concord/backend-core';
import { groupIndex } from '../work.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { bytesOf, loadElement, storeElement } from './storage.ts';
import { placeOf, SPLIT_PARAMETERS } from './table.ts';

// What is known of the instructions of matrix engines (XMX).

/** Terms that one instruction of a matrix engine adds up, and the rows of C that it does so for. */
export const BLOCK_DEPTH = 16;
const BLOCK_ROWS = 8;

/** Work-items of a sub-group that an instruction is of: columns of its part of C. */
export type EngineLanes = 8 | 16;

/** Every size of sub-groups that there are engines for: 8 on Xe-HPG, 16 on Xe-HPC and newer. */
export const MATRIX_LANES: readonly EngineLanes[] = [8, 16];

/**
 * The built-in that adds a product of halves, 8 x 16 times 16 x lanes, to 8 rows of float32 (cl_intel_subgroup_matrix_
 * multiply_accumulate): by the size of sub-groups, which comes with the type of the first operand.
 */
const MULTIPLY_ACCUMULATE: Readonly<Record<EngineLanes, string>> = {
  8: '_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_iS_Dv8_f',
  16: '_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f',
};

/** The minimal speed of an engine, as a multiple of other units'. */
export const ENGINE_SPEEDUP = 8;

/** Blocks of A, and of B, that a sub-group has at a time: 32 rows by four times its lanes. */
const BLOCKS = 4;
/** Sub-groups of a group, along n and along m. */
const SUBGROUPS_N = 2;
const SUBGROUPS_M = 4;

/** Entries of C that a group computes. */
export const matrixTile = (lanes: EngineLanes): { readonly m: number; readonly n: number } => ({
  m: SUBGROUPS_M * BLOCKS * BLOCK_ROWS,
  n: SUBGROUPS_N * BLOCKS * lanes,
});

/** The layout of blocks of B for an engine. */
export const columnsOf = (lanes: EngineLanes): 'columns of 8' | 'columns of 16' => `columns of ${lanes}`;

/** Parameters of {@link matrixPack}. */
export interface MatrixPackParams {
  /**
   * Lines of a block: rows of op(A), where a row's pairs lie side by side; or columns of op(B) for that many work-items, where
   * a pair of rows does.
   */
  readonly block: 'rows' | 'columns of 8' | 'columns of 16';
  /** True if pairs of terms lie in words already: neighbours, at multiples of four bytes, and an even number of them. */
  readonly hasWords: boolean;
}

/** Work-items of a group; each writes one word. */
export const MATRIX_PACK_GROUP = 256;

/** Lines of a block. */
export function linesOf(block: MatrixPackParams['block']): number {
  return block === 'rows' ? BLOCK_ROWS : block === 'columns of 8' ? 8 : 16;
}

/**
 * Lays halves out in the blocks that a matrix engine takes: `blocks[batch][line / lines][term / 16]`, of pairs of terms, low
 * half first. Blocks of rows are `[line][pair]`, blocks of columns `[pair][line]`. Missing lines and terms are zero.
 * A work-item makes one word; neighbours write neighbours.
 */
export const matrixPack: (params: MatrixPackParams) => Kernel = variants(({ block, hasWords }: MatrixPackParams) =>
  defineKernel({
    name: `gemm/matrix-pack ${block}${hasWords ? ', words' : ''}`,
    parameters: {
      source: hasWords ? 'u32*' : 'f16*',
      blocks: 'u32*',
      ...ofType('u32', 'lines terms'),
      ...ofType('u64', 'line_step term_step source_stride'),
      /** Blocks along the terms, and words of one matrix and of all. */
      ...ofType('u32', 'depth matrix_words words'),
    },
    groupSize: [MATRIX_PACK_GROUP, 1, 1],
    write: (k, { module, args }) => {
      const [u32, u64, u16] = [module.int(32), module.int(64), module.int(16)];
      const lines = linesOf(block);
      const pairs = BLOCK_DEPTH / 2;
      const index = k.uconvert(k.add(k.mul(groupIndex(k), MATRIX_PACK_GROUP), k.localId(0)), u32);
      k.when(k.ult(index, args.words), () => {
        const batch = k.udiv(index, args.matrix_words);
        const word = k.umod(index, args.matrix_words);
        const number = k.udiv(word, lines * pairs);
        const within = k.umod(word, lines * pairs);
        const [inner, outer] = [block === 'rows' ? pairs : lines, block === 'rows' ? lines : pairs];
        const [fast, slow] = [k.umod(within, inner), k.umod(k.udiv(within, inner), outer)];
        const [lineIn, pair] = block === 'rows' ? [slow, fast] : [fast, slow];
        const line = k.add(k.mul(k.udiv(number, args.depth), lines), lineIn);
        const term = k.add(k.mul(k.umod(number, args.depth), BLOCK_DEPTH), k.mul(pair, 2));
        const isLine = k.ult(line, args.lines);
        const start = k.mul(k.uconvert(batch, u64), args.source_stride);
        const place = k.add(
          k.add(start, k.mul(k.uconvert(line, u64), args.line_step)),
          k.mul(k.uconvert(term, u64), args.term_step),
        );
        const zero = k.constant(u32, 0);
        if (hasWords) {
          const [value] = k.ifElse(
            k.and(isLine, k.ult(term, args.terms)),
            () => [k.load(k.at(args.source, k.lshr(place, 1)))],
            () => [zero],
          );
          k.store(k.at(args.blocks, index), value as Value);
          return;
        }
        const bits = k.bitcast(args.source, module.globalPointer(u16));
        const [low, high] = [0, 1].map((i) => {
          const [half] = k.ifElse(
            k.and(isLine, k.ult(k.add(term, i), args.terms)),
            () => [k.uconvert(k.load(k.at(bits, i === 0 ? place : k.add(place, args.term_step))), u32)],
            () => [zero],
          );
          return half as Value;
        }) as [Value, Value];
        k.store(k.at(args.blocks, index), k.or(low, k.shl(high, 16)));
      });
    },
  }),
);

/** Parameters of {@link matrix}. */
interface MatrixParams {
  readonly lanes: EngineLanes;
  readonly output: FloatDType;
}

/**
 * `C = alpha op(A) op(B) + beta C` of halves on matrix engines, summed in float32, from blocks that `matrixPack` has laid out.
 *
 * A sub-group computes 4 x 4 blocks of C. For every 16 terms it reads 4 blocks of A and 4 of B, each with one block read as the
 * engine wants it, and issues 16 instructions. Blocks are there for whole tiles; what lies beyond C is not written.
 */
export const matrix: (params: MatrixParams) => Kernel = variants(({ lanes, output }: MatrixParams) =>
  defineKernel({
    name: `gemm/matrix ${output} ${BLOCKS * BLOCK_ROWS}x${BLOCKS * lanes} of ${lanes}`,
    parameters: {
      ...ofType('u32*', 'a b'),
      c: `${output}*`,
      ...ofType('u32', 'm n'),
      /** Blocks along the terms, which `k` and `depth` count too; and words between matrices. */
      ...ofType('u32', 'blocks a_stride b_stride'),
      c_ld: 'u64',
      ...SPLIT_PARAMETERS,
      ...ofType('f32', 'alpha beta'),
    },
    groupSize: [lanes, SUBGROUPS_N * SUBGROUPS_M, 1],
    subgroupSize: lanes,
    registers: 'large',
    write: (k, { module, args }) => {
      const [f32, u32, u64, u16] = [module.float(32), module.int(32), module.int(64), module.int(16)];
      const block = Array.from({ length: BLOCKS }, (_, index) => index);
      const ofA = module.vector(lanes === 8 ? u32 : u16, BLOCK_ROWS);
      const ofB = module.vector(u32, 8);
      const sum = module.vector(f32, BLOCK_ROWS);
      const multiplyAdd = module.importFunction(MULTIPLY_ACCUMULATE[lanes], { a: ofA, b: ofB, c: sum }, sum);

      const { batch, begin, end, c } = placeOf(k, k.groupId(2), args);
      const [from, to] = [k.uconvert(begin, u32), k.uconvert(end, u32)];
      const subgroup = k.subgroupId();
      const blockRow = k.mul(
        k.add(k.mul(k.uconvert(k.groupId(1), u32), SUBGROUPS_M), k.udiv(subgroup, SUBGROUPS_N)),
        BLOCKS,
      );
      const blockColumn = k.mul(
        k.add(k.mul(k.uconvert(k.groupId(0), u32), SUBGROUPS_N), k.umod(subgroup, SUBGROUPS_N)),
        BLOCKS,
      );
      const [firstRow, firstColumn] = [k.mul(blockRow, BLOCK_ROWS), k.mul(blockColumn, lanes)];

      // Places are 32-bit numbers of bytes: one addition for each block.
      const [bytesOfA, bytesOfB] = [2 * BLOCK_ROWS * BLOCK_DEPTH, 2 * lanes * BLOCK_DEPTH];
      const linesFrom = (stride: Value, first: Value, bytes: number): Value[] =>
        block.map((i) =>
          k.add(k.mul(k.mul(k.uconvert(batch, u32), stride), 4), k.mul(k.mul(k.add(first, i), args.blocks), bytes)),
        );
      const [aLines, bLines] = [
        linesFrom(args.a_stride, blockRow, bytesOfA),
        linesFrom(args.b_stride, blockColumn, bytesOfB),
      ];
      const [aBytes, bBytes] = [bytesOf(k, args.a), bytesOf(k, args.b)];
      const pointer = (bytes: Value, at: Value, type: typeof u32): Value =>
        k.bitcast(k.at(bytes, at), module.globalPointer(type));

      const zeros = block.flatMap(() => block.map(() => k.constant(sum, 0)));
      const start = [k.mul(from, bytesOfA), k.mul(from, bytesOfB), ...zeros];
      const [, , ...sums] = k.forLoop({ from, to, unroll: 'dont-unroll' }, start, (_, carried) => {
        const [aAt, bAt, ...before] = carried as [Value, Value, ...Value[]];
        const a = aLines.map((line) =>
          k.subgroupBlockRead(pointer(aBytes, k.add(line, aAt), lanes === 8 ? u32 : u16), ofA),
        );
        const b = bLines.map((line) => k.subgroupBlockRead(pointer(bBytes, k.add(line, bAt), u32), ofB));
        const after = before.map((old, index) =>
          k.call(multiplyAdd, a[Math.floor(index / BLOCKS)] as Value, b[index % BLOCKS] as Value, old),
        );
        return [k.add(aAt, bytesOfA), k.add(bAt, bytesOfB), ...after];
      });

      const lane = k.subgroupLocalId();
      const write = (result: (entry: Value, product: Value) => Value): void => {
        for (const j of block) {
          const column = k.add(firstColumn, k.add(lane, j * lanes));
          k.when(k.ult(column, args.n), () => {
            const top = k.add(c, k.uconvert(column, u64));
            for (const i of block) {
              const blockTop = k.math('u_min', k.add(firstRow, i * BLOCK_ROWS), args.m);
              const rows = k.math('u_min', k.sub(args.m, blockTop), k.constant(u32, BLOCK_ROWS));
              k.forLoop({ to: rows, unroll: 'dont-unroll' }, [], (row) => {
                const place = k.mul(k.uconvert(k.add(blockTop, row), u64), args.c_ld);
                const entry = k.at(args.c, k.add(top, place));
                const product = k.mul(k.extractAt(sums[i * BLOCKS + j] as Value, row), args.alpha);
                storeElement(k, output, entry, result(entry, product));
              });
            }
          });
        }
      };
      k.ifElse(
        k.ne(args.beta, 0),
        () => {
          write((entry, product) => k.fma(args.beta, loadElement(k, output, entry), product));
          return [];
        },
        () => {
          write((_, product) => product);
          return [];
        },
      );
    },
  }),
);
