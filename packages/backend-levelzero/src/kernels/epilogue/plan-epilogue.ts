import { epilogueRun, packedStrides, type Results as ResultsIn, resultsOf, widenRun } from '@concord/kernel';
import type { Recorder, Span } from '../recorder.ts';
import { planRun } from '../run/plan.ts';

export { packedStrides, resultsOf };

/** Results in float32 that an output is made of, and how they lie. */
export type Results = ResultsIn<Span>;

/** Plans the last step of an op, see {@link epilogueRun}. */
export function planEpilogue(
  call: Parameters<typeof epilogueRun>[0],
  domain: readonly number[],
  layout: Parameters<typeof epilogueRun>[2],
  output: Span,
  results: Results,
  recorder: Recorder,
): void {
  const { geometry, inputs } = epilogueRun(call, domain, layout, results);
  planRun({ geometry, spans: [...inputs, output] }, recorder);
}

/** Plans a copy of an operand of f16 as packed float32, in scratch memory. */
export function widened(
  operand: Span,
  shape: readonly number[],
  strides: readonly number[],
  recorder: Recorder,
): Results {
  const results = resultsOf(shape, recorder);
  planRun({ geometry: widenRun(shape, strides), spans: [operand, results.span] }, recorder);
  return results;
}
