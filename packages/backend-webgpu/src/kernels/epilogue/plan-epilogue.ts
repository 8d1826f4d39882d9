import type { CheckedEpilogue } from '@concord/backend-core/implement';
import { type CheckedRun, checkedRun, defineKernel, type Kernel } from '@concord/backend-core/kernel';
import type { Recorder, Span, StorageBuffer } from '../recorder.ts';
import { planRun } from '../run/plan-run.ts';

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
  const { kernel = cast, geometry: own, params = [] } = call.epilogue ?? {};
  const views = (own?.inputs ?? []).map(({ name, strides, dtype }) => [name, { strides, dtype }]);
  const geometry = checkedRun(kernel, {
    shape: domain,
    inputs: { ...Object.fromEntries(views), acc: { strides: results.strides } },
    outputs: { [kernel.outputs[0]?.name as string]: { strides: layout.strides, dtype: layout.dtype } },
  });
  const operands = call as Readonly<Record<string, Span | undefined>>;
  const inputs = kernel.inputs.map(({ name }) => (name === 'acc' ? results.span : operands[`epilogue.${name}`]));
  run(geometry, inputs, output, params, recorder);
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
  run(checkedRun(cast, { shape, inputs, outputs: {} }), [operand], results.span, [], recorder);
  return results;
}

/** Scratch memory for packed results. */
export function resultsOf(domain: readonly number[], recorder: Recorder): Results {
  const span = recorder.scratch(FLOAT_BYTES * domain.reduce((product, size) => product * size, 1));
  return { span, strides: packedStrides(domain) };
}

function run(
  geometry: CheckedRun,
  inputs: readonly (Span | undefined)[],
  output: Span,
  params: readonly number[],
  recorder: Recorder,
): void {
  // Shapes are planned without parameters; those of the call come with the call.
  const values = geometry.kernel.params.map((_, index) => params[index] ?? 0);
  const isInPlace = inputs.some((input) => isSame(input, output));
  planRun({ geometry, inputs, outputs: [output], params: values, inPlace: [isInPlace] }, recorder);
}

function isSame(a: Span | undefined, b: Span): boolean {
  return a !== undefined && (a.buffer satisfies StorageBuffer) === b.buffer && a.byteOffset === b.byteOffset;
}
