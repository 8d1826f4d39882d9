import {
  epilogueRun,
  type EpilogueRun,
  packedStrides,
  type Results as ResultsIn,
  resultsOf,
  widenRun,
} from '@concord/kernel';
import type { Recorder, Span } from '../recorder.ts';
import { planRun } from '../run/plan-run.ts';

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
  run(epilogueRun(call, domain, layout, results), output, call.epilogue?.params ?? [], recorder);
}

/** Plans a copy of an operand of f16 as packed float32, in scratch memory. */
export function widened(
  operand: Span,
  shape: readonly number[],
  strides: readonly number[],
  recorder: Recorder,
): Results {
  const results = resultsOf(shape, recorder);
  run({ geometry: widenRun(shape, strides), inputs: [operand] }, results.span, [], recorder);
  return results;
}

function run(
  { geometry, inputs }: EpilogueRun<Span>,
  output: Span,
  params: readonly number[],
  recorder: Recorder,
): void {
  // Shapes are planned without parameters; those of the call come with the call.
  const values = geometry.kernel.params.map((_, index) => params[index] ?? 0);
  const isInPlace = inputs.some((input) => input?.buffer === output.buffer && input.byteOffset === output.byteOffset);
  planRun({ geometry, inputs, outputs: [output], params: values, inPlace: [isInPlace] }, recorder);
}
