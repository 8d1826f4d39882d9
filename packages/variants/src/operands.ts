import { byteSize, type CheckedOp, type Operand } from '@concord/backend-core/implement';

/** The operands of a call that has some, in the order of `call.operands`. Those without elements have no memory. */
export function operandsOf<Buffer>(call: CheckedOp['call']): Operand<Buffer>[] {
  const spans: Operand<Buffer>[] = [];
  for (const { name } of call.operands) {
    const span = (call as unknown as Readonly<Record<string, Operand<Buffer> | undefined>>)[name];
    if (span !== undefined) spans.push(span);
  }
  return spans;
}

/**
 * The same call with operands that are not there: for planning, not for running.
 *
 * @param fakeOperand - a span that stands for an allocation of its own
 */
export function withFakeOperands<Buffer>(
  { hook, call }: CheckedOp,
  fakeOperand: (byteLength: number) => Operand<Buffer>,
): CheckedOp {
  const operands: Record<string, Operand<Buffer>> = {};
  for (const { name, elements } of call.operands) {
    if (elements > 0) operands[name] = fakeOperand(elements * byteSize(call.dtype));
  }
  return { hook, call: { ...call, ...operands } } as CheckedOp;
}
