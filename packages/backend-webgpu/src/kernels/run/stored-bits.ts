import type { DType } from '@concord/backend-core';
import type { KernelNode } from '@concord/backend-core/kernel';
import { encode, type RawValue } from './encode.ts';
import type { GraphScope } from './graph-scope.ts';
import type { RunSpec } from './run-spec.ts';

/**
 * The stored value of an output: the bits as they were loaded, where nothing but `select` and `spread` lies between an input
 * of the output's dtype and it.
 *
 * @param varying - a u32 of the lane or of its point
 */
export function storedBits(spec: RunSpec, output: number, scope: GraphScope, varying: string): RawValue {
  const { graph, operands } = spec;
  const { dtype } = operands[graph.inputs.length + output] as RunSpec['operands'][number];
  return bitsOf(spec, (graph.outputs[output] as { readonly node: number }).node, dtype, scope, varying);
}

function bitsOf(spec: RunSpec, node: number, dtype: DType, scope: GraphScope, varying: string): RawValue {
  const data = spec.graph.nodes[node] as KernelNode;
  if (!isCopy(spec, node, dtype)) return encode(scope.block, dtype, scope.value(node), varying);
  if (data.kind === 'input') return scope.raw(inputOf(spec, data.name));
  if (data.kind === 'spread') return bitsOf(spec, data.operands[0], dtype, scope, varying);
  const [condition, a, b] = (data as { readonly operands: readonly number[] }).operands as [number, number, number];
  const [x, y] = [a, b].map((each) => bitsOf(spec, each, dtype, scope, varying)) as [RawValue, RawValue];
  return scope.math.select('u32', scope.value(condition), x, y) as RawValue;
}

/** Returns whether elements of an input of the dtype come through to a node unchanged. */
function isCopy(spec: RunSpec, node: number, dtype: DType): boolean {
  const data = spec.graph.nodes[node] as KernelNode;
  if (data.kind === 'input') return spec.operands[inputOf(spec, data.name)]?.dtype === dtype;
  if (data.kind === 'spread') return isCopy(spec, data.operands[0], dtype);
  if (data.kind !== 'arithmetic' || data.op !== 'select') return false;
  return data.operands.slice(1).some((operand) => isCopy(spec, operand, dtype));
}

function inputOf({ graph }: RunSpec, name: string): number {
  return graph.inputs.findIndex((input) => input.name === name);
}
