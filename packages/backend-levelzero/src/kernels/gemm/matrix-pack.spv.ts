import type { Value } from '@concord/spirv-builder';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { flatGroupId } from './flat-groups.ts';
import { BLOCK_DEPTH, BLOCK_ROWS } from './matrix-engine.ts';

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
 * half first. Blocks of rows are `[line][pair]`, blocks of columns `[pair][line]`. Zeros stand where there is no line or term.
 * A work-item makes one word; neighbours write neighbours.
 */
export const matrixPack: (params: MatrixPackParams) => Kernel = variants(({ block, hasWords }: MatrixPackParams) =>
  defineKernel({
    name: `gemm/matrix-pack ${block}${hasWords ? ', words' : ''}`,
    parameters: {
      source: hasWords ? 'u32*' : 'f16*',
      blocks: 'u32*',
      lines: 'u32',
      terms: 'u32',
      line_step: 'u64',
      term_step: 'u64',
      source_stride: 'u64',
      /** Blocks along the terms, and words of one matrix and of all. */
      depth: 'u32',
      matrix_words: 'u32',
      words: 'u32',
    },
    groupSize: [MATRIX_PACK_GROUP, 1, 1],
    write: (k, { module, args }) => {
      const [u32, u64, u16] = [module.int(32), module.int(64), module.int(16)];
      const lines = linesOf(block);
      const pairs = BLOCK_DEPTH / 2;
      const index = k.uconvert(k.add(k.mul(flatGroupId(k), MATRIX_PACK_GROUP), k.localId(0)), u32);
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
