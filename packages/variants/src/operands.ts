import { BYTES_OF, type KernelCall, type Launch, type Operand, type RunLayout } from '@concord/backend-core/implement';

/**
 * A call with operands that are not there: for planning, not for running.
 *
 * @param fakeOperand - a span that stands for a separate allocation
 */
export function withFakeOperands<Buffer>(
  op: KernelCall,
  fakeOperand: (byteLength: number) => Operand<Buffer>,
): Launch<Buffer> {
  const fake = (elements: number, dtype: RunLayout['dtype']): Operand<Buffer> | undefined =>
    elements === 0 ? undefined : fakeOperand(elements * BYTES_OF[dtype]);
  const given = (operand: Operand<Buffer> | undefined): operand is Operand<Buffer> => operand !== undefined;
  if (op.kernel !== 'run') {
    const operands = op.call.operands.map(({ elements, dtype }) => fake(elements, dtype)).filter(given);
    return { ...op, opName: op.kernel, operands, params: [] };
  }
  const { call, inPlaceOf = [] } = op;
  const inputs = call.inputs.map(({ extent, dtype }) => fake(extent, dtype));
  const outputs = call.outputs.map(({ extent, dtype }, index) => inputs[inPlaceOf[index] ?? -1] ?? fake(extent, dtype));
  const operands = [...inputs, ...outputs].filter(given);
  return { ...op, opName: 'run', operands, params: call.kernel.params.map(() => 0) };
}
