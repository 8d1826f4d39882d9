import {
  openClInstructions,
  operandKinds,
  type InstructionGrammar,
  type OperandGrammar,
  type OperandKind,
} from '../generated/grammar.ts';
import { specConstantOperations } from './names.ts';

/** What goes through the operands of one instruction, in a module or in a text. */
export interface OperandReader {
  /** Whether the instruction has nothing left. */
  atEnd(): boolean;
  /** Takes the next operand; the value of an enumerant, or the number of an instruction within this one. */
  read(kind: OperandKind, grammar: OperandGrammar): number;
}

/** Calls `reader` once for each operand, with those that an enumerant or another instruction bring along. */
export function walkOperands(operands: readonly OperandGrammar[], reader: OperandReader): void {
  for (const operand of operands) {
    if (operand.quantifier === '*') {
      while (!reader.atEnd()) walkOperand(operand.kind, operand, reader);
    } else if (operand.quantifier !== '?' || !reader.atEnd()) {
      // The operands of an instruction within this one stand for all that would follow.
      if (walkOperand(operand.kind, operand, reader) === 'complete') return;
    }
  }
}

function walkOperand(kind: OperandKind, operand: OperandGrammar, reader: OperandReader): 'complete' | undefined {
  const { category, bases = [], enumerants = {} } = operandKinds[kind];
  if (category === 'Composite') {
    for (const base of bases) walkOperand(baseKind(kind, base), operand, reader);
    return undefined;
  }
  const value = reader.read(kind, operand);
  if (category === 'ValueEnum') walkOperands(enumerants[value]?.operands ?? [], reader);
  if (category === 'BitEnum') {
    for (const bit of bitsOf(value)) walkOperands(enumerants[bit]?.operands ?? [], reader);
  }
  if (kind === 'LiteralExtInstInteger') return walkInner(openClInstructions[value], reader);
  if (kind === 'LiteralSpecConstantOpInteger') return walkInner(specConstantOperations().byValue.get(value), reader);
  return undefined;
}

/** The one literal in pairs with ids is a case of OpSwitch, and as wide as what is switched on. */
const baseKind = (kind: OperandKind, base: OperandKind): OperandKind =>
  kind === 'PairLiteralIntegerIdRef' && base === 'LiteralInteger' ? 'LiteralContextDependentNumber' : base;

function walkInner(inner: InstructionGrammar | undefined, reader: OperandReader): 'complete' {
  const operands = inner?.operands ?? [];
  walkOperands(
    operands.filter(({ kind }) => kind !== 'IdResultType' && kind !== 'IdResult'),
    reader,
  );
  return 'complete';
}

/** The bits of a mask, lowest first. */
export function bitsOf(mask: number): number[] {
  return Array.from({ length: 32 }, (_, index) => (1 << index) >>> 0).filter((bit) => (mask & bit) !== 0);
}
