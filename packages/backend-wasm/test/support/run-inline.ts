import type { CheckedRun } from '@concord/backend-core/kernel';
import type { RunData } from '@concord/backend-cpu/reference';
import { callOf, faultsOf } from '../../../backend-cpu/test/run-memory.ts';
import type { WasmTraits } from '../../src/kernels/kernel.ts';
import { runKernel } from '../../src/kernels/run/run.ts';
import { KernelLauncher } from './kernel-launcher.ts';

export { elements } from '../../../backend-cpu/test/run-memory.ts';

/**
 * Runs a kernel on this thread, and says what is wrong: see `faultsOf`.
 *
 * @param inPlaceOf - for each output the input of the same layout whose memory it is; -1 or left out: separate memory
 */
export function runInline(
  geometry: CheckedRun,
  data: Required<Omit<RunData, 'intervals' | 'outputs'>>,
  traits: Partial<WasmTraits> = {},
  inPlaceOf: readonly number[] = [],
): readonly string[] {
  const launcher = new KernelLauncher({ hasFma: false, isShared: false, threads: 2, ...traits });
  const memory = launcher.operands;
  const call = callOf({ geometry, data, inPlaceOf }, (bytes) => memory.make(bytes));
  runKernel(launcher).run(call);
  const memories = call.outputs.map((span) => span && (memory.read(span.buffer) as Uint8Array));
  return faultsOf(call, data, memories, { subnormals: 'kept' });
}
