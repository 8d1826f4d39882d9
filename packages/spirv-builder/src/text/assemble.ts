import { operandKinds, type InstructionGrammar, type OperandGrammar, type OperandKind } from '../generated/grammar.ts';
import { Op } from '../generated/opcodes.ts';
import { readHeaderComments } from './header-comments.ts';
import { IdTable } from './id-table.ts';
import { encodeString } from '../literal-string.ts';
import { coreInstructions, enumerantsOf, extendedInstructions, specConstantOperations } from './names.ts';
import { isWritable, parseNumber, word as wordType, type NumberType } from './number-text.ts';
import { walkOperands, type OperandReader } from './operand-walker.ts';
import { MAGIC } from './parse-module.ts';
import { SpirvTextError } from './spirv-text-error.ts';
import { tokenize, unquote, type Token } from './tokens.ts';
import { ValueTypes } from './value-types.ts';

const VERSION_1_0 = 0x0001_0000;
/** Of one instruction: its count has 16 bits. */
const MAX_WORDS = 0xffff;

/**
 * The module that a text in the language of `spirv-as` describes: the inverse of `disassemble`. Ids written as numbers keep
 * them. Version, generator and schema come from the comment lines that `disassemble` starts with, and so does the bound
 * unless an id needs a higher one; without such lines it is version 1.0 and generator 0.
 *
 * @throws {SpirvTextError} with line and column, when the text is no module or leaves the subset
 */
export function assemble(text: string): Uint32Array {
  const header = readHeaderComments(text);
  const tokens = tokenize(text);
  const ids = new IdTable(tokens);
  const types = new ValueTypes();
  const body: number[] = [];
  for (let start = 0; start < tokens.length;) {
    const writer = new InstructionWriter(tokens, start, ids, types);
    for (const word of writer.write()) body.push(word);
    start = writer.position;
  }
  const bound = Math.max(header.bound ?? 0, ids.bound);
  return Uint32Array.from([
    ...[MAGIC, header.version ?? VERSION_1_0, header.generator ?? 0, bound, header.schema ?? 0],
    ...body,
  ]);
}

/** Reads the words of one instruction of the text and writes those of the module. */
class InstructionWriter implements OperandReader {
  position: number;
  readonly #tokens: readonly Token[];
  readonly #ids: IdTable;
  readonly #types: ValueTypes;
  readonly #start: Token;
  readonly #result: Token | undefined;
  readonly #grammar: InstructionGrammar;
  readonly #opcode: number;
  readonly #words: number[] = [];
  readonly #operands: { kind: OperandKind; word: number }[] = [];

