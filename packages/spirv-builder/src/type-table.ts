import { Capability, Op, StorageClass } from './generated/spirv.ts';
import {
  type ArrayType,
  type BoolType,
  type FloatType,
  holds,
  type IntType,
  isVectorCount,
  nameOf,
  type PointerType,
  type ScalarType,
  type StructType,
  type Type,
  type TypeId,
  type VectorCount,
  type VectorType,
  type VoidType,
} from './type.ts';
import type { Requirements, Sections } from './sections.ts';
import { SpirvError } from './spirv-error.ts';
import { nameOfOther, type Value } from './value.ts';

const INT_CAPABILITY = { 8: Capability.Int8, 16: Capability.Int16, 32: undefined, 64: Capability.Int64 };
const INT_WIDTHS: readonly number[] = [8, 16, 32, 64];
const FLOAT_WIDTHS: readonly number[] = [16, 32, 64];
const STORAGE_CLASSES: readonly number[] = Object.values(StorageClass);
/** The limit of a struct by the specification (2.17, universal limits). */
const MAX_MEMBERS = 16_383;

/** The types of a module: each is declared once, when it is first asked for. */
export class TypeTable {
  readonly #sections: Sections;
  readonly #requirements: Requirements;
  readonly #types = new Map<string, Type>();
  readonly #own = new Set<Type>();
  readonly #functions = new Map<string, TypeId>();

  constructor(sections: Sections, requirements: Requirements) {
    this.#sections = sections;
    this.#requirements = requirements;
  }

  /** @internal */
  void(): VoidType {
    return this.#intern('void', () => ({ kind: 'void', id: this.#declare(Op.TypeVoid) }));
  }

  bool(): BoolType {
    return this.#intern('bool', () => ({ kind: 'bool', id: this.#declare(Op.TypeBool) }));
  }

  int(width: IntType['width']): IntType {
    if (!INT_WIDTHS.includes(width)) throw new SpirvError('int type', `there is none of ${width} bits (8, 16, 32, 64)`);
    return this.#intern(`u${width}`, () => {
      const capability = INT_CAPABILITY[width];
      if (capability !== undefined) this.#requirements.capability(capability);
      // Kernels have no signed types: the signedness operand must be 0.
      return { kind: 'int', id: this.#declare(Op.TypeInt, width, 0), width };
    });
  }

  float(width: FloatType['width']): FloatType {
    if (!FLOAT_WIDTHS.includes(width))
      throw new SpirvError('float type', `there is none of ${width} bits (16, 32, 64)`);
    return this.#intern(`f${width}`, () => {
      if (width === 64) this.#requirements.capability(Capability.Float64);
      // Enough for pointers to halves. Values of this type need Float16, which the functions that make them declare.
      if (width === 16) this.#requirements.capability(Capability.Float16Buffer);
      return { kind: 'float', id: this.#declare(Op.TypeFloat, width), width };
    });
  }

  vector(component: ScalarType, count: VectorCount): VectorType {
    this.expect(component, 'vector type');
    if (!isScalar(component)) throw new SpirvError('vector type', `cannot have components of ${nameOf(component)}`);
    if (!isVectorCount(count))
      throw new SpirvError('vector type', `there is none of ${count} components (2, 3, 4, 8, 16)`);
    return this.#intern(`vector ${component.id} ${count}`, () => {
      if (count > 4) this.#requirements.capability(Capability.Vector16);
      return { kind: 'vector', id: this.#declare(Op.TypeVector, component.id, count), component, count };
    });
  }

  /**
   * `length`: elements, at least 1: an integer constant, which may be a specialisation constant. No operation on such
   * constants: Intel's compilers of before 2023 take it for a constant, and then allocate any size.
   */
  array(element: Type, length: Value): ArrayType {
    this.expect(element, 'array type');
    if (element.kind === 'void') throw new SpirvError('array type', 'cannot have elements of void');
    this.expect(length.type, 'array type');
    const { integer } = length;
    if (integer === undefined) throw new SpirvError('array type', 'the length is not an integer constant');
    if (integer.value === undefined) {
      throw new SpirvError(
        'array type',
        'the length is an operation on specialisation constants: give it a separate one',
      );
    }
    if (integer.value === 0n) throw new SpirvError('array type', 'cannot have 0 elements');
    return this.#intern(`array ${element.id} ${length.id}`, () => ({
      kind: 'array',
      id: this.#declare(Op.TypeArray, element.id, length.id),
      element,
      length: integer.isSpecialised ? undefined : Number(integer.value),
    }));
  }

  struct(members: readonly Type[]): StructType {
    for (const member of members) this.expect(member, 'struct type');
    if (members.some(({ kind }) => kind === 'void')) throw new SpirvError('struct type', 'cannot have members of void');
    if (members.length > MAX_MEMBERS)
      throw new SpirvError('struct type', `cannot have more than ${MAX_MEMBERS} members`);
    return this.#intern(`struct ${members.map(({ id }) => id).join(' ')}`, () => ({
      kind: 'struct',
      id: this.#declare(Op.TypeStruct, ...members.map(({ id }) => id)),
      members,
    }));
  }

  pointer(storage: StorageClass, pointee: Type): PointerType {
    this.expect(pointee, 'pointer type');
    if (!STORAGE_CLASSES.includes(storage)) throw new SpirvError('pointer type', `there is no memory ${storage}`);
    if (holds(pointee, ({ kind }) => kind === 'void' || kind === 'bool')) {
      throw new SpirvError('pointer type', `memory cannot hold ${nameOf(pointee)}`);
    }
    return this.#intern(`pointer ${storage} ${pointee.id}`, () => {
      if (storage === StorageClass.Generic) this.#requirements.capability(Capability.GenericPointer);
      return { kind: 'pointer', id: this.#declare(Op.TypePointer, storage, pointee.id), storage, pointee };
    });
  }

  /** @internal Refuses what is no type of this module. */
  expect(type: Type, place: string): void {
    if (this.#own.has(type)) return;
    const isType = typeof type === 'object' && type !== null && 'kind' in type;
    throw new SpirvError(
      place,
      isType ? `${nameOf(type)} belongs to another module` : `${nameOfOther(type)} is not a type`,
    );
  }

  /** @internal */
  function(result: Type, parameters: readonly Type[]): TypeId {
    const ids = [result.id, ...parameters.map(({ id }) => id)];
    const key = ids.join(' ');
    let id = this.#functions.get(key);
    if (id === undefined) this.#functions.set(key, (id = this.#declare(Op.TypeFunction, ...ids)));
    return id;
  }

  #intern<T extends Type>(key: string, make: () => T): T {
    let type = this.#types.get(key);
    if (type === undefined) {
      this.#types.set(key, (type = make()));
      this.#own.add(type);
    }
    return type as T;
  }

  #declare(op: Op, ...operands: number[]): TypeId {
    const id = this.#sections.nextId() as TypeId;
    this.#sections.push('declarations', op, id, ...operands);
    return id;
  }
}

const isScalar = ({ kind }: Type): boolean => kind === 'int' || kind === 'float' || kind === 'bool';
