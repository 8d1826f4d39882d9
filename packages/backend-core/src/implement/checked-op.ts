import type { OpName } from '../contract/capabilities.ts';
import type { CheckedCall } from '../contract/checks.ts';
import type { CheckedAttention } from '../contract/ops/attention.validate.ts';
import type { CheckedBinary } from '../contract/ops/binary.validate.ts';
import type { CheckedConv2d } from '../contract/ops/conv2d.validate.ts';
import type { CheckedGemm } from '../contract/ops/gemm.validate.ts';
import type { CheckedReduce } from '../contract/ops/reduce.validate.ts';
import type { CheckedUnary } from '../contract/ops/unary.validate.ts';

/** A checked call without its pointers, by the hook that would run it: `hook: 'gemm'` is `doGemm`, and so on. */
export type CheckedOp =
  | { readonly hook: 'gemm'; readonly call: CheckedGemm }
  | { readonly hook: 'scale'; readonly call: CheckedGemm }
  | { readonly hook: 'conv2d'; readonly call: CheckedConv2d }
  | { readonly hook: 'attention'; readonly call: CheckedAttention }
  | { readonly hook: 'reduce'; readonly call: CheckedReduce }
  | { readonly hook: 'unary'; readonly call: CheckedUnary }
  | { readonly hook: 'binary'; readonly call: CheckedBinary };

/** Which hook runs a checked call; undefined when none needs to. */
export function checkedOp(op: OpName, checked: CheckedCall): CheckedOp | undefined {
  switch (op) {
    case 'gemm':
    case 'batchedGemm':
    case 'gemmF16': {
      const call = checked as CheckedGemm;
      if (call.k > 0 && call.alpha !== 0) return { hook: 'gemm', call };
      return call.beta === 1 ? undefined : { hook: 'scale', call };
    }
    case 'conv2dForward':
      return { hook: 'conv2d', call: checked as CheckedConv2d };
    case 'attention':
      return { hook: 'attention', call: checked as CheckedAttention };
    case 'reduce':
      return { hook: 'reduce', call: checked as CheckedReduce };
    case 'unary':
      return { hook: 'unary', call: checked as CheckedUnary };
    case 'binary':
      return { hook: 'binary', call: checked as CheckedBinary };
  }
}
