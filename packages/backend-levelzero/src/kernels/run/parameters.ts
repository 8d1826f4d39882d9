import { axisOf } from '@concord/kernel';
import type { ParameterType } from '../kernel.ts';
import { pointeeOf } from '../arithmetic/storage.ts';
import { axisCount, names, type RunForm, vectorAxis } from './form.ts';

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
  kernel.inputs.forEach(({ rank, access }, input) => {
    const way = inputs[input]?.gather;
    if (access !== 'gather' || way === 'empty') return;
    for (let axis = 0; axis < rank; axis++) {
      parameters[names.gatherSize(input, axis)] = 'u32';
      if (way !== 'dense' || axis < rank - 1) parameters[names.gatherStride(input, axis)] = index;
    }
  });
  for (const node of kernel.nodes) {
    if (node.kind === 'extent') parameters[names.extent(axisOf(node.axis, form.rank))] = 'u32';
  }
  kernel.params.forEach(({ type }, number) => (parameters[names.parameter(number)] = type === 'f32' ? 'f32' : 'u32'));
  return parameters;
}
