import type { InstructionGrammar, OperandGrammar, OperandKind } from '../generated/grammar.ts';
import { operandKinds } from '../generated/grammar.ts';
import { Op } from '../generated/opcodes.ts';
import { decodeString } from '../literal-string.ts';
import { coreInstructions, enumerantsOf, extendedInstructions, specConstantOperations } from './names.ts';
import { isWritable, word as wordType, wordsOf, type NumberType } from './number-text.ts';
import { bitsOf, walkOperands, type OperandReader } from './operand-walker.ts';
import { SpirvTextError } from './spirv-text-error.ts';
import { ValueTypes } from './value-types.ts';

export const MAGIC = 0x07230203;

/** One operand of an instruction and its words. */
export interface ParsedOperand {
  readonly kind: OperandKind;
  readonly words: Uint32Array;
  /** Of a literal number. */
  readonly numberType?: NumberType;
}

/** One instruction of a module. */
export interface ParsedInstruction {
  readonly opcode: number;
  readonly grammar: InstructionGrammar;
  readonly operands: readonly ParsedOperand[];
  readonly resultType?: number;
  readonly result?: number;
}

/** The words of a module as instructions; the header is the first five words. */
export function parseModule(words: Uint32Array): ParsedInstruction[] {
  if (words[0] !== MAGIC) {
    const found = words.length === 0 ? 'nothing' : hex(words[0]!);
    const hint = words[0] === 0x03022307 ? ', the magic number with its bytes swapped' : '';
    throw new SpirvTextError(`a module starts with ${hex(MAGIC)}, found ${found}${hint}`, { word: 0 });
  }
  if (words.length < 5) throw new SpirvTextError('the header of five words is cut off', { word: words.length });
  const parsed: ParsedInstruction[] = [];
  const types = new ValueTypes();
  const defined = new Set<number>();
  for (let start = 5; start < words.length; start += words[start]! >>> 16) {
    const reader = new InstructionReader(words, start, types);
    const instruction = reader.readInstruction();
    const { result } = instruction;
    if (result !== undefined && defined.has(result)) reader.fail(`%${result} has been defined before`);
    if (result !== undefined) defined.add(result);
    parsed.push(instruction);
  }
  return parsed;
}

class InstructionReader implements OperandReader {
  readonly #words: Uint32Array;
  readonly #start: number;
  readonly #end: number;
  readonly #opcode: number;
  readonly #grammar: InstructionGrammar;
  readonly #types: ValueTypes;
  readonly #operands: ParsedOperand[] = [];
  #position: number;

  constructor(words: Uint32Array, start: number, types: ValueTypes) {
    const wordCount = words[start]! >>> 16;
    this.#words = words;
    this.#start = start;
    this.#end = start + wordCount;
    this.#opcode = words[start]! & 0xffff;
    this.#position = start;
    this.#types = types;
    const grammar = coreInstructions().byValue.get(this.#opcode);
    if (wordCount === 0) this.fail(`the instruction with opcode ${this.#opcode} says it has no words`);
    if (!grammar) this.fail(`opcode ${this.#opcode} is no instruction of this subset`);
    this.#grammar = grammar;
    const left = words.length - start;
    if (wordCount > left) this.fail(`${grammar.name} of ${wordCount} words is cut off: ${left} are left`);
    this.#position += 1;
  }

  fail(problem: string): never {
    throw new SpirvTextError(problem, { word: this.#position });
  }

  readInstruction(): ParsedInstruction {
    walkOperands(this.#grammar.operands ?? [], this);
    if (!this.atEnd()) this.fail(`${this.#grammar.name} has words after its last operand`);
    const resultType = this.#idOf('IdResultType');
    const result = this.#idOf('IdResult');
    this.#types.record(this.#words.subarray(this.#start, this.#end), resultType, result);
    return {
      opcode: this.#opcode,
      grammar: this.#grammar,
      operands: this.#operands,
      ...(resultType !== undefined && { resultType }),
      ...(result !== undefined && { result }),
    };
  }

  atEnd(): boolean {
    return this.#position >= this.#end;
  }

  read(kind: OperandKind, { name }: OperandGrammar): number {
    if (this.atEnd()) this.fail(`${this.#grammar.name} ends where its ${name ?? kind} should be`);
    const value = this.#words[this.#position]!;
    const numberType = this.#numberType(kind);
    const wordCount = kind === 'LiteralString' ? this.#stringLength() : numberType ? wordsOf(numberType) : 1;
    if (this.#position + wordCount > this.#end) this.fail(`${this.#grammar.name} ends within its ${name ?? kind}`);
    this.#check(kind, value);
    const words = this.#words.subarray(this.#position, this.#position + wordCount);
    this.#operands.push({ kind, words, ...(numberType && { numberType }) });
    this.#position += wordCount;
    return value;
  }

  #idOf(kind: OperandKind): number | undefined {
    return this.#operands.find((operand) => operand.kind === kind)?.words[0];
  }

  #stringLength(): number {
    const string = decodeString(this.#words.subarray(this.#position, this.#end));
    return 'problem' in string ? this.fail(string.problem) : string.wordCount;
  }

  #numberType(kind: OperandKind): NumberType | undefined {
    if (kind === 'LiteralInteger') return wordType;
    if (kind !== 'LiteralContextDependentNumber') return undefined;
    const type =
      this.#opcode === Op.Switch
        ? this.#types.numberTypeOf(this.#operands[0]?.words[0])
        : this.#types.numberType(this.#idOf('IdResultType'));
    if (!type) this.fail(`${this.#grammar.name} has a number whose type no instruction before it declares`);
    if (!isWritable(type)) this.fail(`${this.#grammar.name} has a number of ${type.width} bits`);
    return type;
  }

  #check(kind: OperandKind, value: number): void {
    const { category } = operandKinds[kind];
    if (category === 'Id' && value === 0) this.fail(`${this.#grammar.name} has an id of 0`);
    if (category === 'ValueEnum' && !enumerantsOf(kind).byValue.has(value)) {
      this.fail(`${kind} ${value} is not in this subset`);
    }
    if (category === 'BitEnum') {
      const unknown = bitsOf(value).find((bit) => !enumerantsOf(kind).byValue.has(bit));
      if (unknown !== undefined) this.fail(`bit ${hex(unknown)} of ${kind} is not in this subset`);
    }
    if (kind === 'LiteralSpecConstantOpInteger' && !specConstantOperations().byValue.has(value)) {
      this.fail(`OpSpecConstantOp cannot compute opcode ${value}`);
    }
    if (kind === 'LiteralExtInstInteger') this.#checkExtended(value);
  }

  #checkExtended(value: number): void {
    const set = this.#types.setName(this.#operands.at(-1)!.words[0]!);
    if (set === undefined) this.fail('OpExtInst names a set that no OpExtInstImport before it has imported');
    if (set !== 'OpenCL.std') this.fail(`the instruction set "${set}" is not in this subset`);
    if (!extendedInstructions().byValue.has(value)) this.fail(`OpenCL.std has no instruction ${value}`);
  }
}

const hex = (value: number): string => `0x${value.toString(16).padStart(8, '0')}`;
