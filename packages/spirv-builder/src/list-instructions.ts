import { OpenCl } from './generated/open-cl.ts';
import { Op } from './generated/spirv.ts';

const HEADER_WORDS = 5;

const namesOf = (table: Readonly<Record<string, number>>): ReadonlyMap<number, string> =>
  new Map(Object.entries(table).map(([name, value]) => [value, name]));
const OPERATIONS = namesOf(Op);
const FUNCTIONS = namesOf(OpenCl);

/** The instructions of the builder without a result; the ids among their operands are numbers here. */
const NO_RESULT: ReadonlySet<number> = new Set<number>([
  ...[Op.Capability, Op.Extension, Op.MemoryModel, Op.EntryPoint, Op.ExecutionMode, Op.Name, Op.Decorate],
  ...[Op.Store, Op.ControlBarrier, Op.LoopMerge, Op.SelectionMerge, Op.Branch],
  ...[Op.BranchConditional, Op.Switch, Op.Return, Op.ReturnValue, Op.FunctionEnd],
  Op.SubgroupBlockWriteINTEL,
]);

/** Instructions whose operands from a place on are a string. */
const STRINGS: ReadonlyMap<number, number> = new Map<number, number>([
  [Op.Extension, 0],
  [Op.ExtInstImport, 1],
  [Op.Name, 1],
  [Op.EntryPoint, 2],
]);

/** The place from which the operands of an instruction are literals: after the result, where it has one. */
const LITERALS_FROM: ReadonlyMap<number, number> = new Map<number, number>([
  ...[Op.Constant, Op.SpecConstant, Op.Function].map((op) => [op, 0] as const),
  ...[Op.Load, Op.CompositeExtract, Op.SelectionMerge].map((op) => [op, 1] as const),
  ...[Op.Store, Op.CompositeInsert, Op.VectorShuffle, Op.LoopMerge].map((op) => [op, 2] as const),
]);

/** Instructions with one literal among ids, and its place after the result. */
const LITERAL_AT: ReadonlyMap<number, number> = new Map<number, number>([
  [Op.SpecConstantOp, 0],
  [Op.Variable, 0],
  ...[Op.GroupIAdd, Op.GroupFAdd, Op.GroupFMin, Op.GroupUMin, Op.GroupSMin].map((op) => [op, 1] as const),
  ...[Op.GroupFMax, Op.GroupUMax, Op.GroupSMax].map((op) => [op, 1] as const),
]);

/**
 * A module for people, one instruction on each line: `%12 = FAdd f32 %10 %11` with names where the module has some. Literals are
 * numbers, as enumerations are; no assembler reads it.
 */
export function listInstructions(words: Uint32Array): string {
  const instructions = instructionsOf(words);
  const names = new Map<number, string>();
  for (const { opcode: op, operands } of instructions) {
    if (op === Op.Name) names.set(operands[0] as number, stringAt(operands, 1).text);
  }
  const types = new Map<number, string>();
  const typeOf = new Map<number, string | undefined>();
  const lines: string[] = [];
  for (const { opcode: op, operands } of instructions) {
    const name = OPERATIONS.get(op) ?? `Op${op}`;
    const id = (value: number): string => `%${names.get(value) ?? value}`;
    const hasWideCases = op === Op.Switch && typeOf.get(operands[0] as number) === 'u64';
    const operand = (value: number, place: number): string =>
      isLiteral(op, place, hasWideCases ? 2 : 1) ? String(value) : id(value);
    if (name.startsWith('Type')) {
      const [result, ...rest] = operands as [number, ...number[]];
      types.set(result, typeName(op, rest, types));
      continue;
    }
    if (op === Op.Name || op === Op.Decorate) continue;
    if (NO_RESULT.has(op)) {
      lines.push(`${name} ${operandsText(op, operands, op < Op.Function ? String : operand)}`.trimEnd());
    } else if (op === Op.Label || op === Op.ExtInstImport) {
      lines.push(`${id(operands[0] as number)} = ${name} ${operandsText(op, operands, String, 1)}`.trimEnd());
    } else {
      const [type, result, ...rest] = operands as [number, number, ...number[]];
      typeOf.set(result, types.get(type));
      const text = op === Op.ExtInst ? functionText(rest, id) : rest.map(operand).join(' ');
      const constant = op === Op.Constant ? constantText(types.get(type) ?? '', rest) : text;
      lines.push(`${id(result)} = ${name} ${types.get(type) ?? id(type)} ${constant}`.trimEnd());
    }
  }
  return `${lines.join('\n')}\n`;
}

