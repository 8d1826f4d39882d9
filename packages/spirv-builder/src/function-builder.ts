import type { ModuleContext } from './block-builder.ts';
import { Capability, GroupOperation, MemorySemantics, Scope, StorageClass } from './generated/enums.ts';
import { Op } from './generated/opcodes.ts';
import type { LabelId, TypeId, ValueId } from './ids.ts';
import { nameOf, type PointerType, type Type } from './type.ts';
import type { Operand, Value } from './value.ts';
import { WorkItemBuilder } from './work-item-builder.ts';
import { pushInstruction } from './words.ts';

/** Combines the values of a sub-group. */
export type SubgroupOperation = 'iadd' | 'fadd' | 'fmin' | 'umin' | 'smin' | 'fmax' | 'umax' | 'smax';

const SUBGROUP_OPS: Readonly<Record<SubgroupOperation, Op>> = {
  iadd: Op.GroupIAdd,
  fadd: Op.GroupFAdd,
  fmin: Op.GroupFMin,
  umin: Op.GroupUMin,
  smin: Op.GroupSMin,
  fmax: Op.GroupFMax,
  umax: Op.GroupUMax,
  smax: Op.GroupSMax,
};

/** Changes a word of memory in one piece. */
export type AtomicOperation = 'add' | 'sub' | 'and' | 'or' | 'xor' | 'umin' | 'umax' | 'smin' | 'smax' | 'exchange';

