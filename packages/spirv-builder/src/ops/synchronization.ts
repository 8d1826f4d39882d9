import type { FunctionBody } from '../function-body.ts';
import { Capability, MemorySemantics, Op, Scope, StorageClass } from '../generated/spirv.ts';
import { nameOf, type Type } from '../type.ts';
import type { Operand, Value } from '../value.ts';

/** Changes a word of memory in one piece. */
export type AtomicOperation = 'add' | 'sub' | 'and' | 'or' | 'xor' | 'umin' | 'umax' | 'smin' | 'smax' | 'exchange';

/** Barriers and atomic operations: what work-items see of each other. */
export interface Synchronization {
  /**
   * Waits until all work-items of the group are here, and makes their writes to workgroup memory seen, and with `global`
   * those to global memory too. Every work-item of the group must call it.
   */
  barrier(options?: { readonly global?: boolean }): void;
  /** Changes memory in one piece; gives what was there. `pointer` points to an integer. */
  atomic(operation: AtomicOperation, pointer: Value, operand: Operand): Value;
  /** Writes `value` where memory equals `expected`, in one piece; gives what was there. */
  atomicCompareExchange(pointer: Value, expected: Operand, value: Operand): Value;
}

const ATOMICS: Readonly<Record<AtomicOperation, Op>> = {
  add: Op.AtomicIAdd,
  sub: Op.AtomicISub,
  and: Op.AtomicAnd,
  or: Op.AtomicOr,
  xor: Op.AtomicXor,
  umin: Op.AtomicUMin,
  umax: Op.AtomicUMax,
  smin: Op.AtomicSMin,
  smax: Op.AtomicSMax,
  exchange: Op.AtomicExchange,
};

/** Synchronization in a function. */
export function synchronization(body: FunctionBody): Synchronization {
  return {
    barrier: ({ global = false } = {}) => {
      const memory = MemorySemantics.WorkgroupMemory | (global ? MemorySemantics.CrossWorkgroupMemory : 0);
      const semantics = body.u32(MemorySemantics.SequentiallyConsistent | memory);
      body.perform(Op.ControlBarrier, body.u32(Scope.Workgroup), body.u32(Scope.Workgroup), semantics);
    },

    atomic: (operation, pointer, operand) => {
      const op = ATOMICS[operation];
      if (op === undefined) throw body.error('atomic', `there is no ${String(operation)}`);
      const { type, isShared } = atomicWord(body, pointer, 'atomic');
      const value = body.operand(operand, type, 'atomic', 'operand');
      return body.emit(op, type, pointer.id, ...scopeAndSemantics(body, isShared), value.id);
    },

    atomicCompareExchange: (pointer, expected, value) => {
      const { type, isShared } = atomicWord(body, pointer, 'atomicCompareExchange');
      const comparator = body.operand(expected, type, 'atomicCompareExchange', 'expected');
      const replacement = body.operand(value, type, 'atomicCompareExchange', 'value');
      const [scope, semantics] = scopeAndSemantics(body, isShared);
      const operands = [pointer.id, scope, semantics, semantics, replacement.id, comparator.id];
      return body.emit(Op.AtomicCompareExchange, type, ...operands);
    },
  };
}

/** The memory that an atomic operation changes: its type, and whether it is in workgroup memory. */
function atomicWord(body: FunctionBody, pointer: Value, instruction: string): { type: Type; isShared: boolean } {
  const { type } = body.use(pointer, instruction, 'pointer');
  if (type.kind !== 'pointer' || type.pointee.kind !== 'int' || type.pointee.width < 32) {
    throw body.error(instruction, `takes a pointer to u32 or u64, got ${nameOf(type)}`);
  }
  const isShared = type.storage === StorageClass.Workgroup;
  if (!isShared && type.storage !== StorageClass.CrossWorkgroup) {
    throw body.error(instruction, 'takes a pointer to global or workgroup memory');
  }
  if (type.pointee.width === 64) body.context.requirements.capability(Capability.Int64Atomics);
  return { type: type.pointee, isShared };
}

function scopeAndSemantics(body: FunctionBody, isShared: boolean): [number, number] {
  const memory = isShared ? MemorySemantics.WorkgroupMemory : MemorySemantics.CrossWorkgroupMemory;
  return [
    body.u32(isShared ? Scope.Workgroup : Scope.Device),
    body.u32(MemorySemantics.SequentiallyConsistent | memory),
  ];
}
