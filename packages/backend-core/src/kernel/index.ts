export {
  type BinaryKernel,
  binaryKernel,
  type BuiltIn,
  builtInOf,
  reduceKernel,
  type UnaryKernel,
  unaryKernel,
} from './built-ins.ts';
export { checkKernel } from './check-kernel.ts';
export { defineKernel, type KernelSpec, type SymbolsOf } from './define-kernel.ts';
export { operandsOf } from './finish-kernel.ts';
export type {
  ArithmeticNode,
  AxisNode,
  ConstantNode,
  FoldNode,
  GatherNode,
  InputNode,
  InputSpec,
  InputSpecs,
  Kernel,
  KernelInput,
  KernelNode,
  KernelOutput,
  KernelParameter,
  OutputSpec,
  OutputSpecs,
  ParameterNode,
  ParameterSpecs,
  ScanNode,
  ScatterMode,
  SpreadNode,
} from './graph.ts';
export type { KernelBuilder, ScanOptions } from './kernel-builder.ts';
export { kernelFromJson } from './kernel-json.ts';
export { FOLD_OPS, type FoldOp, NODE_OPS, type NodeOp, type NodeOpRule, SCAN_OPS, type ScanOp } from './node-ops.ts';
export type { GatherInput, Operand, Scattered, Value } from './value.ts';
export { type Level, type NumberType, STORAGE_DTYPES, type ValueType } from './value-types.ts';
export type { CheckedRun, ResolvedRun, RunLayout } from './checked-run.ts';
export type { GatherOperand, GatherView, RunCall, RunDomain, RunOperand, RunShape, RunView } from './run-call.ts';
export { type AskedRun, checkedRun } from './same-run.ts';
