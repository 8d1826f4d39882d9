import type { Tensor } from '@concord/ops';
import type { Launched } from '@concord/ops/listen';
import { unsupported } from '../errors.ts';
import { entryOfAttention, entryOfTopK } from './attention.ts';
import { entryOfConv2d, entryOfGemm } from './products.ts';
import { copiesBefore, entryOfRun } from './run.ts';
import type { Entry, Rules, Tape } from './tape.ts';

/** The entry of any launch of a function of tensors. */
function entryOf(tape: Tape, { backend, op, call }: Launched, before: readonly Tensor[]): Entry {
  switch (op) {
    case 'run':
      return entryOfRun(tape, backend, call, before);
    case 'gemm':
    case 'batchedGemm':
      return entryOfGemm(tape, backend, call);
    case 'conv2dForward':
      return entryOfConv2d(tape, backend, call);
    case 'attention':
      return entryOfAttention(tape, backend, call);
    case 'topK':
      return entryOfTopK(tape, backend, call);
    default:
      throw unsupported(op, 'no function of tensors makes such calls', 'use one of @concord/ops');
  }
}

/** The rules of the launches of functions of tensors. */
export const RULES: Rules = {
  before: (tape, { backend, op, call }) => (op === 'run' ? copiesBefore(tape, backend, call) : []),
  entryOf,
};
