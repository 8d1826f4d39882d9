import { BYTES_OF } from '@concord/backend-core/implement';
import type { Kernel as KernelGraph } from '@concord/backend-core/kernel';
import { axisOf } from '@concord/kernel';
import type { UniformType } from '../kernel.ts';
import { bindingName, bindingType, type BindingSpec, type OperandSpec } from './operand-spec.ts';
import { farLoad, narrowStores } from './operand-access.ts';
import { halfBitsOfFour } from '../wgsl/half.wgsl.ts';
import { bfloatBits } from '../wgsl/bfloat.wgsl.ts';
import type { StorageBinding } from '../kernel.ts';

/** The facts that every kernel that runs a graph is generated from. */
export interface RunSpec {
  readonly graph: KernelGraph;
  /** Axes of the domain that are not folded, and those that are, counted with the padding of their rank classes. */
  readonly rowRank: number;
  readonly foldRank: number;
  /** Elements that a lane works on as a vector. */
  readonly width: 1 | 4;
  /** The axis that vectors lie along, among all axes. */
  readonly vectorAxis: number;
  /** The inputs of the graph, then its outputs. */
  readonly operands: readonly OperandSpec[];
  readonly bindings: readonly BindingSpec[];
  /** Where `index` and `rowIndex` nodes find their axes, by the axis in the call's domain; absent where the index is 0. */
  readonly places: Readonly<Record<number, number>>;
  /** Rank of the call's domain, and how many of its axes are not folded: what negative axes count from. */
  readonly rank: number;
  readonly unfolded: number;
}

/** The name of the uniform of an operand's offset, in units of its access. */
export const offsetName = (operand: number): string => `o${operand}`;
/** The name of the uniform of an operand's stride along an axis; of a gather input, along its own axis. */
export const strideName = (operand: number, axis: number): string => `o${operand}_${axis}`;
/** The name of the uniform of a gather input's size along its own axis. */
export const gatherSizeName = (operand: number, axis: number): string => `g${operand}_${axis}`;
/** The name of the uniform of an axis's size: in vectors along the axis that they lie along. */
export const sizeName = (axis: number): string => `n${axis}`;
/** The name of the uniform of where the points of a launch begin along an axis. */
export const startName = (axis: number): string => `s${axis}`;
/** The name of the uniform of the size of an axis of the call's domain. */
export const extentName = (axis: number): string => `x${axis}`;
/** The name of the uniform of a parameter. */
export const parameterName = (parameter: number): string => `p${parameter}`;

/** Storage bindings of the generated code. */
export function storageOf({ bindings }: RunSpec): Record<string, StorageBinding> {
  return Object.fromEntries(
    bindings.map(({ element, isWritten }, index) => [
      bindingName(index),
      { access: isWritten ? 'read_write' : 'read', type: bindingType(element) },
    ]),
  );
}

/** Uniforms that every generated kernel has. */
export function uniformsOf(spec: RunSpec): Record<string, UniformType> {
  const { graph, operands, rowRank, foldRank, places, unfolded } = spec;
  const names: [string, UniformType][] = [];
  const rank = rowRank + foldRank;
  for (let axis = 0; axis < rank; axis++) names.push([sizeName(axis), 'u32']);
  for (const place of new Set(Object.values(places))) names.push([startName(place), 'u32']);
  for (const axis of extentAxes(spec)) names.push([extentName(axis), 'u32']);
  for (const [index, { level }] of operands.entries()) {
    names.push([offsetName(index), 'u32']);
    if (level === 'gather') {
      for (let axis = 0; axis < (graph.inputs[index]?.rank ?? 0); axis++) {
        names.push([strideName(index, axis), 'u32'], [gatherSizeName(index, axis), 'u32']);
      }
      continue;
    }
    const axes = level === 'row' ? rowRank : rank;
    for (let axis = unfolded === 0 ? rowRank : 0; axis < axes; axis++) names.push([strideName(index, axis), 'u32']);
  }
  return Object.fromEntries(names);
}

/** The parameters of the graph as uniforms. */
export function paramUniforms({ graph }: RunSpec): Record<string, UniformType> {
  return Object.fromEntries(graph.params.map(({ type }, index) => [parameterName(index), type]));
}

/** The axes of a call's domain whose sizes nodes ask for, counted from the first. */
export function extentAxes({ graph, rank }: Pick<RunSpec, 'graph' | 'rank'>): readonly number[] {
  const axes = graph.nodes.flatMap((node) => (node.kind === 'extent' ? [axisOf(node.axis, rank)] : []));
  return [...new Set(axes)];
}

/** WGSL functions that loads of far gather inputs and stores of narrow elements need. */
export function accessFunctions({ graph, operands, bindings }: RunSpec): readonly string[] {
  const outputs = operands.slice(graph.inputs.length);
  const narrow = new Set(
    outputs.flatMap(({ dtype, access, binding }) => {
      const bytes = BYTES_OF[dtype];
      if (bytes === 4 || access === 'vector') return [];
      return bindings[binding]?.element === 'atomic' ? [narrowStores(binding, bytes)] : [];
    }),
  );
  return [
    ...operands.flatMap(({ binding, far }) => (far === undefined ? [] : [farLoad(binding, far)])),
    ...(outputs.some(({ dtype }) => dtype === 'f16') ? [halfBitsOfFour] : []),
    ...(outputs.some(({ dtype }) => dtype === 'bf16') ? [bfloatBits] : []),
    ...narrow,
  ];
}
