import {
  instructions,
  openClInstructions,
  operandKinds,
  type InstructionGrammar,
  type OperandKind,
} from '../generated/grammar.ts';
import { Op } from '../generated/opcodes.ts';

/** Part of the grammar, from both ends. */
export interface NameTable {
  readonly byName: ReadonlyMap<string, number>;
  readonly byValue: ReadonlyMap<number, InstructionGrammar>;
}

/** The core instructions; their names start with "Op". */
export const coreInstructions: () => NameTable = once(() => tableOf(instructions));

/** The instructions of "OpenCL.std". */
export const extendedInstructions: () => NameTable = once(() => tableOf(openClInstructions));

/** What OpSpecConstantOp can compute, by the names without "Op" that it is written with. */
export const specConstantOperations: () => NameTable = once(() => {
  const byValue = new Map(SPEC_CONSTANT_OPERATIONS.map((opcode) => [opcode, instructions[opcode]!]));
  return { byValue, byName: new Map([...byValue].map(([opcode, { name }]) => [name.slice(2), opcode])) };
});

const enumTables = new Map<OperandKind, NameTable>();

/** The values or bits of an enum. */
export function enumerantsOf(kind: OperandKind): NameTable {
  const table = enumTables.get(kind) ?? tableOf(operandKinds[kind].enumerants ?? {});
  enumTables.set(kind, table);
  return table;
}

function tableOf(grammar: Readonly<Record<number, InstructionGrammar>>): NameTable {
  const entries = Object.entries(grammar).map(([value, entry]) => [Number(value), entry] as const);
  return { byValue: new Map(entries), byName: new Map(entries.map(([value, { name }]) => [name, value])) };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

// The specification lists these with OpSpecConstantOp; the grammar does not.
const SPEC_CONSTANT_OPERATIONS: readonly Op[] = [
  ...[Op.AccessChain, Op.InBoundsAccessChain, Op.PtrAccessChain, Op.InBoundsPtrAccessChain],
  ...[Op.VectorShuffle, Op.CompositeExtract, Op.CompositeInsert],
  ...[Op.ConvertFToU, Op.ConvertFToS, Op.ConvertSToF, Op.ConvertUToF, Op.UConvert, Op.SConvert, Op.FConvert],
  ...[Op.QuantizeToF16, Op.ConvertPtrToU, Op.ConvertUToPtr, Op.PtrCastToGeneric, Op.GenericCastToPtr, Op.Bitcast],
  ...[Op.SNegate, Op.FNegate, Op.IAdd, Op.FAdd, Op.ISub, Op.FSub, Op.IMul, Op.FMul],
  ...[Op.UDiv, Op.SDiv, Op.FDiv, Op.UMod, Op.SRem, Op.SMod, Op.FRem, Op.FMod],
  ...[Op.LogicalEqual, Op.LogicalNotEqual, Op.LogicalOr, Op.LogicalAnd, Op.LogicalNot, Op.Select],
  ...[Op.IEqual, Op.INotEqual, Op.UGreaterThan, Op.SGreaterThan, Op.UGreaterThanEqual, Op.SGreaterThanEqual],
  ...[Op.ULessThan, Op.SLessThan, Op.ULessThanEqual, Op.SLessThanEqual],
  ...[Op.ShiftRightLogical, Op.ShiftRightArithmetic, Op.ShiftLeftLogical],
  ...[Op.BitwiseOr, Op.BitwiseXor, Op.BitwiseAnd, Op.Not],
];
