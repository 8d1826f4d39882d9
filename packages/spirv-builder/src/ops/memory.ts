import type { FunctionBody } from '../function-body.ts';
import { MemoryAccess, Op, StorageClass } from '../generated/spirv.ts';
import { OpenCl } from '../generated/open-cl.ts';
import { pointerType, vectorCount, vectorType } from '../operand-checks.ts';
import {
  isAlignment,
  nameOf,
  type PointerType,
  scalarAlignment,
  type Type,
  type VectorCount,
  type VectorType,
} from '../type.ts';
import { nameOfOther, type Operand, type Value } from '../value.ts';
import type { ConversionOps } from './conversions.ts';

/** Options of reading or writing memory. */
export interface AccessOptions {
  /** Bytes that the address is a multiple of. Default: the size of one scalar, which is always true. */
  readonly align?: number;
  /** True if the access is kept as it is, however often it is written. Default: the compiler may merge and drop accesses. */
  readonly isVolatile?: boolean;
}

/** Pointers and memory. */
export interface MemoryOps {
  /** A pointer to element `index`, which has a sign, of what `pointer` points to: an array, or a row of such values. */
  at(pointer: Value, index: Operand): Value;
  /** A pointer to a member of the struct that `pointer` points to. */
  member(pointer: Value, index: number): Value;
  /** The address that a pointer holds, a u64. */
  address(pointer: Value): Value;
  /** Reads what `pointer` points to. */
  load(pointer: Value, options?: AccessOptions): Value;
  /** Writes a value of the type that `pointer` points to. */
  store(pointer: Value, value: Operand, options?: AccessOptions): void;
  /** Reads `count` neighbouring elements as a vector; `pointer` points to the first. */
  loadVector(pointer: Value, count: VectorCount, options?: AccessOptions): Value;
  /** Writes the components of a vector to neighbouring elements; `pointer` points to the first. */
  storeVector(pointer: Value, value: Value, options?: AccessOptions): void;
  /** Reads one 16-bit float, or `count` neighbouring ones, as 32-bit floats. Needs no arithmetic on halves. */
  loadHalf(pointer: Value, count?: 1 | VectorCount): Value;
  /** Writes a 32-bit float, or a vector of them, as 16-bit floats: rounded to the nearest, ties to even. */
  storeHalf(pointer: Value, value: Value): void;
  /** A variable of this invocation, to be read with `load` and written with `store`. */
  variable(type: Type, initial?: Operand): Value;
}

