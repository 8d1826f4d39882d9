import { BYTES_OF } from '@concord/backend-core/implement';
import type { DType } from '@concord/backend-core';
import type { NumberType, RunLayout } from '@concord/backend-core/kernel';
import { type Access, axisOf, type ProgramForm } from '@concord/kernel';
import type { StorageBinding, UniformType } from '../kernel.ts';

/** The facts that every kernel that runs a graph is generated from. Axes are padded to their rank classes. */
export interface RunSpec extends ProgramForm {
  /** Elements that a lane works on as a vector. */
  readonly width: 1 | 4;
  /** The inputs of the graph, then its outputs. */
  readonly operands: readonly OperandSpec[];
  readonly bindings: readonly BindingSpec[];
}

/** One element of a binding's array: four words, two, one, or one that several invocations may change. */
export type BindingElement = 'vec4' | 'vec2' | 'word' | 'atomic';

/** A storage binding of generated code. */
export interface BindingSpec {
  readonly element: BindingElement;
  readonly isWritten: boolean;
}

/** The facts about an input or output in generated code: all but addresses, sizes and strides. */
export interface OperandSpec {
  readonly type: NumberType;
  readonly dtype: DType;
  readonly level: 'element' | 'row' | 'gather' | 'scatter';
  /** The access to the elements of a vector; of what is read or written by index, `strided`. */
  readonly access: Access;
  /** Index of its binding. */
  readonly binding: number;
  /** The bindings of a gather input that takes several, one after the other: how many, and the words of each. */
  readonly far?: { readonly count: number; readonly words: number };
  /** The axis that its vectors lie along, where it is not that of the others. */
  readonly axis?: number;
}

/** The element that a binding needs for one operand in it. */
export function elementFor(
  { dtype, access: level }: Pick<RunLayout, 'dtype' | 'access'>,
  access: Access,
  isWritten: boolean,
): BindingElement {
  const bytes = BYTES_OF[dtype];
  if (level === 'scatter') return 'atomic';
  if (access === 'vector') return bytes === 4 ? 'vec4' : bytes === 2 ? 'vec2' : 'word';
  return isWritten && bytes < 4 ? 'atomic' : 'word';
}

/** The WGSL type of a binding. */
export function bindingType(element: BindingElement): string {
  return { vec4: 'array<vec4<u32>>', vec2: 'array<vec2<u32>>', word: 'array<u32>', atomic: 'array<atomic<u32>>' }[
    element
  ];
}

/** The name of a binding in generated code. */
export function bindingName(binding: number): string {
  return `b${binding}`;
}

/** The name of the uniform of an operand's offset, in units of its access. */
export const offsetName = (operand: number): string => `o${operand}`;
/** The name of the uniform of an operand's stride along an axis; of what is read or written by index, along its own axis. */
export const strideName = (operand: number, axis: number): string => `o${operand}_${axis}`;
/** The name of the uniform of the size of what is read or written by index along its own axis. */
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
  const { kernel, operands, rowRank, foldedRank, places, unfolded } = spec;
  const names: [string, UniformType][] = [];
  const rank = rowRank + foldedRank;
  for (let axis = 0; axis < rank; axis++) names.push([sizeName(axis), 'u32']);
  for (const place of new Set(places.map(([, own]) => own))) names.push([startName(place), 'u32']);
  for (const axis of extentAxes(spec)) names.push([extentName(axis), 'u32']);
  for (const [index, { level }] of operands.entries()) {
    names.push([offsetName(index), 'u32']);
    if (level === 'gather' || level === 'scatter') {
      const { scatter } = kernel.outputs[index - kernel.inputs.length] ?? {};
      const own = scatter?.indices.length ?? kernel.inputs[index]?.rank ?? 0;
      for (let axis = 0; axis < own; axis++) {
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
export function paramUniforms({ kernel }: RunSpec): Record<string, UniformType> {
  return Object.fromEntries(kernel.params.map(({ type }, index) => [parameterName(index), type]));
}

/** The axes of a call's domain whose sizes nodes ask for, counted from the first. */
export function extentAxes({ kernel, rank }: Pick<RunSpec, 'kernel' | 'rank'>): readonly number[] {
  const axes = kernel.nodes.flatMap((node) => (node.kind === 'extent' ? [axisOf(node.axis, rank)] : []));
  return [...new Set(axes)];
}
