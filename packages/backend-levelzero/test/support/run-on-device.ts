import type { CheckedRun } from '@concord/backend-core/implement';
import type { RunData } from '@concord/backend-cpu/reference';
import { callOf, faultsOf } from '../../../backend-cpu/test/run-memory.ts';
import type { LevelZeroClient } from '../../src/device/level-zero-client.ts';
import { planOp } from '../../src/kernels/op-plan.ts';
import type { DeviceTraits, Span } from '../../src/kernels/recorder.ts';
import { memory, readBytes } from './spans.ts';

export { elements } from '../../../backend-cpu/test/run-memory.ts';

/**
 * Runs a kernel as a device with these traits would, and says what is wrong: see `faultsOf`.
 *
 * @param inPlaceOf - for each output the input of the same layout whose memory it is; -1 or left out: its own memory
 */
export async function runOnDevice(
  client: LevelZeroClient,
  geometry: CheckedRun,
  data: Required<Omit<RunData, 'intervals' | 'outputs'>>,
  traits: Partial<DeviceTraits>,
  inPlaceOf: readonly number[] = [],
): Promise<readonly string[]> {
  const call = callOf({ geometry, data, inPlaceOf }, (bytes) => {
    const place = memory(client, bytes.length);
    client.write(place, bytes);
    return place.buffer;
  });
  const operands = [...call.inputs, ...call.outputs].filter((span): span is Span => span !== undefined);
  const plan = planOp({ kernel: 'run', call }, operands, { ...client.traits, ...traits });
  client.stream.run('run', plan, operands, call.params);
  const memories = await Promise.all(
    call.outputs.map(async (span) =>
      span === undefined ? undefined : readBytes(client, { ...span, byteOffset: 0, byteLength: span.buffer.size }),
    ),
  );
  const wrong = faultsOf(call, data, memories);
  for (const { buffer } of operands) client.deallocate(buffer.id);
  return wrong;
}
