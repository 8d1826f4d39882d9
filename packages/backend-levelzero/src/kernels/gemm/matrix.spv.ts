import type { FloatDType } from '@concord/backend-core';
import type { Value } from '@concord/spirv-builder';
import { bytesOf } from '../bytes.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import {
  BLOCKS,
  BLOCK_DEPTH,
  BLOCK_ROWS,
  type EngineLanes,
  MULTIPLY_ACCUMULATE,
  SUBGROUPS_M,
  SUBGROUPS_N,
} from './matrix-engine.ts';
import { placeOf, SPLIT_PARAMETERS } from './splits.ts';
import { loadElement, storeElement } from './storage.ts';

/** Parameters of {@link matrix}. */
export interface MatrixParams {
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
      a: 'u32*',
      b: 'u32*',
      c: `${output}*`,
      m: 'u32',
      n: 'u32',
      /** Blocks along the terms, which `k` and `depth` count too; and words between matrices. */
      blocks: 'u32',
      a_stride: 'u32',
      b_stride: 'u32',
      c_ld: 'u64',
      ...SPLIT_PARAMETERS,
      alpha: 'f32',
      beta: 'f32',
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
