import type { DType } from '@concord/backend-core';
import { axisOf, canContract, formKey, names, type ProgramForm, vectorAxis } from '@concord/kernel';
import type { Width } from '../arithmetic/spirv-arithmetic.ts';
import { pointeeOf } from '../arithmetic/storage.ts';
import type { Kernel, ParameterType } from '../kernel.ts';

/** The layout of a vector's neighbours in a view: one next to the other, all the same element, or some elements apart. */
export type Access = 'dense' | 'constant' | 'strided';

/** An input or output, as far as code depends on it. */
export interface OperandForm {
  readonly dtype: DType;
  /**
   * The index of its strides among those that operands share; -1 of what is read or written by index, whose strides are
   * its own.
   */
  readonly layout: number;
  /** Bytes that the address of each vector is a multiple of. */
  readonly align: number;
  /** The form of what is read or written by index: whether its last axis is dense, or it has no element. */
  readonly gather?: 'dense' | 'strided' | 'empty';
}

/**
 * The facts that the code for a `run` depends on. Sizes, strides and parameters are arguments of the kernel; axes are
 * padded in front to a rank that code is made for.
 */
export interface RunForm extends ProgramForm {
  readonly width: Width;
  /** Type that places in memory are computed in. */
  readonly index: 'u32' | 'u64';
  /** The access by vectors to each of the shared layouts. */
  readonly layouts: readonly Access[];
  readonly inputs: readonly OperandForm[];
  readonly outputs: readonly OperandForm[];
}

/** Axes of a form: rows, then folded. */
export function axisCount({ rowRank, foldedRank }: RunForm): number {
  return rowRank + foldedRank;
}

/** Returns whether products and sums may become one instruction. */
export function contractionOf({ kernel }: RunForm): 'off' | undefined {
  return canContract(kernel) ? undefined : 'off';
}

/** The parameters that every kernel of a form has: operands, sizes, strides, and what the graph asks for. */
export function formParameters(form: RunForm): Readonly<Record<string, ParameterType>> {
  const { kernel, index, inputs, outputs, layouts } = form;
  const parameters: Record<string, ParameterType> = {};
  inputs.forEach((operand, input) => {
    if (operand.gather !== 'empty') parameters[names.input(input)] = `${pointeeOf(operand.dtype)}*`;
  });
  outputs.forEach(({ dtype }, output) => (parameters[names.output(output)] = `${pointeeOf(dtype)}*`));
  for (let axis = 0; axis < axisCount(form); axis++) parameters[names.size(axis)] = index;
  layouts.forEach((access, layout) => {
    for (let axis = 0; axis < axisCount(form); axis++) {
      if (axis !== vectorAxis(form) || access === 'strided') parameters[names.stride(layout, axis)] = index;
    }
  });
  const ranks = [
    ...kernel.inputs.map(({ rank }) => rank),
    ...kernel.outputs.map(({ scatter }) => scatter?.indices.length),
  ];
  [...inputs, ...outputs].forEach(({ gather: way }, operand) => {
    const rank = ranks[operand] ?? 0;
    if (way === undefined || way === 'empty') return;
    for (let axis = 0; axis < rank; axis++) {
      parameters[names.gatherSize(operand, axis)] = 'u32';
      if (way !== 'dense' || axis < rank - 1) parameters[names.gatherStride(operand, axis)] = index;
    }
  });
  for (const node of kernel.nodes) {
    if (node.kind === 'extent') parameters[names.extent(axisOf(node.axis, form.rank))] = 'u32';
  }
  kernel.params.forEach(({ type }, number) => (parameters[names.parameter(number)] = type === 'f32' ? 'f32' : 'u32'));
  return parameters;
}

/** A form and what else a kernel is made of, in a few words: the kernel's name for people, and all of it in one number. */
export function formName(form: RunForm, rest: object): string {
  const { kernel, width, rowRank, foldedRank, index, inputs, outputs } = form;
  const dtypes = [...inputs, ...outputs].map(({ dtype }) => dtype).join(' ');
  const key = JSON.stringify([formKey(form), rest]);
  return `${kernel.name} ${dtypes} rank ${rowRank}+${foldedRank} x${width} ${index} ${hash(key)}`;
}

/** FNV-1a, in 53 bits: 32 of one and 21 of another. */
function hash(text: string): string {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b) ^ (b >>> 13);
  }
  return (a >>> 0).toString(16).padStart(8, '0') + (b >>> 11).toString(16).padStart(6, '0');
}

/**
 * Makes `define` give the same kernel object for equal parameters, so that built modules are found by it. Kernels are kept for
 * good: each form's words are small, and a device keeps what it built of a kernel until it is closed.
 */
export function kernelsByKey<Params extends { readonly form: RunForm }>(
  define: (params: Params) => Kernel,
): (params: Params) => Kernel {
  const kept = new Map<string, Kernel>();
  return (params) => {
    const key = `${formKey(params.form)} ${JSON.stringify({ ...params, form: undefined })}`;
    const kernel = kept.get(key) ?? define(params);
    kept.set(key, kernel);
    return kernel;
  };
}
