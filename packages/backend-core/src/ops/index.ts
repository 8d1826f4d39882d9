import type { OpShapes } from '../contract/backend.ts';
import { attention } from './attention.ts';
import { binary } from './binary.ts';
import { conv2dForward } from './conv2d.ts';
import { batchedGemm, gemm, gemmF16 } from './gemm.ts';
import type { CheckedCall, OpDefinition } from './op-definition.ts';
import { reduce } from './reduce.ts';
import { topK } from './top-k.ts';
import { unary } from './unary.ts';

/** An op whose call is one object with a field for each operand. `run` is apart: its operands are its kernel's. */
export type DefinedOp = Exclude<keyof OpShapes, 'run'>;

/** The definition of every op but `run`. */
export const OPS: { readonly [Op in DefinedOp]: OpDefinition<OpShapes[Op], CheckedCall> } = {
  gemm,
  batchedGemm,
  gemmF16,
  conv2dForward,
  attention,
  topK,
  reduce,
  unary,
  binary,
};
