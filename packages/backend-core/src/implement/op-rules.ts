import type { OpPlan, OpShapes } from '../contract/backend.ts';
import { OP_NAMES, type OpName } from '../contract/capabilities.ts';
import { type CheckedCall, checkOneOf, describe } from '../contract/checks.ts';
import { checkAttention } from '../contract/ops/attention.validate.ts';
import { checkBatchedGemm } from '../contract/ops/batched-gemm.validate.ts';
import { checkBinary } from '../contract/ops/binary.validate.ts';
import { checkConv2d } from '../contract/ops/conv2d.validate.ts';
import { checkGemm, checkGemmF16 } from '../contract/ops/gemm.validate.ts';
import { checkReduce } from '../contract/ops/reduce.validate.ts';
import { checkUnary } from '../contract/ops/unary.validate.ts';
import { invalid } from '../errors/invalid.ts';

/** Where an op's call keeps its pointers and which function knows its rules. */
interface OpRules<Shape> {
  /** Names of the pointer fields. */
  readonly operands: readonly string[];
  /** The one that is written. */
  readonly output: string;
  /** Everything but the pointers; null when there is nothing to do. */
  readonly check: (shape: Shape, outputIsNull: boolean) => CheckedCall | null;
}

/** The rules of every op. */
export const OP_RULES: { readonly [Op in OpName]: OpRules<OpShapes[Op]> } = {
  gemm: { operands: ['a', 'b', 'c'], output: 'c', check: checkGemm },
  batchedGemm: { operands: ['a', 'b', 'c'], output: 'c', check: checkBatchedGemm },
  gemmF16: { operands: ['a', 'b', 'c'], output: 'c', check: checkGemmF16 },
  conv2dForward: { operands: ['input', 'filter', 'output'], output: 'output', check: checkConv2d },
  attention: { operands: ['q', 'k', 'v', 'o'], output: 'o', check: checkAttention },
  reduce: { operands: ['input', 'output'], output: 'output', check: checkReduce },
  unary: { operands: ['input', 'output'], output: 'output', check: checkUnary },
  binary: { operands: ['a', 'b', 'output'], output: 'output', check: checkBinary },
};

/** @throws {BackendError} INVALID_ARGUMENT unless every plan is an object and names an op */
export function checkPlans(plans: readonly OpPlan[]): readonly OpPlan[] {
  if (!Array.isArray(plans)) throw invalid(`prepare takes an array of plans, got ${describe(plans)}`);
  for (const [index, plan] of (plans as unknown[]).entries()) {
    if (typeof plan !== 'object' || plan === null) {
      throw invalid(`plans[${index}] must be { op, call }, got ${describe(plan)}`);
    }
    checkOneOf(`plans[${index}].op`, (plan as { op?: unknown }).op, OP_NAMES);
  }
  return plans;
}
