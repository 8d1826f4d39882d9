import { BYTES_OF } from '@concord/backend-core/implement';
import type { RunLayout } from '@concord/backend-core/kernel';
import type { Kernel } from '../kernel.ts';
import type { DeviceTraits, Recorder, Span } from '../recorder.ts';
import { planRun } from './plan.ts';
import { checkedSample, SAMPLES } from './sample-calls.ts';

/** The kernels of representative calls on such a device. */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  const kernels = new Set<Kernel>();
  const recorder: Recorder = {
    traits,
    launch: ({ kernel }) => void kernels.add(kernel),
    scratch: (bytes) => spanOf(bytes),
    copy: () => undefined,
  };
  for (const sample of SAMPLES) {
    const geometry = checkedSample(sample);
    const spans = [...geometry.inputs, ...geometry.outputs].map(({ extent, dtype }: RunLayout) =>
      spanOf(extent * BYTES_OF[dtype]),
    );
    planRun({ geometry, spans }, recorder);
  }
  return [...kernels];
}

/** A span that stands for an allocation of its own. */
function spanOf(byteLength: number): Span {
  return { buffer: { id: 0, address: 0n, size: byteLength }, byteOffset: 0, byteLength };
}
