import type { FunctionBody } from '../function-body.ts';
import { BuiltIn, Capability, Decoration, Op, StorageClass } from '../generated/spirv.ts';
import type { Type } from '../type.ts';
import type { Value } from '../value.ts';
import type { MemoryOps } from './memory.ts';
import { mapRows } from '../operand-checks.ts';
import type { VectorOps } from './vectors.ts';

/** x, y or z. */
export type Dimension = 0 | 1 | 2;

/** The place of a work-item, its own arrays and those of its group. */
export interface WorkItems {
  /** Number of this work-item among all, as u64. */
  globalId(dimension: Dimension): Value;
  /** Number of this work-item in its group, as u64. */
  localId(dimension: Dimension): Value;
  /** Number of this work-item's group, as u64. */
  groupId(dimension: Dimension): Value;
  /** Number of groups, as u64. */
  groupCount(dimension: Dimension): Value;
  /** Work-items in a group, as u64. */
  groupSize(dimension: Dimension): Value;
  /** Number of work-items, as u64. */
  globalSize(dimension: Dimension): Value;

  /** Number of this work-item in its sub-group, as u32. */
  subgroupLocalId(): Value;
  /** Work-items in this sub-group, as u32. */
  subgroupSize(): Value;
  /** Number of this sub-group in its group, as u32. */
  subgroupId(): Value;
  /** Sub-groups in the group, as u32. */
  subgroupCount(): Value;

  /** An array in workgroup memory, shared by the work-items of a group: a pointer to it, for `at`. */
  localArray(element: Type, length: number | Value): Value;
  /** An array of this work-item: a pointer to it, for `at`. */
  privateArray(element: Type, length: number | Value): Value;
}

const BY_DIMENSION = {
  globalId: BuiltIn.GlobalInvocationId,
  localId: BuiltIn.LocalInvocationId,
  groupId: BuiltIn.WorkgroupId,
  groupCount: BuiltIn.NumWorkgroups,
  groupSize: BuiltIn.WorkgroupSize,
  globalSize: BuiltIn.GlobalSize,
};

const OF_SUBGROUP = {
  subgroupLocalId: BuiltIn.SubgroupLocalInvocationId,
  subgroupSize: BuiltIn.SubgroupSize,
  subgroupId: BuiltIn.SubgroupId,
  subgroupCount: BuiltIn.NumSubgroups,
};

/** Work-items in a function. */
export function workItems(
  body: FunctionBody,
  { load, variable, extract }: Pick<MemoryOps & VectorOps, 'load' | 'variable' | 'extract'>,
): WorkItems {
  const { context, types } = body;

  const input = (builtIn: BuiltIn, type: Type): Value => {
    expectKernel(body, 'id', 'built-ins');
    return body.input(builtIn, type);
  };

  return {
    ...mapRows(BY_DIMENSION, (_, builtIn: BuiltIn) => (dimension: Dimension) => {
      if (dimension !== 0 && dimension !== 1 && dimension !== 2) {
        throw body.error('id', `there is no dimension ${String(dimension)} (0, 1, 2)`);
      }
      // Vectors of three 64-bit integers: what a kernel with 64-bit addresses has them as.
      return extract(load(input(builtIn, types.vector(types.int(64), 3)), { align: 32 }), dimension);
    }),
    ...mapRows(OF_SUBGROUP, (_, builtIn: BuiltIn) => () => {
      context.requirements.capability(Capability.SubgroupDispatch);
      return load(input(builtIn, types.int(32)));
    }),

    localArray: (element, length) => {
      const type = arrayOf(body, element, length, 'localArray');
      // Compilers lay workgroup memory out by kernel; some lose what a function declares.
      expectKernel(body, 'localArray', 'arrays in workgroup memory');
      const pointer = body.placed('localArray', '', () => types.pointer(StorageClass.Workgroup, type));
      const array = body.newVariable(pointer);
      context.sections.push('declarations', Op.Variable, pointer.id, array.id, StorageClass.Workgroup);
      // Enough for vectors of sixteen floats: shared arrays are read in vectors.
      context.sections.push('decorations', Op.Decorate, array.id, Decoration.Alignment, 64);
      return array;
    },

    privateArray: (element, length) => variable(arrayOf(body, element, length, 'privateArray')),
  };
}

function arrayOf(body: FunctionBody, element: Type, length: number | Value, instruction: string): Type {
  const isLiteral = typeof length === 'number';
  if (isLiteral && (!Number.isSafeInteger(length) || length < 1)) {
    throw body.error(instruction, `cannot have ${length} elements`);
  }
  const count = isLiteral ? body.constant(body.types.int(64), length) : body.use(length, instruction, 'length');
  if (count.integer === undefined) {
    throw body.error(instruction, 'length is not an integer constant: a number, or a specialisation constant');
  }
  return body.placed(instruction, '', () => body.types.array(element, count));
}

function expectKernel(body: FunctionBody, instruction: string, what: string): void {
  if (!body.isKernel) throw body.error(instruction, `${what} are for kernels: pass them to functions as parameters`);
}
