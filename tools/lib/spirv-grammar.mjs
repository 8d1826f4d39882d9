// @ts-check
// Cuts the Khronos grammar of SPIR-V down to a subset. See spirv-subset.mjs.
import * as subset from './spirv-subset.mjs';

/**
 * @typedef {{ kind: string, quantifier?: string, name?: string | undefined }} Operand
 * @typedef {{ capabilities?: string[], extensions?: string[], version?: string }} Needs
 * @typedef {Needs & { opname: string, class: string, opcode: number, operands?: Operand[] }} Instruction
 * @typedef {Needs & { enumerant: string, value: number | string, parameters?: Operand[] }} Enumerant
 * @typedef {{ kind: string, category: string, enumerants?: Enumerant[], bases?: string[] }} OperandKind
 * @typedef {{ copyright: string[], major_version: number, minor_version: number, revision: number,
 *   instructions: Instruction[], operand_kinds: OperandKind[] }} Grammar
 * @typedef {{ opname: string, opcode: number, operands?: Operand[] }} ExtendedInstruction
 * @typedef {{ copyright: string[], version: number, revision: number, instructions: ExtendedInstruction[] }} ExtendedGrammar
 * @typedef {{ name: string, value: number, operands: Operand[], capabilities: string[], extensions: string[],
 *   version: string | undefined }} Entry
 * @typedef {{ kind: string, category: string, bases: string[], enumerants: Entry[] }} Kind
 * @typedef {{ instructions: Entry[], kinds: Kind[], openCl: Entry[] }} Subset
 */

/**
 * @param {Grammar} core
 * @param {ExtendedGrammar} openCl
 * @returns {Subset} sorted by value
 */
export function cutGrammar(core, openCl) {
  const instructions = withoutAliases(
    '',
    core.instructions
      .filter((instruction) => isReachable(instruction) && !subset.withoutInstructions.includes(instruction.opname))
      .map((instruction) => entry(instruction.opname, instruction.opcode, instruction.operands, instruction)),
  );
  return {
    instructions,
    kinds: usedKinds(core, instructions),
    openCl: withoutAliases(
      '',
      openCl.instructions.map(({ opname, opcode, operands }) => entry(opname, opcode, operands, {})),
    ),
  };
}

/** @param {Needs} needs */
function isReachable({ capabilities, extensions, version }) {
  const declared = !capabilities || capabilities.some((name) => subset.capabilities.includes(name));
  const isCore = !extensions || (version !== undefined && version !== 'None');
  return declared && (isCore || extensions.some((name) => subset.extensions.includes(name)));
}

/**
 * @param {Grammar} core
 * @param {Entry[]} instructions
 */
function usedKinds(core, instructions) {
  const all = new Map(core.operand_kinds.map((kind) => [kind.kind, kind]));
  /** @type {Map<string, Kind>} */
  const used = new Map();
  const waiting = [...subset.enumsById, ...instructions.flatMap(({ operands }) => operands.map(({ kind }) => kind))];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (used.has(name)) continue;
    const kind = all.get(name);
    if (!kind) throw new Error(`the grammar has no operand kind ${name}`);
    const cut = { kind: name, category: kind.category, bases: kind.bases ?? [], enumerants: cutEnumerants(kind) };
    used.set(name, cut);
    waiting.push(...cut.bases, ...cut.enumerants.flatMap(({ operands }) => operands.map((operand) => operand.kind)));
  }
  // The order of the grammar, whatever order they were found in.
  return core.operand_kinds.flatMap(({ kind }) => used.get(kind) ?? []);
}

/** @param {OperandKind} kind */
function cutEnumerants({ kind, enumerants = [] }) {
  const reachable = enumerants.filter((enumerant) =>
    kind === 'Capability' ? subset.capabilities.includes(enumerant.enumerant) : isReachable(enumerant),
  );
  return withoutAliases(
    kind,
    reachable
      .filter(({ enumerant }) => !subset.withoutEnumerants.includes(`${kind}.${enumerant}`))
      .map((enumerant) => entry(enumerant.enumerant, Number(enumerant.value), enumerant.parameters, enumerant)),
  );
}

/**
 * @param {string} name
 * @param {number} value
 * @param {Operand[] | undefined} operands
 * @param {Needs} needs
 * @returns {Entry}
 */
function entry(name, value, operands, { capabilities = [], extensions = [], version }) {
  return {
    name,
    value,
    operands: (operands ?? []).map((operand) => ({ ...operand, name: operandName(operand.name) })),
    capabilities: capabilities.filter((capability) => subset.capabilities.includes(capability)),
    extensions: extensions.filter((extension) => subset.extensions.includes(extension)),
    version: version === 'None' ? undefined : (version ?? '1.0'),
  };
}

/**
 * The grammar writes "'Operand 1', +\n'Operand 2', +\n..." where any number may follow.
 * @param {string | undefined} name
 */
function operandName(name) {
  return /'([^']+)'/.exec(name ?? '')?.[1];
}

/**
 * @param {string} kind
 * @param {Entry[]} entries
 */
function withoutAliases(kind, entries) {
  const sorted = [...entries].sort((a, b) => a.value - b.value);
  return sorted.filter(
    ({ name, value }, index) => sorted[index - 1]?.value !== value || subset.aliases.includes(`${kind}.${name}`),
  );
}
