import { operandKinds } from '../generated/grammar.ts';
import { friendlyNames } from './friendly-names.ts';
import { formatGenerator } from './generators.ts';
import { decodeString } from '../literal-string.ts';
import { coreInstructions, enumerantsOf, extendedInstructions } from './names.ts';
import { formatNumber } from './number-text.ts';
import { bitsOf } from './operand-walker.ts';
import { parseModule, type ParsedInstruction, type ParsedOperand } from './parse-module.ts';

export interface DisassembleOptions {
  /** Start with the header as comment lines; true unless given. */
  readonly header?: boolean;
  /** Names such as %v4float for ids; true unless given. Without, ids are numbers. */
  readonly friendlyNames?: boolean;
  /** Align instructions behind their results; true unless given. */
  readonly indent?: boolean;
}

/**
 * A module as text, byte for byte what `spirv-dis` prints (with `--no-header`, `--raw-id`, `--no-indent` for options that
 * are false), for the subset of SPIR-V that this package knows: kernels of the OpenCL flavour.
 *
 * @throws {SpirvTextError} with the number of the word, when the words are no module or leave the subset
 */
export function disassemble(words: Uint32Array, options: DisassembleOptions = {}): string {
  const { header = true, friendlyNames: areFriendly = true, indent = true } = options;
  const instructions = parseModule(words);
  const names = areFriendly ? friendlyNames(instructions) : new Map<number, string>();
  const nameOf = (id: number): string => `%${names.get(id) ?? id}`;
  const lines = instructions.map((instruction) => formatInstruction(instruction, nameOf, indent ? INDENT : 0));
  return [...(header ? formatHeader(words) : []), ...lines].map((line) => `${line}\n`).join('');
}

/** Where instructions start. */
const INDENT = 15;

function formatHeader([, version = 0, generator = 0, bound = 0, schema = 0]: Uint32Array): string[] {
  return [
    '; SPIR-V',
    `; Version: ${(version >>> 16) & 0xff}.${(version >>> 8) & 0xff}`,
    `; Generator: ${formatGenerator(generator)}`,
    `; Bound: ${bound}`,
    `; Schema: ${schema}`,
  ];
}

type NameOf = (id: number) => string;

function formatInstruction({ grammar, operands, result }: ParsedInstruction, nameOf: NameOf, indent: number): string {
  const start = result === undefined ? ' '.repeat(indent) : `${nameOf(result).padStart(indent - 3)} = `;
  const shown = operands
    .filter(({ kind }) => kind !== 'IdResult')
    .map((operand) => ` ${formatOperand(operand, nameOf)}`);
  return start + grammar.name + shown.join('');
}

function formatOperand({ kind, words, numberType }: ParsedOperand, nameOf: NameOf): string {
  const value = words[0]!;
  if (numberType) return formatNumber(words, numberType);
  if (kind === 'LiteralString') return formatString(words);
  if (kind === 'LiteralExtInstInteger') return extendedInstructions().byValue.get(value)!.name;
  if (kind === 'LiteralSpecConstantOpInteger') return coreInstructions().byValue.get(value)!.name.slice(2);
  const { category } = operandKinds[kind];
  if (category === 'Id') return nameOf(value);
  const { byValue } = enumerantsOf(kind);
  const parts = category === 'BitEnum' && value !== 0 ? bitsOf(value) : [value];
  return parts.map((part) => byValue.get(part)!.name).join('|');
}

function formatString(words: Uint32Array): string {
  const string = decodeString(words);
  return `"${('text' in string ? string.text : '').replace(/["\\]/g, '\\$&')}"`;
}
