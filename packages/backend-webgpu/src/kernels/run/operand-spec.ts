import { BYTES_OF } from '@concord/backend-core/implement';
import type { DType } from '@concord/backend-core';
import type { NumberType } from '@concord/backend-core/kernel';
import type { Access } from '@concord/kernel';

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
  readonly level: 'element' | 'row' | 'gather';
  /** The access to the elements of a vector; of a gather input, `strided`. */
  readonly access: Access;
  /** Index of its binding. */
  readonly binding: number;
  /** Of a gather input that takes several bindings, one after the other: how many, and the words of each. */
  readonly far?: { readonly count: number; readonly words: number };
  /** The axis that its vectors lie along, where it is not that of the others. */
  readonly axis?: number;
}

/** The element that a binding needs for one operand in it. */
export function elementFor(dtype: DType, access: Access, isWritten: boolean): BindingElement {
  const bytes = BYTES_OF[dtype];
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
