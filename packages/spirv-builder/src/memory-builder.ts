import { ArithmeticBuilder } from './arithmetic-builder.ts';
import { Decoration, MemoryAccess, StorageClass } from './generated/enums.ts';
import { Op } from './generated/opcodes.ts';
import { OpenCl } from './generated/open-cl.ts';
import {
  isVectorCount,
  nameOf,
  type PointerType,
  type ScalarType,
  scalarAlignment,
  type Type,
  type VectorCount,
  type VectorType,
} from './type.ts';
import { nameOfOther, type Operand, type Value } from './value.ts';

/** How memory is read or written. */
export interface AccessOptions {
  /** Bytes that the address is a multiple of. Default: the size of one scalar, which is always true. */
  readonly align?: number;
  readonly isVolatile?: boolean;
}

/** Pointers, memory, and the parts of vectors. */
export abstract class MemoryBuilder extends ArithmeticBuilder {
  /** A pointer to element `index`, which has a sign, of what `pointer` points to: an array, or a row of such values. */
  at(pointer: Value, index: Operand): Value {
    const { type } = this.use(pointer, 'at', 'pointer');
    if (type.kind !== 'pointer') throw this.error('at', `takes a pointer, got ${nameOf(type)}`);
    const place =
      typeof index === 'object'
        ? this.use(index, 'at', 'index')
        : this.operand(index, this.types.int(64), 'at', 'index');
    if (place.type.kind !== 'int') throw this.error('at', `index is ${nameOf(place.type)}, expected an integer`);
    if (type.pointee.kind !== 'array') {
      return this.emit(Op.InBoundsPtrAccessChain, type, pointer.id, place.id);
    }
    const { length = Infinity } = type.pointee;
    if (typeof index !== 'object' && (Number(index) < 0 || Number(index) >= length)) {
      throw this.error('at', `there is no element ${index} of ${length}`);
    }
    const element = this.types.pointer(type.storage, type.pointee.element);
    return this.emit(Op.InBoundsAccessChain, element, pointer.id, place.id);
  }

  /** A pointer to a member of the struct that `pointer` points to. */
  member(pointer: Value, index: number): Value {
    const { type } = this.use(pointer, 'member', 'pointer');
    const member = type.kind === 'pointer' && type.pointee.kind === 'struct' ? type.pointee.members[index] : undefined;
    if (type.kind !== 'pointer' || member === undefined) {
      throw this.error('member', `${nameOf(type)} has no member ${nameOfOther(index)}`);
    }
    const place = this.constant(this.types.int(32), index);
    return this.emit(Op.InBoundsAccessChain, this.types.pointer(type.storage, member), pointer.id, place.id);
  }