/** An instruction of a module. */
interface Instruction {
  readonly opcode: number;
  readonly operands: readonly number[];
}

/** The instructions of a module, in order. */
export function instructionsOf(words: Uint32Array): readonly Instruction[] {
  const found: Instruction[] = [];
  for (let at = HEADER_WORDS; at < words.length;) {
    const word = words[at] as number;
    const count = Math.max(1, word >>> 16);
    found.push({ opcode: word & 0xffff, operands: [...words.subarray(at + 1, at + count)] });
    at += count;
  }
  return found;
}

/** Returns whether an operand is a number and not an id; `caseWords` is how many words the number of a `Switch`'s case has. */
function isLiteral(op: number, place: number, caseWords: number): boolean {
  // The selector, the label for all else, and then each case with its label.
  if (op === Op.Switch) return place >= 2 && (place - 2) % (caseWords + 1) < caseWords;
  return place >= (LITERALS_FROM.get(op) ?? Infinity) || place === LITERAL_AT.get(op);
}

function functionText([, number, ...operands]: readonly number[], id: (value: number) => string): string {
  return [FUNCTIONS.get(number as number) ?? String(number), ...operands.map(id)].join(' ');
}

function operandsText(
  op: number,
  operands: readonly number[],
  text: (value: number, place: number) => string,
  from = 0,
): string {
  const place = STRINGS.get(op);
  if (place === undefined) return operands.slice(from).map(text).join(' ');
  const { text: string, end } = stringAt(operands, place);
  return [...operands.slice(from, place).map(text), `"${string}"`, ...operands.slice(end).map(text)].join(' ');
}

/** The string that begins at an operand, and the operand after it. */
function stringAt(operands: readonly number[], from: number): { readonly text: string; readonly end: number } {
  let text = '';
  for (let at = from; at < operands.length; at++) {
    for (let byte = 0; byte < 4; byte++) {
      const code = ((operands[at] as number) >>> (8 * byte)) & 0xff;
      if (code === 0) return { text, end: at + 1 };
      text += String.fromCharCode(code);
    }
  }
  return { text, end: operands.length };
}

function typeName(op: number, operands: readonly number[], types: ReadonlyMap<number, string>): string {
  const of = (index: number): string => types.get(operands[index] as number) ?? '?';
  switch (op) {
    case Op.TypeInt:
      return `u${operands[0]}`;
    case Op.TypeFloat:
      return `f${operands[0]}`;
    case Op.TypeBool:
      return 'bool';
    case Op.TypeVoid:
      return 'void';
    case Op.TypeVector:
      return `${of(0)}x${operands[1]}`;
    case Op.TypePointer:
      return `${of(1)}*`;
    case Op.TypeArray:
      return `${of(0)}[]`;
    case Op.TypeFunction:
      return 'function';
    default:
      return 'type';
  }
}

const scratch = new DataView(new ArrayBuffer(8));

function constantText(type: string, [low = 0, high = 0]: readonly number[]): string {
  scratch.setUint32(0, low, true);
  scratch.setUint32(4, high, true);
  if (type === 'f32') return String(scratch.getFloat32(0, true));
  if (type === 'f64') return String(scratch.getFloat64(0, true));
  return type === 'u64' ? String(scratch.getBigUint64(0, true)) : String(low);
}
