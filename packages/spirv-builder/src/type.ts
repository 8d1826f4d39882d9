import type { StorageClass } from './generated/spirv.ts';

declare const brand: unique symbol;

/** Id of a type. */
export type TypeId = number & { readonly [brand]: 'type' };
/** Id of a value: a constant, a parameter, or the result of an instruction. */
export type ValueId = number & { readonly [brand]: 'value' };
/** Id of a block. */
export type LabelId = number & { readonly [brand]: 'label' };

/** Integers have no sign: operations say whether they take their operands as signed. */
export interface IntType {
  readonly kind: 'int';
  readonly id: TypeId;
  readonly width: 8 | 16 | 32 | 64;
}
export interface FloatType {
  readonly kind: 'float';
  readonly id: TypeId;
  readonly width: 16 | 32 | 64;
}
export interface BoolType {
  readonly kind: 'bool';
  readonly id: TypeId;
}
export interface VoidType {
  readonly kind: 'void';
  readonly id: TypeId;
}
export type ScalarType = IntType | FloatType | BoolType;
export interface VectorType {
  readonly kind: 'vector';
  readonly id: TypeId;
  readonly component: ScalarType;
  readonly count: VectorCount;
}
/** Components of a vector. More than four need the capability Vector16, which the builder declares. */
export type VectorCount = 2 | 3 | 4 | 8 | 16;
export interface ArrayType {
  readonly kind: 'array';
  readonly id: TypeId;
  readonly element: Type;
  /** Elements, or undefined where a specialisation constant says so. */
  readonly length: number | undefined;
}
export interface StructType {
  readonly kind: 'struct';
  readonly id: TypeId;
  readonly members: readonly Type[];
}
export interface PointerType {
  readonly kind: 'pointer';
  readonly id: TypeId;
  readonly storage: StorageClass;
  readonly pointee: Type;
}
/** An interned type: one object, and one id, for equal types of a module. */
export type Type = VoidType | ScalarType | VectorType | ArrayType | StructType | PointerType;

const VECTOR_COUNTS: readonly number[] = [2, 3, 4, 8, 16];

/** Returns whether there are vectors of a number of components. */
export function isVectorCount(count: number): boolean {
  return VECTOR_COUNTS.includes(count);
}

/** The scalar type of a scalar or of a vector's components. */
export function componentOf(type: Type): Type {
  return type.kind === 'vector' ? type.component : type;
}

/** Names a type for messages: `f32`, `u64`, `f32x4`, `f32[256]`, `pointer to f32`. */
export function nameOf(type: Type): string {
  switch (type.kind) {
    case 'int':
      return `u${type.width}`;
    case 'float':
      return `f${type.width}`;
    case 'vector':
      return `${nameOf(type.component)}x${type.count}`;
    case 'array':
      return `${nameOf(type.element)}[${type.length ?? 'specialised'}]`;
    case 'struct':
      return `struct { ${type.members.map(nameOf).join(', ')} }`;
    case 'pointer':
      return `pointer to ${nameOf(type.pointee)}`;
    case 'bool':
    case 'void':
      return type.kind;
  }
}

/** Bytes that any address of such a value is a multiple of, whatever it is a part of: those of its smallest scalars. */
export function scalarAlignment(type: Type): number {
  switch (type.kind) {
    case 'int':
    case 'float':
      return type.width / 8;
    case 'pointer':
      return 8;
    case 'vector':
      return scalarAlignment(type.component);
    case 'array':
      return scalarAlignment(type.element);
    case 'struct':
      return Math.max(1, ...type.members.map(scalarAlignment));
    case 'bool':
    case 'void':
      return 1;
  }
}

/** Returns whether addresses can be multiples of a number of bytes: powers of two, as far as a word goes. */
export function isAlignment(bytes: number): boolean {
  return bytes > 0 && bytes >>> 0 === bytes && (bytes & (bytes - 1)) === 0;
}

/** Returns whether such a part is in the memory of the type: itself, a component, an element or a member. */
export function holds(type: Type, isSought: (part: Type) => boolean): boolean {
  if (isSought(type)) return true;
  switch (type.kind) {
    case 'vector':
      return isSought(type.component);
    case 'array':
      return holds(type.element, isSought);
    case 'struct':
      return type.members.some((member) => holds(member, isSought));
    default:
      return false;
  }
}