  load(pointer: Value, options?: AccessOptions): Value {
    const { pointee } = this.#pointer(pointer, 'load');
    return this.emit(Op.Load, pointee, pointer.id, ...this.#accessWords(pointee, options, 'load'));
  }

  store(pointer: Value, value: Operand, options?: AccessOptions): void {
    const { pointee, storage } = this.#pointer(pointer, 'store');
    if (storage === StorageClass.Input || storage === StorageClass.UniformConstant) {
      throw this.error('store', 'this memory is only for reading');
    }
    const stored = this.operand(value, pointee, 'store', 'value');
    this.perform(Op.Store, pointer.id, stored.id, ...this.#accessWords(pointee, options, 'store'));
  }

  /** Reads `count` neighbouring elements as a vector; `pointer` points to the first. */
  loadVector(pointer: Value, count: VectorCount, options?: AccessOptions): Value {
    return this.load(this.#asVector(pointer, this.#vectorOf(pointer, count, 'loadVector')), options);
  }

  /** Writes the components of a vector to neighbouring elements; `pointer` points to the first. */
  storeVector(pointer: Value, value: Value, options?: AccessOptions): void {
    const type = this.expectVector(this.use(value, 'storeVector', 'value'), 'storeVector');
    if (this.#vectorOf(pointer, type.count, 'storeVector') !== type) {
      throw this.error('storeVector', `${nameOf(value.type)} does not fit a ${nameOf(pointer.type)}`);
    }
    this.store(this.#asVector(pointer, type), value, options);
  }

  /** Reads one 16-bit float, or `count` neighbouring ones, as 32-bit floats. Needs no arithmetic on halves. */
  loadHalf(pointer: Value, count: 1 | VectorCount = 1): Value {
    this.#expectHalf(pointer, 'loadHalf');
    const f32 = this.types.float(32);
    const zero = this.constant(this.types.int(64), 0);
    const set = this.context.openCl();
    if (count !== 1) this.#expectCount(count, 'loadHalf');
    if (count === 1) return this.emit(Op.ExtInst, f32, set, OpenCl.vload_half, zero.id, pointer.id);
    const vector = this.types.vector(f32, count);
    return this.emit(Op.ExtInst, vector, set, OpenCl.vload_halfn, zero.id, pointer.id, count);
  }

  /** Writes a 32-bit float, or a vector of them, as 16-bit floats: rounded to the nearest, ties to even. */
  storeHalf(pointer: Value, value: Value): void {
    this.#expectHalf(pointer, 'storeHalf');
    const { type } = this.use(value, 'storeHalf', 'value');
    const component = type.kind === 'vector' ? type.component : type;
    if (component !== this.types.float(32)) throw this.error('storeHalf', `takes f32, got ${nameOf(type)}`);
    const instruction = type.kind === 'vector' ? OpenCl.vstore_halfn : OpenCl.vstore_half;
    const zero = this.constant(this.types.int(64), 0);
    this.emit(Op.ExtInst, this.types.void(), this.context.openCl(), instruction, value.id, zero.id, pointer.id);
  }

  /** A variable of this invocation, to be read with `load` and written with `store`. */
  variable(type: Type, initial?: Operand): Value {
    const pointerType = this.placed('variable', '', () => this.types.pointer(StorageClass.Function, type));
    const pointer = this.declareVariable(pointerType, StorageClass.Function);
    if (initial !== undefined) this.store(pointer, initial);
    return pointer;
  }

  /** A vector of these components, scalars or shorter vectors. */
  vector(type: VectorType, ...parts: readonly Operand[]): Value {
    this.#expectVectorType(type, 'vector');
    const values = parts.map((part, index) => {
      const name = `part ${index + 1}`;
      const isVector = typeof part === 'object' && this.use(part, 'vector', name).type.kind === 'vector';
      return isVector ? part : this.operand(part, type.component, 'vector', name);
    });
    const counts = values.map((value) => this.#componentsIn(value, type.component));
    if (counts.reduce((sum, count) => sum + count, 0) !== type.count) {
      throw this.error('vector', `${counts.join(' + ') || 'no'} components do not make a ${nameOf(type)}`);
    }
    // One part that is all of it: SPIR-V wants two at least.
    if (values.length === 1) return values[0] as Value;
    return this.emit(Op.CompositeConstruct, type, ...values.map(({ id }) => id));
  }

  /** A vector whose components are all the same. */
  splat(type: VectorType, value: Operand): Value {
    this.#expectVectorType(type, 'splat');
    if (typeof value !== 'object') return this.operand(value, type, 'splat', 'value');
    return this.spread(type, this.operand(value, type.component, 'splat', 'value'));
  }

  /** Component `index` of a vector. */
  extract(vector: Value, index: number): Value {
    const type = this.expectVector(this.use(vector, 'extract', 'vector'), 'extract');
    this.#expectIndex(index, type.count, 'extract');
    return this.emit(Op.CompositeExtract, type.component, vector.id, index);
  }

  /** The vector with another component at `index`. */
  insert(vector: Value, value: Operand, index: number): Value {
    const type = this.expectVector(this.use(vector, 'insert', 'vector'), 'insert');
    this.#expectIndex(index, type.count, 'insert');
    const part = this.operand(value, type.component, 'insert', 'value');
    return this.emit(Op.CompositeInsert, type, part.id, vector.id, index);
  }

  /** The component at an index that is known when the kernel runs; undefined beyond the last. */
  extractAt(vector: Value, index: Value): Value {
    const type = this.expectVector(this.use(vector, 'extractAt', 'vector'), 'extractAt');
    if (this.use(index, 'extractAt', 'index').type.kind !== 'int') {
      throw this.error('extractAt', `index is ${nameOf(index.type)}, expected an integer`);
    }
    return this.emit(Op.VectorExtractDynamic, type.component, vector.id, index.id);
  }

  /** Components of `a` and, from index `count of a` on, of `b`, in the order of `indices`. */
  shuffle(a: Value, b: Value, indices: readonly number[]): Value {
    const from = this.expectVector(this.use(a, 'shuffle', 'operand 1'), 'shuffle');
    const other = this.expectVector(this.use(b, 'shuffle', 'operand 2'), 'shuffle');
    if (from.component !== other.component) {
      throw this.error('shuffle', `${nameOf(from)} and ${nameOf(other)} have different components`);
    }
    for (const index of indices) this.#expectIndex(index, from.count + other.count, 'shuffle');
    const result = this.types.vector(from.component, this.#expectCount(indices.length, 'shuffle'));
    return this.emit(Op.VectorShuffle, result, a.id, b.id, ...indices);
  }

  /** Says that an address is a multiple of so many bytes; for parameters and variables. */
  protected alignTo(value: Value, bytes: number): void {
    if (!isAlignment(bytes)) throw this.error('align', `${bytes} is no power of two`);
    this.context.sections.push('decorations', Op.Decorate, value.id, Decoration.Alignment, bytes);
  }

  #pointer(value: Value, instruction: string): PointerType {
    const { type } = this.use(value, instruction, 'pointer');
    if (type.kind !== 'pointer') throw this.error(instruction, `takes a pointer, got ${nameOf(type)}`);
    return type;
  }

  #vectorOf(pointer: Value, count: VectorCount, instruction: string): VectorType {
    const { pointee } = this.#pointer(pointer, instruction);
    if (pointee.kind !== 'int' && pointee.kind !== 'float') {
      throw this.error(instruction, `takes a pointer to a number, got ${nameOf(pointer.type)}`);
    }
    return this.types.vector(pointee, this.#expectCount(count, instruction));
  }

  #expectVectorType(type: VectorType, instruction: string): void {
    this.expectType(type, instruction);
    if (type.kind !== 'vector') throw this.error(instruction, `${nameOf(type)} is no vector type`);
  }

  #expectCount(count: number, instruction: string): VectorCount {
    if (isVectorCount(count)) return count as VectorCount;
    throw this.error(instruction, `there are no vectors of ${count} components (2, 3, 4, 8, 16)`);
  }

  #accessWords(type: Type, { align, isVolatile = false }: AccessOptions = {}, instruction: string): number[] {
    if (align !== undefined && !isAlignment(align)) {
      throw this.error(instruction, `align is ${align}, expected a power of two`);
    }
    const volatile = isVolatile ? MemoryAccess.Volatile : 0;
    return [MemoryAccess.Aligned | volatile, align ?? scalarAlignment(type)];
  }

  #asVector(pointer: Value, vector: VectorType): Value {
    return this.bitcast(pointer, this.types.pointer((pointer.type as PointerType).storage, vector));
  }

  #expectHalf(pointer: Value, instruction: string): void {
    const { pointee } = this.#pointer(pointer, instruction);
    if (pointee.kind !== 'float' || pointee.width !== 16) {
      throw this.error(instruction, `takes a pointer to f16, got ${nameOf(pointer.type)}`);
    }
  }

  #componentsIn(value: Value, component: ScalarType): number {
    const { type } = value;
    if (type === component) return 1;
    if (type.kind === 'vector' && type.component === component) return type.count;
    throw this.error('vector', `a ${nameOf(type)} is no part of a vector of ${nameOf(component)}`);
  }

  #expectIndex(index: number, count: number, instruction: string): void {
    if (!Number.isInteger(index) || index < 0 || index >= count) {
      throw this.error(instruction, `there is no component ${index} of ${count}`);
    }
  }
}

/** Powers of two as far as a word goes. */
function isAlignment(bytes: number): boolean {
  return bytes > 0 && bytes >>> 0 === bytes && (bytes & (bytes - 1)) === 0;
}