  constructor(tokens: readonly Token[], start: number, ids: IdTable, types: ValueTypes) {
    this.#tokens = tokens;
    this.#ids = ids;
    this.#types = types;
    const hasResult = tokens[start + 1]?.text === '=';
    this.#result = hasResult ? tokens[start] : undefined;
    this.position = start + (hasResult ? 2 : 0);
    this.#start = tokens[this.position] ?? this.#fail('an instruction is missing after "="', tokens[start + 1]);
    const opcode = coreInstructions().byName.get(this.#start.text);
    if (opcode === undefined) this.#fail(`${this.#start.text} is no instruction of this subset`);
    this.#opcode = opcode;
    this.#grammar = coreInstructions().byValue.get(opcode)!;
    this.position += 1;
  }

  write(): readonly number[] {
    const { name, operands = [] } = this.#grammar;
    const givesResult = operands.some(({ kind }) => kind === 'IdResult');
    if (givesResult && !this.#result) this.#fail(`${name} gives a result: write "%id = ${name}"`);
    if (!givesResult && this.#result) this.#fail(`${name} gives no result`, this.#result);
    this.#words.push(0);
    walkOperands(operands, this);
    if (!this.atEnd()) this.#fail(`${name} takes no further operand`, this.#tokens[this.position]);
    if (this.#words.length > MAX_WORDS) this.#fail(`${name} is longer than the ${MAX_WORDS} words of an instruction`);
    this.#words[0] = ((this.#words.length << 16) | this.#opcode) >>> 0;
    this.#types.record(Uint32Array.from(this.#words), this.#idOf('IdResultType'), this.#idOf('IdResult'));
    return this.#words;
  }

  atEnd(): boolean {
    const token = this.#tokens[this.position];
    return token === undefined || /^Op[A-Z]/.test(token.text) || this.#tokens[this.position + 1]?.text === '=';
  }

  read(kind: OperandKind, { name }: OperandGrammar): number {
    // The result stands in front of the instruction.
    const token = kind === 'IdResult' ? this.#result! : this.#take(name ?? kind);
    const words = this.#encode(kind, token);
    for (const word of words) this.#words.push(word);
    this.#operands.push({ kind, word: words[0]! });
    return words[0]!;
  }

  #take(what: string): Token {
    const token = this.#tokens[this.position];
    if (!token || this.atEnd()) this.#fail(`${this.#grammar.name} ends where its ${what} should be`);
    this.position += 1;
    return token;
  }

  #fail(problem: string, token: Token = this.#start): never {
    throw new SpirvTextError(problem, { line: token.line, column: token.column });
  }

  #idOf(kind: OperandKind): number | undefined {
    return this.#operands.find((operand) => operand.kind === kind)?.word;
  }

  #encode(kind: OperandKind, token: Token): number[] {
    const { category } = operandKinds[kind];
    if (category === 'Id') return [this.#id(token)];
    if (category === 'ValueEnum')
      return [this.#named(enumerantsOf(kind).byName, `values of ${kind}`, token.text, token)];
    if (category === 'BitEnum') return [this.#mask(kind, token)];
    switch (kind) {
      case 'LiteralString': {
        const string = unquote(token.text) ?? this.#fail(`expected a string in quotes, found ${token.text}`, token);
        if (string.includes('\0')) this.#fail('a string cannot hold a zero character', token);
        // Before it is encoded: a text may hold strings of any size.
        if (string.length >= MAX_WORDS * 4) this.#fail('a string is too long for an instruction', token);
        return encodeString(string);
      }
      case 'LiteralExtInstInteger':
        return [this.#extended(token)];
      case 'LiteralSpecConstantOpInteger':
        return [this.#named(specConstantOperations().byName, 'operations on constants', token.text, token)];
      default:
        return this.#number(kind === 'LiteralInteger' ? wordType : this.#numberType(token), token);
    }
  }

  #id(token: Token): number {
    return (
      this.#ids.numberOf(token.text) ?? this.#fail(`expected an id such as %12 or %name, found ${token.text}`, token)
    );
  }

  #named(names: ReadonlyMap<string, number>, what: string, name: string, token: Token): number {
    return names.get(name) ?? this.#fail(`"${name}" is none of the ${what} of this subset`, token);
  }

  #mask(kind: OperandKind, token: Token): number {
    const { byName } = enumerantsOf(kind);
    const bits = token.text.split('|').map((name) => this.#named(byName, `bits of ${kind}`, name, token));
    return bits.reduce((mask, bit) => (mask | bit) >>> 0, 0);
  }

  #extended(token: Token): number {
    const set = this.#types.setName(this.#operands.at(-1)!.word);
    if (set === undefined) this.#fail('OpExtInst names a set that no OpExtInstImport before it has imported', token);
    if (set !== 'OpenCL.std') this.#fail(`the instruction set "${set}" is not in this subset`, token);
    return this.#named(extendedInstructions().byName, 'instructions of OpenCL.std', token.text, token);
  }

  #numberType(token: Token): NumberType {
    const type =
      this.#opcode === Op.Switch
        ? this.#types.numberTypeOf(this.#operands[0]?.word)
        : this.#types.numberType(this.#idOf('IdResultType'));
    if (!type) this.#fail(`no instruction before declares the type of ${token.text}`, token);
    if (!isWritable(type)) this.#fail(`numbers of ${type.width} bits cannot be written`, token);
    return type;
  }

  #number(type: NumberType, token: Token): number[] {
    const sign = type.kind === 'float' ? 'floating-point' : type.isSigned ? 'signed' : 'unsigned';
    const words = parseNumber(token.text, type);
    return words ?? this.#fail(`${token.text} is no ${sign} number of ${type.width} bits`, token);
  }
}
