import type { CheckedEpilogue } from '@concord/backend-core/implement';
import { type CheckedRun, checkedRun, defineKernel, type Kernel } from '@concord/backend-core/kernel';
import type { Recorder, Span } from '../recorder.ts';
import { planRun } from '../run/plan.ts';

/** Results in float32 that an output is made of, and how they lie. */
export interface Results {
  readonly span: Span;
  /** One an axis of the output's domain. */
  readonly strides: readonly number[];
}

/** A call whose epilogue's inputs are its own operands. */
interface CallWithEpilogue {
  readonly epilogue?: CheckedEpilogue | undefined;
}

/** The effect where there is no epilogue: the result is stored as the output's dtype. */
const cast: Kernel = defineKernel('cast', { inputs: { acc: 'f32' } }, ({ acc }) => ({ y: acc }));

const FLOAT_BYTES = 4;

/** Row-major strides without gaps. */
export function packedStrides(shape: readonly number[]): readonly number[] {
  return shape.map((_, axis) => shape.slice(axis + 1).reduce((product, size) => product * size, 1));
}

/**
 * Plans the last step of an op: each element of `output` is the epilogue of a result, or the result itself, rounded once.
 *
 * @param domain - sizes of the output
 * @param layout - strides and dtype of the output
 */
export function planEpilogue(
  call: CallWithEpilogue,
  domain: readonly number[],
  layout: Pick<CheckedRun['outputs'][number], 'strides' | 'dtype'>,
  output: Span,
  results: Results,
  recorder: Recorder,
): void {
  const { kernel = cast, geometry: own } = call.epilogue ?? {};
  const views = (own?.inputs ?? []).map(({ name, strides, dtype }) => [name, { strides, dtype }]);
  const geometry = checkedRun(kernel, {
    shape: domain,
    inputs: { ...Object.fromEntries(views), acc: { strides: results.strides } },
    outputs: { [kernel.outputs[0]?.name as string]: { strides: layout.strides, dtype: layout.dtype } },
  });
  const operands = call as Readonly<Record<string, Span | undefined>>;
  const inputs = kernel.inputs.map(({ name }) => (name === 'acc' ? results.span : operands[`epilogue.${name}`]));
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
  const inputs = { acc: { strides, dtype: 'f16' } } as const;
  planRun({ geometry: checkedRun(cast, { shape, inputs, outputs: {} }), spans: [operand, results.span] }, recorder);
  return results;
}

/** Scratch memory for packed results. */
export function resultsOf(domain: readonly number[], recorder: Recorder): Results {
  const span = recorder.scratch(FLOAT_BYTES * domain.reduce((product, size) => product * size, 1));
  return { span, strides: packedStrides(domain) };
}
