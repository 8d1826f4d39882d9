import type { CheckedRun } from '@concord/backend-core/kernel';
import type { RunData } from '@concord/backend-cpu/reference';
import { callOf, faultsOf } from '../../../backend-cpu/test/run-memory.ts';
import type { WasmTraits } from '../../src/kernels/kernel.ts';
import { runKernel } from '../../src/kernels/run/run.ts';
import type { WasmBuffer } from '../../src/wasm-buffer.ts';
import { InlineLauncher } from './run-launcher.ts';

export { elements } from '../../../backend-cpu/test/run-memory.ts';

/**
 * Runs a kernel on this thread, and says what is wrong: see `faultsOf`.
 *
 * @param inPlaceOf - for each output the input of the same layout whose memory it is; -1 or left out: separate memory
 */
export function runInline(
  geometry: CheckedRun,
  data: Required<Omit<RunData, 'intervals'>>,
  traits: Partial<WasmTraits> = {},
  inPlaceOf: readonly number[] = [],
): readonly string[] {
  const launcher = new InlineLauncher(traits);
  const call = callOf({ geometry, data, inPlaceOf }, (bytes): WasmBuffer => {
    const address = launcher.temporary(bytes.length);
    launcher.bytes(address, bytes.length).set(bytes);
    return { address, bytes: bytes.length };
  });
  runKernel(launcher).run(call);
  const memories = call.outputs.map((span) => span && launcher.bytes(span.buffer.address, span.buffer.bytes));
  return faultsOf(call, data, memories, { subnormals: 'kept' });
}
