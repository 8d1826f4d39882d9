import { BYTES_OF } from '@concord/backend-core/implement';
import { outputsOf } from '@concord/kernel';
import { type NamedVariant, pickVariant, sizeStep } from '@concord/variants';
import type { Width } from '../arithmetic/spirv-arithmetic.ts';
import { launchInPieces, MIN_RUN, RUNS_PER_THREAD } from '../work.ts';
import type { Recorder } from '../recorder.ts';
import { formOf, indexType, type PlanAxes, type RunToPlan, workOf } from '../run/call-geometry.ts';
import { kernelsByKey } from '../run/form.ts';
import { MAP_GROUP, mapKernel, type MapParams } from './map.spv.ts';

/** Bytes of a GPU's vector where it is written. */
const VECTOR_BYTES = 16;

/** The variants of maps. */
export const VARIANT_IDS: readonly string[] = ['run/map-runs', 'run/map-lanes'];

const kernelOf = kernelsByKey(mapKernel);

/** Plans the outputs of one level, each point by itself. */
export function planMap(call: RunToPlan, axes: PlanAxes, level: 'row' | 'element', recorder: Recorder): void {
  const { traits } = recorder;
  const { kernel, outputs } = call.geometry;
  const stores = outputsOf(kernel, level);
  if (stores.length === 0) return;
  const over = level === 'row' ? { ...axes, folded: undefined } : axes;
  const sizes = [...over.rows.sizes, ...(over.folded?.sizes ?? [])];
  const length = sizes.at(-1) ?? 1;
  const lines = sizes.slice(0, -1).reduce((product, size) => product * size, 1);
  const variant: NamedVariant = { id: traits.isCpuLike ? 'run/map-runs' : 'run/map-lanes' };
  const shapeClass = (): string => `map ${kernel.name} ${sizes.map(sizeStep).join(' ')}`;
  pickVariant(recorder, { shapeClass, candidates: [variant], preferred: variant });

  const bytes = Math.min(...stores.map((output) => BYTES_OF[(outputs[output] as (typeof outputs)[number]).dtype]));
  const width = traits.isCpuLike
    ? widthFor(length, [16, 4])
    : widthFor(length, bytes >= 4 ? [(VECTOR_BYTES / bytes) as Width] : [8, 4]);
  const along = over.folded === undefined ? 'rows' : 'folded';
  const { form, args } = formOf(call, over, { along, width, index: indexType(call, traits.isCpuLike) });
  const isWhole = length % width === 0;
  const params: MapParams = { form, kind: traits.isCpuLike ? 'runs' : 'lanes', isWhole, stores };
  const runs = traits.isCpuLike ? runsOf(lines, length, traits.computeUnits) : undefined;
  const segments = Math.ceil(length / (runs?.segment ?? width));
  const work = workOf(call, lines * length);
  launchInPieces(
    recorder,
    { kernel: kernelOf(params), args: { ...args, segments, ...runs }, variant: variant.id, work },
    { items: lines * segments, perGroup: runs?.run ?? MAP_GROUP },
  );
}

/** The widest of some vectors that a line has. */
function widthFor(length: number, widths: readonly Width[]): Width {
  return widths.find((width) => width <= length) ?? 1;
}

/** Points of a segment, whole vectors; and segments of a work-item. */
function runsOf(lines: number, length: number, threads: number): { readonly segment: number; readonly run: number } {
  const shared = Math.max(MIN_RUN, Math.ceil((lines * length) / (threads * RUNS_PER_THREAD)));
  if (length >= shared) return { segment: Math.ceil(shared / 16) * 16, run: 1 };
  return { segment: Math.ceil(length / 16) * 16, run: Math.ceil(shared / length) };
}
