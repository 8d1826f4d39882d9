/**
 * A typed SPIR-V assembler for compute kernels.
 *
 * @packageDocumentation
 */
export type { ForLoopOptions, SwitchCase } from './control-builder.ts';
export type { AtomicOperation, FunctionBuilder, FunctionHandle } from './function-builder.ts';
export { StorageClass } from './generated/enums.ts';
export type { LabelId, TypeId, ValueId } from './ids.ts';
export type { MathFunction } from './math-functions.ts';
export type { AccessOptions } from './memory-builder.ts';
export type { KernelOptions } from './kernel-options.ts';
export { ModuleBuilder } from './module-builder.ts';
export { SpirvError } from './spirv-error.ts';
export type { SubgroupOperation } from './subgroup-builder.ts';
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
export type { Dimension } from './work-item-builder.ts';