const ATOMIC_OPS: Readonly<Record<AtomicOperation, Op>> = {
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

/** The code of a function; what is here concerns work-items beside this one: barriers, atomics, sub-groups, calls. */
export class FunctionBuilder extends WorkItemBuilder {
  readonly #entry: LabelId;

  /** @internal Functions are made by a `ModuleBuilder`. */
  constructor(place: string, module: object, context: ModuleContext, isKernel: boolean) {
    super(place, module, context, isKernel);
    this.#entry = this.newLabel();
    this.startBlock(this.#entry);
  }

  /**
   * Waits until all work-items of the group are here, and makes their writes to workgroup memory seen, and with `global`
   * those to global memory too. Every work-item of the group has to come by.
   */
  barrier({ global = false }: { readonly global?: boolean } = {}): void {
    const memory = MemorySemantics.WorkgroupMemory | (global ? MemorySemantics.CrossWorkgroupMemory : 0);
    const semantics = this.#u32(MemorySemantics.SequentiallyConsistent | memory);
    this.perform(Op.ControlBarrier, this.#u32(Scope.Workgroup), this.#u32(Scope.Workgroup), semantics);
  }

  /** Changes memory in one piece; gives what was there. `pointer` points to an integer. */
  atomic(operation: AtomicOperation, pointer: Value, operand: Operand): Value {
    if (ATOMIC_OPS[operation] === undefined) throw this.error('atomic', `there is no ${String(operation)}`);
    const type = this.#atomicPointee(pointer, 'atomic');
    const value = this.operand(operand, type, 'atomic', 'operand');
    return this.emit(ATOMIC_OPS[operation], type, pointer.id, ...this.#atomicScope(pointer), value.id);
  }

  /** Writes `value` where memory equals `expected`, in one piece; gives what was there. */
  atomicCompareExchange(pointer: Value, expected: Operand, value: Operand): Value {
    const type = this.#atomicPointee(pointer, 'atomicCompareExchange');
    const comparator = this.operand(expected, type, 'atomicCompareExchange', 'expected');
    const replacement = this.operand(value, type, 'atomicCompareExchange', 'value');
    const [scope, semantics] = this.#atomicScope(pointer);
    const operands = [pointer.id, scope, semantics, semantics, replacement.id, comparator.id];
    return this.emit(Op.AtomicCompareExchange, type, ...operands);
  }

  /** The values of all work-items of the sub-group, combined. All of them have to come by. */
  subgroupReduce(operation: SubgroupOperation, value: Value): Value {
    const { type } = this.use(value, 'subgroupReduce', 'value');
    if (SUBGROUP_OPS[operation] === undefined) throw this.error('subgroupReduce', `there is no ${String(operation)}`);
    const kind = operation.startsWith('f') ? 'float' : 'int';
    if (type.kind !== kind) throw this.error('subgroupReduce', `${operation} takes ${kind}, got ${nameOf(type)}`);
    this.context.requirements.capability(Capability.Groups);
    const scope = this.#u32(Scope.Subgroup);
    return this.emit(SUBGROUP_OPS[operation], type, scope, GroupOperation.Reduce, value.id);
  }

  /** The value of the work-item with number `lane`, u32, the same for all. */
  subgroupBroadcast(value: Value, lane: Operand): Value {
    const type = this.#numbers(value, 'subgroupBroadcast');
    const from = this.operand(lane, this.types.int(32), 'subgroupBroadcast', 'lane');
    this.context.requirements.capability(Capability.Groups);
    return this.emit(Op.GroupBroadcast, type, this.#u32(Scope.Subgroup), value.id, from.id);
  }

  /** The value of the work-item with number `lane`, u32, which may differ from one to the next. */
  subgroupShuffle(value: Value, lane: Operand): Value {
    const type = this.#numbers(value, 'subgroupShuffle');
    const from = this.operand(lane, this.types.int(32), 'subgroupShuffle', 'lane');
    this.context.requirements.capability(Capability.SubgroupShuffleINTEL);
    this.context.requirements.extension('SPV_INTEL_subgroups');
    return this.emit(Op.SubgroupShuffleINTEL, type, value.id, from.id);
  }

  /** Calls a function of the module. */
  call(callee: FunctionHandle, ...operands: readonly Operand[]): Value {
    if (callee === undefined || !this.context.hasFunction(callee)) {
      throw this.error('call', 'takes a function of this module that is complete: none can call itself');
    }
    if (operands.length !== callee.parameters.length) {
      const wanted = callee.parameters.length;
      throw this.error(`call of ${callee.name}`, `takes ${wanted} arguments, got ${operands.length}`);
    }
    const ids = callee.parameters.map(
      (type, index) =>
        this.operand(operands[index] as Operand, type, `call of ${callee.name}`, `argument ${index + 1}`).id,
    );
    return this.emit(Op.FunctionCall, callee.result, callee.id, ...ids);
  }

  /** @internal */
  parameter(type: Type, align: number | undefined): Value {
    const value = this.newValue(type);
    if (align !== undefined) this.alignTo(value, align);
    return value;
  }

  /** @internal Ends the function: its words, and the variables that its entry point has to name. */
  complete(
    id: ValueId,
    type: TypeId,
    result: Type,
    control: number,
    parameters: readonly Value[],
    returned: Operand | undefined,
  ): { readonly words: readonly number[]; readonly interfaces: readonly number[] } {
    if (result.kind === 'void') this.terminate(Op.Return);
    else this.terminate(Op.ReturnValue, this.operand(returned as Operand, result, 'return', 'value').id);
    const words: number[] = [];
    pushInstruction(words, Op.Function, [result.id, id, control, type]);
    for (const { id: parameter, type: declared } of parameters) {
      pushInstruction(words, Op.FunctionParameter, [declared.id, parameter]);
    }
    for (const word of this.finish(this.#entry)) words.push(word);
    pushInstruction(words, Op.FunctionEnd, []);
    // Before SPIR-V 1.4 an entry point names its inputs only.
    return { words, interfaces: this.inputs.map((input) => input.id) };
  }

  #atomicPointee(pointer: Value, instruction: string): Type {
    const { type } = this.use(pointer, instruction, 'pointer');
    if (type.kind !== 'pointer' || type.pointee.kind !== 'int' || type.pointee.width < 32) {
      throw this.error(instruction, `takes a pointer to u32 or u64, got ${nameOf(type)}`);
    }
    if (type.storage !== StorageClass.CrossWorkgroup && type.storage !== StorageClass.Workgroup) {
      throw this.error(instruction, 'takes a pointer to global or workgroup memory');
    }
    if (type.pointee.width === 64) this.context.requirements.capability(Capability.Int64Atomics);
    return type.pointee;
  }

  #numbers(value: Value, instruction: string): Type {
    this.expectKind(this.use(value, instruction, 'value'), ['int', 'float'], instruction);
    return value.type;
  }

  #atomicScope(pointer: Value): [number, number] {
    const isShared = (pointer.type as PointerType).storage === StorageClass.Workgroup;
    const memory = isShared ? MemorySemantics.WorkgroupMemory : MemorySemantics.CrossWorkgroupMemory;
    return [
      this.#u32(isShared ? Scope.Workgroup : Scope.Device),
      this.#u32(MemorySemantics.SequentiallyConsistent | memory),
    ];
  }

  #u32(value: number): number {
    return this.constant(this.types.int(32), value).id;
  }
}

/** A function of a module, to be called with `call`. */
export interface FunctionHandle {
  readonly name: string;
  readonly id: ValueId;
  readonly result: Type;
  readonly parameters: readonly Type[];
}
