import { partFoldsOf } from '@concord/kernel';
import { planMap } from '../map/plan.ts';
import type { DeviceMemory, Recorder } from '../recorder.ts';
import { planRows } from '../rows/plan.ts';
import { planAxes, type RunToPlan } from './call-geometry.ts';
import { FloatResults } from '@concord/variants';

/** Plans a `run`: rows where anything is folded, else a map for the elements and one for what there is a row. */
export function planRun(call: RunToPlan, recorder: Recorder): void {
  const { geometry } = call;
  if (geometry.outputs.every(({ extent }) => extent === 0)) return;
  const axes = planAxes(call);
  if (partFoldsOf(geometry.kernel).length > 0) {
    planRows(call, axes, recorder);
    return;
  }
  if (geometry.rowLength > 0) planMap(call, axes, 'element', recorder);
  planMap(call, axes, 'row', recorder);
}

/** Ops whose results are in float32 before a `run` makes their output of them. */
export const floatResults: FloatResults<DeviceMemory, Recorder> = new FloatResults(
  (geometry, inputs, output, _params, recorder) => planRun({ geometry, spans: [...inputs, output] }, recorder),
);
