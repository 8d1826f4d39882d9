import {
  BYTES_OF,
  type KernelCall,
  type Operand,
  type ResolvedCall,
  type ResolvedRun,
  type RunLayout,
} from '@concord/backend-core/implement';

/** Elements from the first to the last of each operand of a call, in the order of `operandsOf`. */
export function extentsOf({ kernel, call }: KernelCall): number[] {
  if (kernel === 'run') return [...call.inputs, ...call.outputs].map(({ extent }) => extent);
  return call.operands.map(({ elements }) => elements);
}

/**
 * The same call with operands that are not there: for planning, not for running.
 *
 * @param fakeOperand - a span that stands for a separate allocation
 */
export function withFakeOperands<Buffer>(
  op: KernelCall,
  fakeOperand: (byteLength: number) => Operand<Buffer>,
): ResolvedCall<Buffer> {
  if (op.kernel === 'run') {
    const { call, inPlaceOf = [] } = op;
    const fake = ({ extent, dtype }: RunLayout) => (extent === 0 ? undefined : fakeOperand(extent * BYTES_OF[dtype]));
    const inputs = call.inputs.map(fake);
    const resolved: ResolvedRun<Buffer> = {
      geometry: call,
      inputs,
      outputs: call.outputs.map((layout, index) => inputs[inPlaceOf[index] ?? -1] ?? fake(layout)),
      params: call.kernel.params.map(() => 0),
      inPlace: call.outputs.map((_, index) => (inPlaceOf[index] ?? -1) >= 0),
    };
    return { kernel: op.kernel, call: resolved };
  }
  const { kernel, call } = op;
  const operands: Record<string, Operand<Buffer>> = {};
  for (const { name, elements, dtype } of call.operands) {
    if (elements > 0) operands[name] = fakeOperand(elements * BYTES_OF[dtype]);
  }
  return { kernel, call: { ...call, ...operands } } as unknown as ResolvedCall<Buffer>;
}
