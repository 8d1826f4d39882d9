// @ts-check
// Cuts the Khronos grammar of SPIR-V down to a subset. See spirv-subset.mjs.
import * as subset from './spirv-subset.mjs';

/**
 * @typedef {{ kind: string }} Operand
 * @typedef {{ capabilities?: string[], extensions?: string[], version?: string }} Needs
 * @typedef {Needs & { opname: string, class: string, opcode: number, operands?: Operand[] }} Instruction
 * @typedef {Needs & { enumerant: string, value: number | string, parameters?: Operand[] }} Enumerant
 * @typedef {{ kind: string, category: string, enumerants?: Enumerant[], bases?: string[] }} OperandKind
 * @typedef {{ copyright: string[], major_version: number, minor_version: number, revision: number,
 *   instructions: Instruction[], operand_kinds: OperandKind[] }} Grammar
 * @typedef {{ opname: string, opcode: number }} ExtendedInstruction
 * @typedef {{ copyright: string[], version: number, revision: number, instructions: ExtendedInstruction[] }} ExtendedGrammar
 * @typedef {{ name: string, value: number }} Entry
 * @typedef {{ kind: string, category: string, enumerants: Entry[] }} Kind
 * @typedef {{ instructions: Entry[], kinds: Kind[], openCl: Entry[] }} Subset
 */

/**
 * @param {Grammar} core
 * @param {ExtendedGrammar} openCl
 * @returns {Subset} sorted by value
 */
export function cutGrammar(core, openCl) {
  const instructions = core.instructions.filter(
    (instruction) => isReachable(instruction) && !subset.withoutInstructions.includes(instruction.opname),
  );
  const named = instructions.map(({ opname, opcode }) => ({ name: opname, value: opcode }));
  return {
    instructions: withoutAliases('', named),
    kinds: usedKinds(core, instructions),
    openCl: withoutAliases(
      '',
      openCl.instructions.map(({ opname, opcode }) => ({ name: opname, value: opcode })),
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
 * The kinds that operands of these instructions have.
 *
 * @param {Grammar} core
 * @param {Instruction[]} instructions
 */
function usedKinds(core, instructions) {
  const all = new Map(core.operand_kinds.map((kind) => [kind.kind, kind]));
  /** @type {Map<string, Kind>} */
  const used = new Map();
  const waiting = [
    ...subset.enumsById,
    ...instructions.flatMap(({ operands = [] }) => operands.map(({ kind }) => kind)),
  ];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (used.has(name)) continue;
    const kind = all.get(name);
    if (!kind) throw new Error(`the grammar has no operand kind ${name}`);
    const enumerants = reachableEnumerants(kind);
    const named = enumerants.map(({ enumerant, value }) => ({ name: enumerant, value: Number(value) }));
    used.set(name, { kind: name, category: kind.category, enumerants: withoutAliases(name, named) });
    waiting.push(...(kind.bases ?? []));
    waiting.push(...enumerants.flatMap(({ parameters = [] }) => parameters.map((parameter) => parameter.kind)));
  }
  // The order of the grammar, whatever order they were found in.
  return core.operand_kinds.flatMap(({ kind }) => used.get(kind) ?? []);
}

/** @param {OperandKind} kind */
function reachableEnumerants({ kind, enumerants = [] }) {
  return enumerants
    .filter((enumerant) =>
      kind === 'Capability' ? subset.capabilities.includes(enumerant.enumerant) : isReachable(enumerant),
    )
    .filter(({ enumerant }) => !subset.withoutEnumerants.includes(`${kind}.${enumerant}`));
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
