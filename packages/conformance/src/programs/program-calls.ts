import { attentionSuite } from '../cases/attention/suite.ts';
import type { AttentionParams } from '../cases/attention/params.ts';
import { batchedGemmSuite } from '../cases/batched-gemm.ts';
import { BINARY, binarySuite } from '../cases/binary.ts';
import { conv2dSuite } from '../cases/conv2d.ts';
import { gemmF16Suite } from '../cases/gemm-f16.ts';
import { gemmSuite } from '../cases/gemm.ts';
import { type ReduceParams, reduceSuite } from '../cases/reduce.ts';
import { topKSuite, type TopKParams } from '../cases/top-k.ts';
import { UNARY, unarySuite } from '../cases/unary.ts';
import type { Conv2dParams } from '../checks/conv2d-data.ts';
import type { ElementwiseParams } from '../checks/elementwise.ts';
import type { ProductParams } from '../checks/product-data.ts';
import type { Params } from '../harness/case-id.ts';
import type { Suite } from '../harness/suite.ts';
import { drawRunParams, perhapsScanned, perhapsScattered, shrinkDrawn } from '../run/drawn.ts';
import type { RunParams } from '../run/params.ts';
import { planAttentionCall } from './attention-calls.ts';
import { planElementwiseCall, planReduceCall, planTopKCall } from './elementwise-calls.ts';
import { planConv2dCall, planProductCall } from './product-calls.ts';
import type { ProgramCall, ProgramCallKind } from './program-call.ts';
import { drawKernelParams, planDrawnCall, planKernelCall, smallerKernelParams } from './run-calls.ts';
import type { CallKind, CallStep } from './step.ts';

/** A kind whose parameters are those of a suite's cases. */
const ofSuite = <P extends Params>(suite: Suite, plan: (params: P) => ProgramCall): ProgramCallKind => ({
  draw: (random) => suite.draw(random).testCase.params,
  plan: (params) => plan(params as P),
  smaller: (params) => suite.smaller(params),
});

/** The calls that programs make. */
export const PROGRAM_CALLS: Readonly<Record<CallKind, ProgramCallKind>> = {
  gemm: ofSuite<ProductParams>(gemmSuite, (params) => planProductCall('gemm', params)),
  gemmF16: ofSuite<ProductParams>(gemmF16Suite, (params) => planProductCall('gemmF16', params)),
  batchedGemm: ofSuite<ProductParams>(batchedGemmSuite, (params) => planProductCall('batchedGemm', params)),
  conv2dForward: ofSuite<Conv2dParams>(conv2dSuite, planConv2dCall),
  attention: ofSuite<AttentionParams>(attentionSuite, planAttentionCall),
  topK: ofSuite<TopKParams>(topKSuite, planTopKCall),
  reduce: ofSuite<ReduceParams>(reduceSuite, planReduceCall),
  unary: ofSuite<ElementwiseParams>(unarySuite, planElementwiseCall(UNARY)),
  binary: ofSuite<ElementwiseParams>(binarySuite, planElementwiseCall(BINARY)),
  kernel: {
    draw: drawKernelParams,
    plan: (params) => planKernelCall(params as RunParams),
    smaller: (params) => smallerKernelParams(params as RunParams),
  },
  drawn: {
    draw: (random) => perhapsScanned(perhapsScattered(drawRunParams(random.uint32()))),
    plan: (params) => planDrawnCall(params as RunParams),
    smaller: (params) => shrinkDrawn(params as RunParams).map((change) => ({ ...params, ...change })),
  },
};

const plans = new WeakMap<CallStep, ProgramCall | null>();

/** The call of a step; undefined where its parameters make none. */
export function planOf(step: CallStep): ProgramCall | undefined {
  let plan = plans.get(step);
  if (plan === undefined) {
    try {
      plan = PROGRAM_CALLS[step.kind].plan(step.params);
    } catch {
      plan = null;
    }
    plans.set(step, plan);
  }
  return plan ?? undefined;
}
