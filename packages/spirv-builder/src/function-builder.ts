import type { ModuleContext } from './block-builder.ts';
import { Capability, MemorySemantics, Scope, StorageClass } from './generated/enums.ts';
import { Op } from './generated/opcodes.ts';
import type { LabelId, TypeId, ValueId } from './ids.ts';
import { SubgroupBuilder } from './subgroup-builder.ts';
import { nameOf, type PointerType, type Type } from './type.ts';
import type { Operand, Value } from './value.ts';
import { pushInstruction } from './words.ts';

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

/** The code of a function; what is here are barriers, atomics and calls. */
export class FunctionBuilder extends SubgroupBuilder {
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
    const semantics = this.u32(MemorySemantics.SequentiallyConsistent | memory);
    this.perform(Op.ControlBarrier, this.u32(Scope.Workgroup), this.u32(Scope.Workgroup), semantics);
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

  /** Calls a function of the module, or one that it imports. */
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

  #atomicScope(pointer: Value): [number, number] {
    const isShared = (pointer.type as PointerType).storage === StorageClass.Workgroup;
    const memory = isShared ? MemorySemantics.WorkgroupMemory : MemorySemantics.CrossWorkgroupMemory;
    return [
      this.u32(isShared ? Scope.Workgroup : Scope.Device),
      this.u32(MemorySemantics.SequentiallyConsistent | memory),
    ];
  }
}

/** A function of a module, to be called with `call`. */
export interface FunctionHandle {
  readonly name: string;
  readonly id: ValueId;
  readonly result: Type;
  readonly parameters: readonly Type[];
}
