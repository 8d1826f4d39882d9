import { FloatResults } from '@concord/variants';
import type { DeviceMemory, Recorder } from '../recorder.ts';
import { planRun } from '../run/plan.ts';

/** Ops whose results are in float32 before a `run` makes their output of them. */
export const floatResults: FloatResults<DeviceMemory, Recorder> = new FloatResults(
  (geometry, inputs, output, _params, recorder) => planRun({ geometry, spans: [...inputs, output] }, recorder),
);
