import { FloatResults } from '@concord/variants';
import type { Recorder, StorageBuffer } from '../recorder.ts';
import { planRun } from '../run/plan-run.ts';

/** Ops whose results are in float32 before a `run` makes their output of them. */
export const floatResults: FloatResults<StorageBuffer, Recorder> = new FloatResults(
  (geometry, inputs, output, params, recorder) => {
    const isInPlace = inputs.some((input) => input?.buffer === output.buffer && input.byteOffset === output.byteOffset);
    planRun({ geometry, inputs, outputs: [output], params, inPlace: [isInPlace] }, recorder);
  },
);
