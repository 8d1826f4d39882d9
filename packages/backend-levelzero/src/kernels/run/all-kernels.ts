import { BYTES_OF } from '@concord/backend-core/implement';
import type { RunLayout } from '@concord/backend-core/kernel';
import type { Kernel } from '../kernel.ts';
import { type DeviceTraits, fakeSpan, type Recorder } from '../recorder.ts';
import { planRun } from './plan.ts';
import { checkedSample, SAMPLES } from './sample-calls.ts';

/** The kernels of representative calls on such a device. */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  const kernels = new Set<Kernel>();
  const recorder: Recorder = {
    traits,
    launch: ({ kernel }) => void kernels.add(kernel),
    scratch: fakeSpan,
    copy: () => undefined,
  };
  for (const sample of SAMPLES) {
    const geometry = checkedSample(sample);
    const spans = [...geometry.inputs, ...geometry.outputs].map(({ extent, dtype }: RunLayout) =>
      fakeSpan(extent * BYTES_OF[dtype]),
    );
    planRun({ geometry, spans }, recorder);
  }
  return [...kernels];
}
