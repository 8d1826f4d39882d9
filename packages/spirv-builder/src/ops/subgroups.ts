import type { FunctionBody } from '../function-body.ts';
import { Capability, GroupOperation, Op, Scope, StorageClass } from '../generated/spirv.ts';
import { expectKind, expectType } from '../operand-checks.ts';
import { componentOf, nameOf, type Type } from '../type.ts';
import type { Operand, Value } from '../value.ts';
import type { ConversionOps } from './conversions.ts';

/** Combines the values of a sub-group. */
export type SubgroupOperation = 'iadd' | 'fadd' | 'fmin' | 'umin' | 'smin' | 'fmax' | 'umax' | 'smax';

/** The operations that the work-items of a sub-group do together. All of them must reach them. */
export interface SubgroupOps {
  /** The values of all work-items of the sub-group, combined. */
  subgroupReduce(operation: SubgroupOperation, value: Value): Value;
  /** The value of the work-item with number `lane`, u32, the same for all. */
  subgroupBroadcast(value: Value, lane: Operand): Value;
  /** The value of the work-item with number `lane`, u32, which may differ from one to the next. */
  subgroupShuffle(value: Value, lane: Operand): Value;
  /**
   * Reads a block of memory that the work-items of the sub-group share out: component `i` of work-item `lane` is element
   * `i * subgroupSize() + lane` after `pointer`, which is the same for all and a multiple of 4 bytes.
   *
   * @param type - of one work-item's share: 16-bit or 32-bit numbers as `pointer` has them, or a vector of 2, 4 or 8
   */
  subgroupBlockRead(pointer: Value, type: Type): Value;
  /** Writes what `subgroupBlockRead` reads, one share a work-item; `pointer` is a multiple of 16 bytes. */
  subgroupBlockWrite(pointer: Value, value: Value): void;
}

const REDUCTIONS: Readonly<Record<SubgroupOperation, Op>> = {
  iadd: Op.GroupIAdd,
  fadd: Op.GroupFAdd,
  fmin: Op.GroupFMin,
  umin: Op.GroupUMin,
  smin: Op.GroupSMin,
  fmax: Op.GroupFMax,
  umax: Op.GroupUMax,
  smax: Op.GroupSMax,
};

/** Components of a work-item's share: what the extension SPV_INTEL_subgroups has instructions for. */
const BLOCK_COUNTS: readonly number[] = [1, 2, 4, 8];

/** Sub-groups in a function. */
export function subgroupOps(body: FunctionBody, { bitcast }: Pick<ConversionOps, 'bitcast'>): SubgroupOps {
  const { types } = body;
  const { requirements } = body.context;

  /** The value of some work-item: its type, and the work-item's number. */
  const fromLane = (value: Value, lane: Operand, instruction: string): { type: Type; from: Value } => {
    expectKind(body, body.use(value, instruction, 'value'), ['int', 'float'], instruction);
    return { type: value.type, from: body.operand(lane, types.int(32), instruction, 'lane') };
  };

  /** The block as integers: the instructions move bits, and compilers know them for integers only. */
  const block = (pointer: Value, type: Type, instruction: string): { memory: Value; share: Type } => {
    const { type: of } = body.use(pointer, instruction, 'pointer');
    const pointee = of.kind === 'pointer' && of.storage === StorageClass.CrossWorkgroup ? of.pointee : undefined;
    if ((pointee?.kind !== 'int' && pointee?.kind !== 'float') || (pointee.width !== 16 && pointee.width !== 32)) {
      throw body.error(instruction, `takes a pointer to 16-bit or 32-bit numbers in global memory, got ${nameOf(of)}`);
    }
    const count = type.kind === 'vector' ? type.count : 1;
    if (componentOf(type) !== pointee || !BLOCK_COUNTS.includes(count)) {
      throw body.error(
        instruction,
        `${nameOf(type)} is not a share of ${nameOf(pointee)}: one, or a vector of 2, 4 or 8`,
      );
    }
    requirements.capability(Capability.SubgroupBufferBlockIOINTEL);
    requirements.extension('SPV_INTEL_subgroups');
    const integer = types.int(pointee.width);
    const memory = bitcast(pointer, types.pointer(StorageClass.CrossWorkgroup, integer));
    return { memory, share: type.kind === 'vector' ? types.vector(integer, type.count) : integer };
  };

  return {
    subgroupReduce: (operation, value) => {
      const { type } = body.use(value, 'subgroupReduce', 'value');
      const op = REDUCTIONS[operation];
      if (op === undefined) throw body.error('subgroupReduce', `there is no ${String(operation)}`);
      const kind = operation.startsWith('f') ? 'float' : 'int';
      if (type.kind !== kind) throw body.error('subgroupReduce', `${operation} takes ${kind}, got ${nameOf(type)}`);
      requirements.capability(Capability.Groups);
      return body.emit(op, type, body.u32(Scope.Subgroup), GroupOperation.Reduce, value.id);
    },

    subgroupBroadcast: (value, lane) => {
      const { type, from } = fromLane(value, lane, 'subgroupBroadcast');
      requirements.capability(Capability.Groups);
      return body.emit(Op.GroupBroadcast, type, body.u32(Scope.Subgroup), value.id, from.id);
    },

    subgroupShuffle: (value, lane) => {
      const { type, from } = fromLane(value, lane, 'subgroupShuffle');
      requirements.capability(Capability.SubgroupShuffleINTEL);
      requirements.extension('SPV_INTEL_subgroups');
      return body.emit(Op.SubgroupShuffleINTEL, type, value.id, from.id);
    },

    subgroupBlockRead: (pointer, type) => {
      expectType(body, type, 'subgroupBlockRead');
      const { memory, share } = block(pointer, type, 'subgroupBlockRead');
      return bitcast(body.emit(Op.SubgroupBlockReadINTEL, share, memory.id), type);
    },

    subgroupBlockWrite: (pointer, value) => {
      const { type } = body.use(value, 'subgroupBlockWrite', 'value');
      const { memory, share } = block(pointer, type, 'subgroupBlockWrite');
      body.perform(Op.SubgroupBlockWriteINTEL, memory.id, bitcast(value, share).id);
    },
  };
}
