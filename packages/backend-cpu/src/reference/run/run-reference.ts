import type { CheckedRun } from '@concord/backend-core/kernel';
import { type Chunk, Evaluation } from './evaluate.ts';
import { Operands } from './operands.ts';
import { OutputCollector } from './output-collector.ts';
import { ScatterCollector } from './scatter-collector.ts';
import type { Interval } from './interval.ts';
import type { OutputIntervals, RunData, RunRules } from './run-data.ts';

/** This many points are evaluated together if there are no rows. */
const CHUNK = 4096;

/**
 * The results that a run of a kernel may have: each node is evaluated in float64 intervals that hold the result of every right
 * device, as docs/numerics.md says, for each point.
 *
 * @param geometry - of `checkedRun`
 * @returns for each output, in the order of `kernel.outputs`, what each of its elements may be
 */
export function runReference(
  geometry: CheckedRun,
  data: RunData,
  { subnormals = 'may-flush' }: RunRules = {},
): readonly OutputIntervals[] {
  const flush = subnormals === 'may-flush';
  const evaluation = new Evaluation(geometry, new Operands(geometry, data), flush);
  const collectors = geometry.outputs.map((layout, index) => {
    const mode = geometry.kernel.outputs[index]?.scatter?.mode;
    if (mode === undefined) return new OutputCollector(layout, flush);
    return new ScatterCollector(layout, mode, flush, data.outputs?.[layout.name]);
  });
  for (const chunk of chunksOf(geometry)) {
    const values = evaluation.evaluate(chunk);
    for (const [index, { node, level, scatter }] of geometry.kernel.outputs.entries()) {
      const collector = collectors[index];
      if (collector instanceof ScatterCollector) {
        const read = (of: number, at: number): Interval => (values[of]?.[at] ?? values[of]?.[0]) as Interval;
        for (let at = 0; at < (level === 'row' ? 1 : chunk.count); at++) {
          const indices = (scatter?.indices ?? []).map((each) => read(each, at));
          collector.put(indices, read(node, at));
        }
        continue;
      }
      const first = level === 'row' ? chunk.row : chunk.first;
      for (const [at, value] of (values[node] ?? []).entries()) collector?.store(first + at, value);
    }
  }
  return collectors.map((collector) => collector.finish());
}

/** Rows one by one, or points in runs. */
function* chunksOf({ kernel, rowCount, rowLength }: CheckedRun): Generator<Chunk> {
  if (kernel.hasRows) {
    for (let row = 0; row < rowCount; row++) yield { row, first: row * rowLength, count: rowLength };
    return;
  }
  for (let first = 0; first < rowCount; first += CHUNK) {
    yield { row: 0, first, count: Math.min(CHUNK, rowCount - first) };
  }
}
