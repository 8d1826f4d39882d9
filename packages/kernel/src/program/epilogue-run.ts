import type { CheckedEpilogue } from '@concord/backend-core/implement';
import { type CheckedRun, checkedRun, defineKernel, type Kernel } from '@concord/backend-core/kernel';

/** Results in float32 that an output is made of, and how they lie. */
export interface Results<Span> {
  readonly span: Span;
  /** One an axis of the output's domain. */
  readonly strides: readonly number[];
}

/** A `run` without its outputs: its geometry, and where its inputs lie. */
export interface EpilogueRun<Span> {
  readonly geometry: CheckedRun;
  readonly inputs: readonly (Span | undefined)[];
}

/** The effect where there is no epilogue: the result is stored as the output's dtype. */
const cast: Kernel = defineKernel('cast', { inputs: { acc: 'f32' } }, ({ acc }) => ({ y: acc }));

const FLOAT_BYTES = 4;

/** Row-major strides without gaps. */
export function packedStrides(shape: readonly number[]): readonly number[] {
  return shape.map((_, axis) => shape.slice(axis + 1).reduce((product, size) => product * size, 1));
}

/** Scratch memory for packed results. */
export function resultsOf<Span>(domain: readonly number[], recorder: { scratch(bytes: number): Span }): Results<Span> {
  const span = recorder.scratch(FLOAT_BYTES * domain.reduce((product, size) => product * size, 1));
  return { span, strides: packedStrides(domain) };
}

/**
 * The last step of an op: each element of the output is the epilogue of a result, or the result itself, rounded once.
 *
 * @param call - an epilogue's inputs are its own operands
 * @param domain - sizes of the output
 * @param layout - strides and dtype of the output
 */
export function epilogueRun<Span>(
  call: { readonly epilogue?: CheckedEpilogue | undefined },
  domain: readonly number[],
  layout: Pick<CheckedRun['outputs'][number], 'strides' | 'dtype'>,
  results: Results<Span>,
): EpilogueRun<Span> {
  const { kernel = cast, geometry: own } = call.epilogue ?? {};
  const views = (own?.inputs ?? []).map(({ name, strides, dtype }) => [name, { strides, dtype }]);
  const geometry = checkedRun(kernel, {
    shape: domain,
    inputs: { ...Object.fromEntries(views), acc: { strides: results.strides } },
    outputs: { [kernel.outputs[0]?.name as string]: { strides: layout.strides, dtype: layout.dtype } },
  });
  const operands = call as Readonly<Record<string, Span | undefined>>;
  const inputs = kernel.inputs.map(({ name }) => (name === 'acc' ? results.span : operands[`epilogue.${name}`]));
  return { geometry, inputs };
}

/** A copy of an operand of f16 as packed float32. */
export function widenRun(shape: readonly number[], strides: readonly number[]): CheckedRun {
  return checkedRun(cast, { shape, inputs: { acc: { strides, dtype: 'f16' } }, outputs: {} });
}
