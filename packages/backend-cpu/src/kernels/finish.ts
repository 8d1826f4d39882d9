import { fromF16Array, toF16Array } from '@concord/backend-core';
import type { CheckedEpilogue, Operand } from '@concord/backend-core/implement';
import { evaluateRun } from '@concord/kernel';
import { floatsOf, halvesOf } from './storage-of.ts';

/** A product or convolution that has its operands. */
export interface FinishedCall {
  readonly dtype: 'f32' | 'f16';
  readonly epilogue?: CheckedEpilogue | undefined;
}

/**
 * Computes an op that ends with an epilogue, or stores f16, by float32 results in the layout of its output: these are
 * rounded once, after the epilogue.
 *
 * @param readsOutput - whether `compute` reads what the output held
 * @param compute - fills the results
 */
export function finish(
  call: FinishedCall,
  output: Operand<ArrayBuffer>,
  readsOutput: boolean,
  compute: (results: Float32Array) => void,
): void {
  const { dtype, epilogue } = call;
  const results = dtype === 'f32' ? floatsOf(output) : floatCopyOf(output, readsOutput);
  compute(results);
  if (epilogue !== undefined) applyEpilogue(call, epilogue, output, results);
  else if (dtype === 'f16') halvesOf(output).set(toF16Array(results));
}

function floatCopyOf(output: Operand<ArrayBuffer>, isRead: boolean): Float32Array<ArrayBuffer> {
  const halves = halvesOf(output);
  return isRead ? Float32Array.from(fromF16Array(halves)) : new Float32Array(halves.length);
}

/** The inputs of an epilogue are named operands of the call. */
function applyEpilogue(
  call: FinishedCall,
  { geometry, params }: CheckedEpilogue,
  output: Operand<ArrayBuffer>,
  { buffer, byteOffset, byteLength }: Float32Array,
): void {
  const operands = call as unknown as Readonly<Record<string, Operand<ArrayBuffer>>>;
  const acc = { buffer: buffer as ArrayBuffer, byteOffset, byteLength };
  const inputs = geometry.inputs.map(({ name }) => (name === 'acc' ? acc : operands[`epilogue.${name}`]));
  evaluateRun({ geometry, inputs, outputs: [output], params });
}
