import { checkedRun, type Kernel, type ResolvedRun, type RunShape } from '@concord/backend-core/kernel';
import type { WebGpuClient } from '../../src/client/webgpu-client.ts';
import type { DeviceTraits, StorageBuffer } from '../../src/kernels/recorder.ts';
import { planRun } from '../../src/kernels/run/plan-run.ts';
import { download, pretending, upload } from './device-values.ts';

/** A geometry, what its float32 inputs hold, and the device that is planned for. */
export interface RunOnDevice extends Omit<RunShape, 'kernel'> {
  /** From the first to the last element of each input, gaps included. */
  readonly data: readonly ArrayLike<number>[];
  readonly params?: readonly number[];
  /** Traits instead of the device's own. */
  readonly traits?: Partial<DeviceTraits>;
}

/** The content of each of a kernel's float32 outputs; 0 where it stores nothing. */
export async function runOnDevice(
  client: WebGpuClient,
  kernel: Kernel,
  { data, params = [], traits = {}, ...asked }: RunOnDevice,
): Promise<number[][]> {
  const geometry = checkedRun(kernel, { inputs: {}, outputs: {}, ...asked });
  const inputs = data.map((values) => upload(client, values));
  const outputs = geometry.outputs.map(({ extent }) => upload(client, new Float32Array(Math.max(1, extent))));
  const inPlace = geometry.outputs.map(() => false);
  const call: ResolvedRun<StorageBuffer> = { geometry, inputs, outputs, params, inPlace };
  client.record('run', (recorder) => planRun(call, pretending(recorder, traits)));
  const results = await Promise.all(outputs.map((span) => download(client, span)));
  for (const { buffer } of [...inputs, ...outputs]) client.deallocate(buffer.id);
  return results;
}
