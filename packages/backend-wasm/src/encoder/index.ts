export { call, callStatement, FunctionBody, type FunctionHandle, type Label } from './function-body.ts';
export { atomic, memory } from './instruction.ts';
export { ModuleBuilder, type Signature } from './module-builder.ts';
export { f32, i32, select } from './scalars.ts';
export type { Code, Local, Operand, Statement, Value, ValueType } from './instruction.ts';
export { f32x4, f64x2, i16x8, i32x4, i64x2, i8x16, v128 } from './vectors.ts';
