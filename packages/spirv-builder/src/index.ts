/**
 * A typed SPIR-V assembler for compute kernels.
 *
 * @packageDocumentation
 */
export type { FunctionBuilder } from './function-builder.ts';
export { StorageClass } from './generated/spirv.ts';
export type { LabelId, TypeId, ValueId } from './type.ts';
export type { KernelOptions } from './kernel-options.ts';
export { listInstructions } from './list-instructions.ts';
export type { MathFunction } from './ops/math.ts';
export { ModuleBuilder } from './module-builder.ts';
export type { ArithmeticOps } from './ops/arithmetic.ts';
export type { Branches, SwitchCase } from './ops/branches.ts';
export type { Calls, FunctionHandle } from './ops/calls.ts';
export type { ComparisonOps } from './ops/comparisons.ts';
export type { ConversionOps } from './ops/conversions.ts';
export type { LogicOps } from './ops/logic.ts';
export type { ForLoopOptions, Loops } from './ops/loops.ts';
export type { MathOps } from './ops/math.ts';
export type { AccessOptions, MemoryOps } from './ops/memory.ts';
export type { SubgroupOperation, SubgroupOps } from './ops/subgroups.ts';
export type { AtomicOperation, Synchronization } from './ops/synchronization.ts';
export type { VectorOps } from './ops/vectors.ts';
export type { Dimension, WorkItems } from './ops/work-items.ts';
export { SpirvError } from './spirv-error.ts';
export {
  type ArrayType,
  type BoolType,
  type FloatType,
  type IntType,
  nameOf,
  type PointerType,
  type ScalarType,
  type StructType,
  type Type,
  type VectorCount,
  type VectorType,
  type VoidType,
} from './type.ts';
export type { TypeTable } from './type-table.ts';
export type { ConstantInteger, Operand, Value } from './value.ts';
