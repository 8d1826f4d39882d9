import type { DType, OpName } from '../contract/capabilities.ts';
import type { CheckedAttention } from '../contract/ops/attention.validate.ts';
import type { CheckedBinary } from '../contract/ops/binary.validate.ts';
import type { CheckedConv2d } from '../contract/ops/conv2d.validate.ts';
import type { CheckedGemm } from '../contract/ops/gemm.validate.ts';
import type { CheckedReduce } from '../contract/ops/reduce.validate.ts';
import type { CheckedUnary } from '../contract/ops/unary.validate.ts';

/** A checked piece of device memory: bytes `byteOffset .. byteOffset + byteLength - 1` of a native buffer. */
export interface Operand<Buffer> {
  readonly buffer: Buffer;
  readonly byteOffset: number;
  /** From the first to the last byte of the operand. */
  readonly byteLength: number;
}

/** A checked call with an operand in the device's memory for each pointer that it had. */
export type WithOperands<Shape, Names extends string, Buffer> = Shape & {
  readonly [Name in Names]: Operand<Buffer>;
} & {
  /** The method that was called, for messages. */
  readonly opName: OpName;
};

/** A checked `gemm`, `batchedGemm` (or `gemmF16`) with k > 0 and alpha != 0. A plain gemm has `batchCount` 1. */
export type ResolvedGemm<Buffer> = WithOperands<CheckedGemm, 'a' | 'b' | 'c', Buffer>;

/** What is left of a gemm with k = 0 or alpha = 0: `C = beta * C`, where beta 0 writes zeros without reading C. */
export interface ResolvedScale<Buffer> {
  /** The method that was called, for messages. */
  readonly opName: OpName;
  readonly m: number;
  readonly n: number;
  readonly beta: number;
  readonly ldc: number;
  readonly strideC: number;
  readonly batchCount: number;
  readonly dtype: DType;
  readonly c: Operand<Buffer>;
}

/** A checked `conv2dForward`. */
export type ResolvedConv2d<Buffer> = WithOperands<CheckedConv2d, 'input' | 'filter' | 'output', Buffer>;
/** A checked `attention`. */
export type ResolvedAttention<Buffer> = WithOperands<CheckedAttention, 'q' | 'k' | 'v' | 'o', Buffer>;
/** A checked `reduce`. */
export type ResolvedReduce<Buffer> = WithOperands<CheckedReduce, 'output', Buffer> & {
  /** undefined when the axis is empty: then there is nothing to read. */
  readonly input: Operand<Buffer> | undefined;
};
/** A checked `unary`; input and output are disjoint or the same. */
export type ResolvedUnary<Buffer> = WithOperands<CheckedUnary, 'input' | 'output', Buffer>;
/** A checked `binary`; output is disjoint from a and b or the same as one of them. */
export type ResolvedBinary<Buffer> = WithOperands<CheckedBinary, 'a' | 'b' | 'output', Buffer>;
