import { BuiltIn, Decoration } from '../generated/enums.ts';
import { Op } from '../generated/opcodes.ts';
import { decodeString, utf8 } from '../literal-string.ts';
import { enumerantsOf } from './names.ts';
import { formatNumber } from './number-text.ts';
import type { ParsedInstruction } from './parse-module.ts';

/** Names for the ids of a module, chosen as spirv-dis does: from OpName, built-ins, types and constants. */
export function friendlyNames(instructions: readonly ParsedInstruction[]): ReadonlyMap<number, string> {
  const names = new Names();
  for (const instruction of instructions) {
    const { opcode, operands, result } = instruction;
    const [target = 0] = operands[0]?.words ?? [];
    if (opcode === Op.Name) names.save(target, stringOf(instruction, 1));
    if (opcode === Op.Decorate && operands[1]?.words[0] === Decoration.BuiltIn) {
      const name = builtInName(operands[2]!.words[0]!);
      if (name !== undefined) names.save(target, name);
    }
    // Also a plain number has to be saved: an OpName may be "12".
    if (result !== undefined) names.save(result, nameOfResult(instruction, names) ?? String(result));
  }
  return names.byId;
}

class Names {
  readonly byId = new Map<number, string>();
  readonly #used = new Set<string>();

  /** The first name that is saved for an id stays. One that another id has gets a number. */
  save(id: number, suggestion: string): void {
    if (this.byId.has(id)) return;
    const base = sanitize(suggestion);
    let name = base;
    for (let count = 0; this.#used.has(name); count += 1) name = `${base}_${count}`;
    this.#used.add(name);
    this.byId.set(id, name);
  }

  of(id: number): string {
    return this.byId.get(id) ?? String(id);
  }
}

/** One underscore for each byte that an id cannot have. */
function sanitize(name: string): string {
  if (name === '') return '_';
  return utf8(name)
    .map((byte) => String.fromCharCode(byte))
    .map((character) => (/[A-Za-z0-9_]/.test(character) ? character : '_'))
    .join('');
}

function nameOfResult(instruction: ParsedInstruction, names: Names): string | undefined {
  const { opcode, operands, result, resultType = 0 } = instruction;
  const [, first = 0, second = 0] = operands.map(({ words }) => words[0]!);
  switch (opcode) {
    case Op.TypeVoid:
      return 'void';
    case Op.TypeBool:
      return 'bool';
    case Op.TypeInt:
      return integerName(first, second);
    case Op.TypeFloat:
      return FLOATS[first] ?? `fp${first}`;
    case Op.TypeVector:
      return `v${second}${names.of(first)}`;
    case Op.TypeArray:
      return `_arr_${names.of(first)}_${names.of(second)}`;
    case Op.TypePointer:
      return `_ptr_${enumerantsOf('StorageClass').byValue.get(first)!.name}_${names.of(second)}`;
    case Op.TypeStruct:
      return `_struct_${result}`;
    case Op.TypeOpaque:
      return `Opaque_${sanitize(stringOf(instruction, 1))}`;
    case Op.TypeEvent:
      return 'Event';
    case Op.ConstantTrue:
      return 'true';
    case Op.ConstantFalse:
      return 'false';
    case Op.Constant: {
      const { words, numberType } = operands[2]!;
      return `${names.of(resultType)}_${formatNumber(words, numberType!).replaceAll('-', 'n')}`;
    }
    default:
      return undefined;
  }
}

const FLOATS: Readonly<Record<number, string>> = { 16: 'half', 32: 'float', 64: 'double' };
const INTEGERS: Readonly<Record<number, string>> = { 8: 'char', 16: 'short', 32: 'int', 64: 'long' };

function integerName(width: number, signedness: number): string {
  const root = INTEGERS[width];
  if (signedness === 0) return `u${root ?? width}`;
  return root ?? `i${width}`;
}

function stringOf({ operands }: ParsedInstruction, index: number): string {
  const string = decodeString(operands[index]!.words);
  return 'text' in string ? string.text : '';
}

function builtInName(value: number): string | undefined {
  return GLSL_NAMES[value] ?? enumerantsOf('BuiltIn').byValue.get(value)?.name;
}

const GLSL_NAMES: Readonly<Record<number, string>> = {
  [BuiltIn.NumWorkgroups]: 'gl_NumWorkGroups',
  [BuiltIn.WorkgroupSize]: 'gl_WorkGroupSize',
  [BuiltIn.WorkgroupId]: 'gl_WorkGroupID',
  [BuiltIn.LocalInvocationId]: 'gl_LocalInvocationID',
  [BuiltIn.GlobalInvocationId]: 'gl_GlobalInvocationID',
  [BuiltIn.LocalInvocationIndex]: 'gl_LocalInvocationIndex',
  [BuiltIn.SubgroupEqMask]: 'SubgroupEqMaskKHR',
  [BuiltIn.SubgroupGeMask]: 'SubgroupGeMaskKHR',
  [BuiltIn.SubgroupGtMask]: 'SubgroupGtMaskKHR',
  [BuiltIn.SubgroupLeMask]: 'SubgroupLeMaskKHR',
  [BuiltIn.SubgroupLtMask]: 'SubgroupLtMaskKHR',
};
