import type { CheckedCall } from '../ops/op-definition.ts';
import type { ResolvedCall } from './backend-kernels.ts';
import type { Operand } from './operand.ts';

/** The operands of a call that has some, inputs before outputs. Those without elements have no memory. */
export function operandsOf<Buffer>({ kernel, call }: ResolvedCall<Buffer>): Operand<Buffer>[] {
  if (kernel === 'run') return [...call.inputs, ...call.outputs].filter((span) => span !== undefined);
  const spans: Operand<Buffer>[] = [];
  for (const { name } of (call as CheckedCall).operands) {
    const span = (call as unknown as Readonly<Record<string, Operand<Buffer> | undefined>>)[name];
    if (span !== undefined) spans.push(span);
  }
  return spans;
}
