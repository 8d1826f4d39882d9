import type { CheckedOp } from '@concord/backend-core/implement';
import { planAttention } from './attention/plan.ts';
import { planBinary } from './binary/plan.ts';
import { planConv2d } from './conv2d/plan.ts';
import { planGemm, planScale } from './gemm/plan.ts';
import type { Recorder } from './recorder.ts';
import { planReduce } from './reduce/plan.ts';
import { planUnary } from './unary/plan.ts';

const PLANS = {
  gemm: planGemm,
  scale: planScale,
  conv2d: planConv2d,
  attention: planAttention,
  reduce: planReduce,
  unary: planUnary,
  binary: planBinary,
};

/**
 * Plans a checked call: its operands are spans, under the names that `call.operands` lists.
 *
 * @throws {BackendError} UNSUPPORTED when the device cannot run it, OUT_OF_MEMORY when its scratch memory is too large
 */
export function planCall({ hook, call }: CheckedOp, recorder: Recorder): void {
  // With its operands, what is a CheckedGemm is the ResolvedGemm that its plan takes.
  PLANS[hook](call as never, recorder);
}