/** Memory in a function. */
export function memoryOps(body: FunctionBody, { bitcast }: Pick<ConversionOps, 'bitcast'>): MemoryOps {
  const { types } = body;

  const load: MemoryOps['load'] = (pointer, options) => {
    const { pointee } = pointerType(body, pointer, 'load');
    return body.emit(Op.Load, pointee, pointer.id, ...accessWords(body, pointee, options, 'load'));
  };

  const store: MemoryOps['store'] = (pointer, value, options) => {
    const { pointee, storage } = pointerType(body, pointer, 'store');
    if (storage === StorageClass.Input || storage === StorageClass.UniformConstant) {
      throw body.error('store', 'this memory is only for reading');
    }
    const stored = body.operand(value, pointee, 'store', 'value');
    body.perform(Op.Store, pointer.id, stored.id, ...accessWords(body, pointee, options, 'store'));
  };

  const asVector = (pointer: Value, vector: VectorType): Value =>
    bitcast(pointer, types.pointer((pointer.type as PointerType).storage, vector));

  return {
    at: (pointer, index) => {
      const type = pointerType(body, pointer, 'at');
      const place =
        typeof index === 'object' ? body.use(index, 'at', 'index') : body.operand(index, types.int(64), 'at', 'index');
      if (place.type.kind !== 'int') throw body.error('at', `index is ${nameOf(place.type)}, expected an integer`);
      if (type.pointee.kind !== 'array') return body.emit(Op.InBoundsPtrAccessChain, type, pointer.id, place.id);
      const { element, length = Infinity } = type.pointee;
      if (typeof index !== 'object' && (Number(index) < 0 || Number(index) >= length)) {
        throw body.error('at', `there is no element ${index} of ${length}`);
      }
      return body.emit(Op.InBoundsAccessChain, types.pointer(type.storage, element), pointer.id, place.id);
    },

    address: (pointer) => {
      pointerType(body, pointer, 'address');
      return body.emit(Op.ConvertPtrToU, types.int(64), pointer.id);
    },

    member: (pointer, index) => {
      const { type } = body.use(pointer, 'member', 'pointer');
      const member =
        type.kind === 'pointer' && type.pointee.kind === 'struct' ? type.pointee.members[index] : undefined;
      if (type.kind !== 'pointer' || member === undefined) {
        throw body.error('member', `${nameOf(type)} has no member ${nameOfOther(index)}`);
      }
      const place = body.u32(index);
      return body.emit(Op.InBoundsAccessChain, types.pointer(type.storage, member), pointer.id, place);
    },

    load,
    store,

    loadVector: (pointer, count, options) =>
      load(asVector(pointer, vectorAt(body, pointer, count, 'loadVector')), options),

    storeVector: (pointer, value, options) => {
      const type = vectorType(body, value, 'storeVector', 'value');
      if (vectorAt(body, pointer, type.count, 'storeVector') !== type) {
        throw body.error('storeVector', `${nameOf(type)} does not fit a ${nameOf(pointer.type)}`);
      }
      store(asVector(pointer, type), value, options);
    },

    loadHalf: (pointer, count = 1) => {
      expectHalf(body, pointer, 'loadHalf');
      const f32 = types.float(32);
      const zero = body.constant(types.int(64), 0);
      const set = body.context.openCl();
      if (count === 1) return body.emit(Op.ExtInst, f32, set, OpenCl.vload_half, zero.id, pointer.id);
      const vector = types.vector(f32, vectorCount(body, count, 'loadHalf'));
      return body.emit(Op.ExtInst, vector, set, OpenCl.vload_halfn, zero.id, pointer.id, count);
    },

    storeHalf: (pointer, value) => {
      expectHalf(body, pointer, 'storeHalf');
      const { type } = body.use(value, 'storeHalf', 'value');
      const component = type.kind === 'vector' ? type.component : type;
      if (component !== types.float(32)) throw body.error('storeHalf', `takes f32, got ${nameOf(type)}`);
      const instruction = type.kind === 'vector' ? OpenCl.vstore_halfn : OpenCl.vstore_half;
      const zero = body.constant(types.int(64), 0);
      body.emit(Op.ExtInst, types.void(), body.context.openCl(), instruction, value.id, zero.id, pointer.id);
    },

    variable: (type, initial) => {
      const pointer = body.placed('variable', '', () => types.pointer(StorageClass.Function, type));
      const variable = body.declareVariable(pointer, StorageClass.Function);
      if (initial !== undefined) store(variable, initial);
      return variable;
    },
  };
}

/** The vector of `count` elements such as a pointer points to. */
function vectorAt(body: FunctionBody, pointer: Value, count: number, instruction: string): VectorType {
  const { pointee } = pointerType(body, pointer, instruction);
  if (pointee.kind !== 'int' && pointee.kind !== 'float') {
    throw body.error(instruction, `takes a pointer to a number, got ${nameOf(pointer.type)}`);
  }
  return body.types.vector(pointee, vectorCount(body, count, instruction));
}

function accessWords(
  body: FunctionBody,
  type: Type,
  { align, isVolatile = false }: AccessOptions = {},
  instruction: string,
): number[] {
  if (align !== undefined && !isAlignment(align)) {
    throw body.error(instruction, `align is ${align}, expected a power of two`);
  }
  const volatile = isVolatile ? MemoryAccess.Volatile : 0;
  return [MemoryAccess.Aligned | volatile, align ?? scalarAlignment(type)];
}

function expectHalf(body: FunctionBody, pointer: Value, instruction: string): void {
  const { pointee } = pointerType(body, pointer, instruction);
  if (pointee.kind !== 'float' || pointee.width !== 16) {
    throw body.error(instruction, `takes a pointer to f16, got ${nameOf(pointer.type)}`);
  }
}
