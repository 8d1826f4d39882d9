import { BYTES_OF } from '@concord/backend-core/implement';
import { checkedRun, type Kernel, type ResolvedRun, type RunShape } from '@concord/backend-core/kernel';
import { planRun } from '../../src/kernels/run/plan-run.ts';
import type { DeviceTraits, Span, StorageBuffer } from '../../src/kernels/recorder.ts';
import { fakeSpan, PlanRecorder } from './plan-recorder.ts';

/** A geometry, and where its operands lie. */
export interface PlannedRun extends Omit<RunShape, 'kernel' | 'inputs' | 'outputs'> {
  readonly inputs?: RunShape['inputs'];
  readonly outputs?: RunShape['outputs'];
  /** Inputs, then outputs. Default: each in its own buffer. */
  readonly memory?: readonly Span[];
}

/** A `run` with memory that is not there. */
export function fakeRun(kernel: Kernel, { memory, ...asked }: PlannedRun): ResolvedRun<StorageBuffer> {
  const geometry = checkedRun(kernel, { inputs: {}, outputs: {}, ...asked } as Parameters<typeof checkedRun>[1]);
  const spans = [...geometry.inputs, ...geometry.outputs].map(
    ({ extent, dtype }, index) => memory?.[index] ?? fakeSpan(Math.max(1, extent * BYTES_OF[dtype])),
  );
  return {
    geometry,
    inputs: spans.slice(0, geometry.inputs.length),
    outputs: spans.slice(geometry.inputs.length),
    params: kernel.params.map(() => 1),
    inPlace: geometry.outputs.map(() => false),
  };
}

/** The launches of a `run`. */
export function plannedRun(kernel: Kernel, asked: PlannedRun, traits: DeviceTraits): PlanRecorder {
  const recorder = new PlanRecorder(traits);
  planRun(fakeRun(kernel, asked), recorder);
  return recorder;
}
