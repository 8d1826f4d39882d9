import { ArithmeticBuilder } from './arithmetic-builder.ts';
import { Decoration, MemoryAccess, StorageClass } from './generated/enums.ts';
import { Op } from './generated/opcodes.ts';
import { OpenCl } from './generated/open-cl.ts';
import {
  nameOf,
  type PointerType,
  type ScalarType,
  scalarAlignment,
  type Type,
  type VectorCount,
  type VectorType,
} from './type.ts';
import type { Operand, Value } from './value.ts';

/** How memory is read or written. */
export interface AccessOptions {
  /** Bytes that the address is a multiple of. Default: the size of one scalar, which is always true. */
  readonly align?: number;
  readonly isVolatile?: boolean;
}

/** Pointers, memory, and the parts of vectors. */
export abstract class MemoryBuilder extends ArithmeticBuilder {
  /** A pointer to element `index` of what `pointer` points to: an array, or a row of such values. */
  at(pointer: Value, index: Operand): Value {
    const { type } = this.use(pointer, 'at', 'pointer');
    if (type.kind !== 'pointer') throw this.error('at', `takes a pointer, got ${nameOf(type)}`);
    const place = typeof index === 'object' ? this.use(index, 'at', 'index') : this.constant(this.types.int(64), index);
    if (place.type.kind !== 'int') throw this.error('at', `index is ${nameOf(place.type)}, expected an integer`);
    if (type.pointee.kind !== 'array') {
      return this.emit(Op.InBoundsPtrAccessChain, type, pointer.id, place.id);
    }
    const element = this.types.pointer(type.storage, type.pointee.element);
    return this.emit(Op.InBoundsAccessChain, element, pointer.id, place.id);
  }

  /** A pointer to a member of the struct that `pointer` points to. */
  member(pointer: Value, index: number): Value {
    const { type } = this.use(pointer, 'member', 'pointer');
    const member = type.kind === 'pointer' && type.pointee.kind === 'struct' ? type.pointee.members[index] : undefined;
    if (type.kind !== 'pointer' || member === undefined) {
      throw this.error('member', `${nameOf(type)} has no member ${index}`);
    }
    const place = this.constant(this.types.int(32), index);
    return this.emit(Op.InBoundsAccessChain, this.types.pointer(type.storage, member), pointer.id, place.id);
  }

  load(pointer: Value, options?: AccessOptions): Value {
    const { pointee } = this.#pointer(pointer, 'load');
    return this.emit(Op.Load, pointee, pointer.id, ...accessWords(pointee, options));
  }

  store(pointer: Value, value: Operand, options?: AccessOptions): void {
    const { pointee } = this.#pointer(pointer, 'store');
    const stored = this.operand(value, pointee, 'store', 'value');
    this.perform(Op.Store, pointer.id, stored.id, ...accessWords(pointee, options));
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
    const pointer = this.declareVariable(this.types.pointer(StorageClass.Function, type), StorageClass.Function);
    if (initial !== undefined) this.store(pointer, initial);
    return pointer;
  }

  /** A vector of these components, scalars or shorter vectors. */
  vector(type: VectorType, ...parts: readonly Operand[]): Value {
    const values = parts.map((part, index) => {
      const isScalar = typeof part !== 'object' || part.type.kind !== 'vector';
      return isScalar
        ? this.operand(part, type.component, 'vector', `part ${index + 1}`)
        : this.use(part, 'vector', `part ${index + 1}`);
    });
    const counts = values.map((value) => this.#componentsIn(value, type.component));
    if (counts.reduce((sum, count) => sum + count, 0) !== type.count) {
      throw this.error('vector', `${counts.join(' + ')} components do not make a ${nameOf(type)}`);
    }
    return this.emit(Op.CompositeConstruct, type, ...values.map(({ id }) => id));
  }

  /** A vector whose components are all the same. */
  splat(type: VectorType, value: Operand): Value {
    if (typeof value !== 'object') return this.constant(type, value);
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
    this.expectKind(this.use(index, 'extractAt', 'index'), ['int'], 'extractAt');
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
    const result = this.types.vector(from.component, indices.length as VectorCount);
    return this.emit(Op.VectorShuffle, result, a.id, b.id, ...indices);
  }

  /** Says that an address is a multiple of so many bytes; for parameters and variables. */
  protected alignTo(value: Value, bytes: number): void {
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
    return this.types.vector(pointee, count);
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

function accessWords(type: Type, { align, isVolatile = false }: AccessOptions = {}): number[] {
  const volatile = isVolatile ? MemoryAccess.Volatile : 0;
  return [MemoryAccess.Aligned | volatile, align ?? scalarAlignment(type)];
}
