import { Capability, GroupOperation, Scope, StorageClass } from './generated/enums.ts';
import { Op } from './generated/opcodes.ts';
import { componentOf, type FloatType, type IntType, nameOf, type Type, type VectorType } from './type.ts';
import type { Operand, Value } from './value.ts';
import { WorkItemBuilder } from './work-item-builder.ts';

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

/** A number or a vector of numbers, one work-item's share of a block. */
type BlockType = IntType | FloatType | VectorType;

/** Components of a work-item's share: what the extension SPV_INTEL_subgroups has instructions for. */
const BLOCK_COUNTS: readonly number[] = [1, 2, 4, 8];

/** What the work-items of a sub-group do together. All of them have to come by. */
export abstract class SubgroupBuilder extends WorkItemBuilder {
  /** The values of all work-items of the sub-group, combined. All of them have to come by. */
  subgroupReduce(operation: SubgroupOperation, value: Value): Value {
    const { type } = this.use(value, 'subgroupReduce', 'value');
    if (SUBGROUP_OPS[operation] === undefined) throw this.error('subgroupReduce', `there is no ${String(operation)}`);
    const kind = operation.startsWith('f') ? 'float' : 'int';
    if (type.kind !== kind) throw this.error('subgroupReduce', `${operation} takes ${kind}, got ${nameOf(type)}`);
    this.context.requirements.capability(Capability.Groups);
    const scope = this.u32(Scope.Subgroup);
    return this.emit(SUBGROUP_OPS[operation], type, scope, GroupOperation.Reduce, value.id);
  }

  /** The value of the work-item with number `lane`, u32, the same for all. */
  subgroupBroadcast(value: Value, lane: Operand): Value {
    const type = this.#numbers(value, 'subgroupBroadcast');
    const from = this.operand(lane, this.types.int(32), 'subgroupBroadcast', 'lane');
    this.context.requirements.capability(Capability.Groups);
    return this.emit(Op.GroupBroadcast, type, this.u32(Scope.Subgroup), value.id, from.id);
  }

  /** The value of the work-item with number `lane`, u32, which may differ from one to the next. */
  subgroupShuffle(value: Value, lane: Operand): Value {
    const type = this.#numbers(value, 'subgroupShuffle');
    const from = this.operand(lane, this.types.int(32), 'subgroupShuffle', 'lane');
    this.context.requirements.capability(Capability.SubgroupShuffleINTEL);
    this.context.requirements.extension('SPV_INTEL_subgroups');
    return this.emit(Op.SubgroupShuffleINTEL, type, value.id, from.id);
  }

  /**
   * Reads a block of memory that the work-items of the sub-group share out: component `i` of work-item `lane` is element
   * `i * subgroupSize() + lane` behind `pointer`, which is the same for all and a multiple of 4 bytes.
   *
   * @param type - of one work-item's share: 16-bit or 32-bit numbers as `pointer` has them, or a vector of 2, 4 or 8
   */
  subgroupBlockRead(pointer: Value, type: Type): Value {
    this.expectType(type, 'subgroupBlockRead');
    const { memory, share } = this.#block(pointer, type, 'subgroupBlockRead');
    return this.bitcast(this.emit(Op.SubgroupBlockReadINTEL, share, memory.id), type);
  }

  /** Writes what {@link subgroupBlockRead} reads, one share a work-item; `pointer` is a multiple of 16 bytes. */
  subgroupBlockWrite(pointer: Value, value: Value): void {
    const { type } = this.use(value, 'subgroupBlockWrite', 'value');
    const { memory, share } = this.#block(pointer, type, 'subgroupBlockWrite');
    this.perform(Op.SubgroupBlockWriteINTEL, memory.id, this.bitcast(value, share).id);
  }

  protected u32(value: number): number {
    return this.constant(this.types.int(32), value).id;
  }

  /** The block as integers: the instructions move bits, and compilers know them for integers only. */
  #block(pointer: Value, type: Type, instruction: string): { readonly memory: Value; readonly share: BlockType } {
    const { type: of } = this.use(pointer, instruction, 'pointer');
    const pointee = of.kind === 'pointer' && of.storage === StorageClass.CrossWorkgroup ? of.pointee : undefined;
    if ((pointee?.kind !== 'int' && pointee?.kind !== 'float') || (pointee.width !== 16 && pointee.width !== 32)) {
      throw this.error(instruction, `takes a pointer to 16-bit or 32-bit numbers in global memory, got ${nameOf(of)}`);
    }
    const count = type.kind === 'vector' ? type.count : 1;
    if (componentOf(type) !== pointee || !BLOCK_COUNTS.includes(count)) {
      throw this.error(instruction, `${nameOf(type)} is no share of ${nameOf(pointee)}: one, or a vector of 2, 4 or 8`);
    }
    this.context.requirements.capability(Capability.SubgroupBufferBlockIOINTEL);
    this.context.requirements.extension('SPV_INTEL_subgroups');
    const integer = this.types.int(pointee.width);
    const memory = this.bitcast(pointer, this.types.pointer(StorageClass.CrossWorkgroup, integer));
    return { memory, share: type.kind === 'vector' ? this.types.vector(integer, type.count) : integer };
  }

  #numbers(value: Value, instruction: string): Type {
    this.expectKind(this.use(value, instruction, 'value'), ['int', 'float'], instruction);
    return value.type;
  }
}
