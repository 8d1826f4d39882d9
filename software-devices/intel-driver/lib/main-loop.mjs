// @ts-check

/**
 * @typedef {object} Instruction
 * @property {number} place in bytes
 * @property {string} operation such as `mad`
 * @property {string} text
 */
/**
 * @typedef {object} Loop what a loop consists of
 * @property {number} instructions all, also memory, waits and the branch
 * @property {number} multiplyAdds `mad`, `mac`, `dp4a` and `dpas`
 * @property {number} systolic `dpas`, of the matrix engines
 * @property {number} sends messages to memory
 */

const BRANCHES = new Set(['while', 'jmpi', 'goto', 'brd', 'brc']);
const MULTIPLY_ADDS = new Set(['mad', 'mac', 'dp4a', 'dpas']);

/**
 * The loop of a kernel that multiplies most: of all stretches between a branch back and its target, the densest in
 * multiply-adds of those that have many.
 *
 * @param {string} assembly as `iga64` disassembles
 * @returns {Loop | undefined} nothing, where no loop has a multiply-add
 */
export function findMainLoop(assembly) {
  const instructions = parse(assembly);
  const at = new Map(instructions.map(({ place }, index) => [place, index]));
  /** @type {Loop | undefined} */
  let best;
  for (const [end, { operation, text, place }] of instructions.entries()) {
    const [, distance] = BRANCHES.has(operation) ? (/\s(-\d+)\b/.exec(text) ?? []) : [];
    if (distance === undefined) continue;
    // Counted from the branch itself, whatever the processor does.
    const start = at.get(place + Number(distance));
    if (start === undefined) continue;
    const loop = count(instructions.slice(start, end + 1));
    if (loop.multiplyAdds > 0 && (best === undefined || weight(loop) > weight(best))) best = loop;
  }
  return best;
}

/** @param {Loop} loop */
const weight = ({ multiplyAdds, instructions }) => multiplyAdds ** 2 / instructions;

/** @param {string} assembly @returns {Instruction[]} */
function parse(assembly) {
  return assembly.split('\n').flatMap((line) => {
    const [, place = '', text = ''] = /^\/\*\s*\[?([0-9A-Fa-f]+)\]?\s*\*\/\s*(.*)$/.exec(line) ?? [];
    // A predicate such as `(W)` or `(f0.0)` may stand before it.
    const [, operation] = /^(?:\([^)]*\)\s*)?([a-z]\w*)/.exec(text) ?? [];
    return operation === undefined ? [] : [{ place: Number.parseInt(place, 16), operation, text }];
  });
}

/** @param {Instruction[]} body @returns {Loop} */
function count(body) {
  const of = (/** @type {(operation: string) => boolean} */ counts) =>
    body.filter(({ operation }) => counts(operation)).length;
  return {
    instructions: body.length,
    multiplyAdds: of((operation) => MULTIPLY_ADDS.has(operation)),
    systolic: of((operation) => operation === 'dpas'),
    sends: of((operation) => /^(send|load|store|atomic)/.test(operation)),
  };
}
