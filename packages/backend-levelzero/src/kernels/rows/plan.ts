import { foldsOf, hasMean, meanScale, outputsOf, partFoldsOf, scansOf, stateLength } from '@concord/kernel';
import { pickVariant, sizeStep } from '@concord/variants';
import { itemsPerRun, launchInPieces } from '../work.ts';
import type { Recorder, Span } from '../recorder.ts';
import { formOf, indexType, type PlanAxes, type RunArguments, type RunToPlan, workOf } from '../run/call-geometry.ts';
import { kernelsByKey } from '../run/form.ts';
import { combine } from '../stages/combine.spv.ts';
import { countName, leftName, levelName, type Stage, statesName } from '../stages/stage.ts';
import { rowsKernel } from './rows.spv.ts';
import { type RowsVariant, rowsVariants } from './variant.ts';

const kernelOf = kernelsByKey(rowsKernel);

/** Plans a kernel that folds: one launch, or where rows are few and long one for each phase of parts, and the rest. */
export function planRows(call: RunToPlan, axes: PlanAxes, recorder: Recorder): void {
  const { traits } = recorder;
  const { kernel, rowCount, rowLength } = call.geometry;
  const candidates = rowsVariants(call, axes, traits);
  const shapeClass = (): string => `rows ${kernel.name} ${sizeStep(rowCount)} ${sizeStep(rowLength)}`;
  const variant = pickVariant(recorder, { shapeClass, candidates, preferred: candidates[0] as RowsVariant });
  const launch = launcher(call, axes, variant, recorder);
  const { parts } = variant;
  if (parts === 1) {
    launch(undefined, 1, {});
    return;
  }
  const states: Record<string, Span | number> = {};
  const phases = partFoldsOf(kernel);
  let last: Stage = { phase: phases.length, of: phases.length };
  phases.forEach((phaseFolds, phase) => {
    const folds = phaseFolds.map(({ op, type }) => ({ op, type }));
    const words = stateLength(phaseFolds);
    const own = recorder.scratch(4 * words * parts * rowCount);
    launch({ phase, of: phases.length }, parts, { ...states, [statesName(phase)]: own });
    const levels = combine({ folds, values: words, rows: rowCount, parts, states: own }, recorder);
    if (scansOf(kernel) !== undefined && phase === phases.length - 1) {
      last = { ...last, levels: levels.length };
      levels.forEach((level, at) =>
        Object.assign(states, { [levelName(at)]: level.states, [countName(at)]: level.parts }),
      );
      return;
    }
    const joined = levels.at(-1) as (typeof levels)[number];
    states[statesName(phase)] = joined.states;
    states[leftName(phase)] = joined.parts;
  });
  launch(last, outputsOf(kernel, 'element').length > 0 ? parts : 1, states);
}

type LaunchStage = (stage: Stage | undefined, parts: number, states: RunArguments) => void;

function launcher(call: RunToPlan, axes: PlanAxes, variant: RowsVariant, recorder: Recorder): LaunchStage {
  const { traits } = recorder;
  const { kernel, rowCount, rowLength } = call.geometry;
  const { kind, along, width, groupSize, subgroupSize, hasWholeBlocks } = variant;
  const { kept, units, lines, blocks, elements, perGroup, part } = variant;
  const one = { sizes: [1], strides: axes.rows.strides.map(() => [0]) };
  const over = { ...axes, folded: axes.folded ?? one };
  const { form, args } = formOf(call, over, { along, width, index: indexType(call, traits.isCpuLike) });
  const { scale, divisor } = meanScale(rowLength);
  const passes = foldsOf(kernel).length + 1;
  const common: RunArguments = {
    ...args,
    lines,
    ...(hasMean(kernel) ? { meanScale: scale, meanDivisor: divisor } : {}),
    ...(kind === 'runs' ? {} : { units }),
    ...(along === 'rows' ? { blocks } : {}),
  };
  return (stage, parts, states) => {
    const made = kernelOf({
      form,
      kind,
      groupSize,
      subgroupSize,
      kept: stage === undefined ? kept : 0,
      hasWholeBlocks,
      stage,
    });
    const items = variant.items * parts;
    const run = kind === 'runs' ? itemsPerRun(items, elements / parts, traits) : perGroup;
    // With one part of each row the whole of it.
    const own = parts === 1 ? Math.max(units, lines, rowLength) : part;
    launchInPieces(
      recorder,
      {
        kernel: made,
        args: {
          ...common,
          ...(kind === 'runs' ? { run } : {}),
          ...(stage === undefined ? {} : { parts, part: own, rows: rowCount, ...states }),
        },
        variant: variant.id,
        work: workOf(call, rowCount * Math.max(1, rowLength)) * (stage === undefined ? passes : 1),
      },
      { items, perGroup: run },
    );
  };
}
