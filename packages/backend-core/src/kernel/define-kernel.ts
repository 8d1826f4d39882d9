import { describe } from '../contract/checks.ts';
import { checkFields } from '../contract/fields.ts';
import { invalid } from '../errors/invalid.ts';
import { declareKernel } from './declare-kernel.ts';
import { finishKernel } from './finish-kernel.ts';
import { isNodeValue } from './graph-builder.ts';
import type { InputSpec, InputSpecs, Kernel, OutputSpecs, ParameterSpecs } from './graph.ts';
import type { KernelBuilder } from './kernel-builder.ts';
import { symbolicBuilder } from './symbolic-builder.ts';
import type { GatherInput, Scattered, Value } from './value.ts';
import type { NumberType } from './value-types.ts';

/** The argument of a kernel's function for each declared input and parameter. */
export type SymbolsOf<Inputs extends InputSpecs, Parameters extends ParameterSpecs> = {
  readonly [Name in keyof Inputs]: SymbolOf<Inputs[Name]>;
} & { readonly [Name in keyof Parameters]: Value<Parameters[Name]> };

type SymbolOf<Spec extends InputSpec> = Spec extends NumberType
  ? Value<Spec>
  : Spec extends { readonly access: 'gather'; readonly type: infer Type extends NumberType }
    ? GatherInput<Type>
    : Spec extends { readonly type: infer Type extends NumberType }
      ? Value<Type>
      : never;

/** The declarations of a kernel. */
export interface KernelSpec<Inputs extends InputSpecs, Parameters extends ParameterSpecs> {
  readonly inputs?: Inputs;
  readonly params?: Parameters;
  /** Outputs that are written by index: the function returns what `k.scatter` gives for them. */
  readonly outputs?: OutputSpecs;
}

/**
 * Writes a computation once, for every backend. The function runs once, on symbols, and what it computes with `k` is
 * kept as data. JavaScript's own operators do not compute with symbols: `x > 0`, `x * 2` and `Math.exp(x)` throw and say what to
 * write instead. `c ? a : b`, `a === b`, `a && b` and `!a` cannot be caught where they stand, only where they leave an input unused
 * or a boolean where a value is due.
 *
 * An output with the name of an input is stored in its place: calls give it the same address and layout, and both count once.
 *
 * @param name - for messages
 * @param compute - from the inputs and parameters, in one record, to the values of the outputs
 * @throws {BackendError} INVALID_ARGUMENT for JavaScript's operators on symbols, operands of wrong types, an unused input or parameter, an output that is a
 *   bool or exists only once a call, one with the name of an input that are not both elements of one type, a declared output that is no scatter of its type and
 *   rank, more than 8 inputs and outputs of different names, 7 in a kernel with rows, 16 parameters or 256 nodes
 * @example
 * const softmax = defineKernel('softmax', { inputs: { x: 'f32' } }, ({ x }, k) => {
 *   const e = k.exp(k.sub(x, k.fold('max', x)));
 *   return { y: k.div(e, k.fold('sum', e)) };
 * });
 */
export function defineKernel<
  const Inputs extends InputSpecs = {},
  const Parameters extends ParameterSpecs = {},
  Outputs extends string = string,
>(
  name: string,
  spec: KernelSpec<Inputs, Parameters>,
  compute: (
    symbols: SymbolsOf<Inputs, Parameters>,
    k: KernelBuilder,
  ) => Readonly<Record<Outputs, Value<NumberType> | Scattered>>,
): Kernel<Inputs, Parameters, Outputs> {
  if (typeof spec !== 'object' || spec === null) {
    throw invalid(`a kernel's declarations must be an object, got ${describe(spec)}`);
  }
  checkFields("a kernel's declaration", spec, ['inputs', 'params', 'outputs']);
  const declared = declareKernel(name, spec.inputs, spec.params, spec.outputs);
  const { graph, symbols } = declared;
  if (typeof compute !== 'function')
    throw graph.invalid(`the last argument must be a function, got ${describe(compute)}`);
  const outputs = compute(symbols as SymbolsOf<Inputs, Parameters>, symbolicBuilder(graph));
  if (isNodeValue(outputs)) throw graph.invalid('the function must return values by names of outputs: { y: value }');
  return finishKernel(name, declared, outputs) as Kernel<Inputs, Parameters, Outputs>;
}
