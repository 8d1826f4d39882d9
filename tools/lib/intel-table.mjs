// @ts-check
// The table of the results of Intel's compiler: a line for each kernel and product, sorted, so that a diff of
// the file shows what a change did.

/** @typedef {Awaited<ReturnType<typeof import('../../software-devices/intel-driver/lib/describe-kernel.mjs').describeKernel>>} Described */
/** @typedef {{ kernel: string, product: string, error?: string, made?: Described }} Row */

const COLUMNS = ['kernel', 'product', 'simd', 'grf', 'slm', 'scratch', 'loop', 'mads', 'dpas', 'sends', 'ratio'];

/** A row as a line of the table. @param {Row} row */
export function formatRow({ kernel, product, made }) {
  if (made === undefined) return `${kernel}\t${product}\tfails`;
  const { simd, grf, slm, scratch, loop } = made;
  const inLoop = loop
    ? [loop.instructions, loop.multiplyAdds, loop.systolic, loop.sends, ratioOf(made)]
    : ['-', '-', '-', '-', '-'];
  return [kernel, product, simd, grf, slm, scratch, ...inLoop].join('\t');
}

/** Multiply-adds per instruction of the main loop. @param {Described} made */
export const ratioOf = ({ loop }) => (loop ? (loop.multiplyAdds / loop.instructions).toFixed(2) : '-');

/**
 * The lines of a table by kernel and product.
 *
 * @param {string} text
 * @returns {Map<string, string>}
 */
export function parseTable(text) {
  const lines = text.split('\n').slice(1).filter(Boolean);
  return new Map(lines.map((line) => [keyOf(line), line]));
}

/** The whole table. @param {Iterable<string>} lines */
export function formatTable(lines) {
  const sorted = [...lines].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return `${[COLUMNS.join('\t'), ...sorted].join('\n')}\n`;
}

/** @param {string} line */
export const keyOf = (line) => line.split('\t').slice(0, 2).join('\t');

/**
 * Returns whether two lines are the same, but for one instruction of the loop: the compiler made 431 of one kernel, and 432 of it
 * in another checkout.
 *
 * @param {string | undefined} old
 * @param {string | undefined} now
 */
function isAlike(old, now) {
  if (old === undefined || now === undefined || old === now) return old === now;
  const after = now.split('\t');
  return old.split('\t').every((cell, index) => {
    if (cell === after[index]) return true;
    const column = COLUMNS[index];
    // The ratio follows from the counts.
    return column === 'ratio' || (column === 'loop' && Math.abs(Number(cell) - Number(after[index])) === 1);
  });
}

/**
 * The differences, as lines that begin with `-` for the old and `+` for the new.
 *
 * @param {ReadonlyMap<string, string>} before
 * @param {ReadonlyMap<string, string>} after
 */
export function differences(before, after) {
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort();
  return keys.flatMap((key) => {
    const [old, now] = [before.get(key), after.get(key)];
    return isAlike(old, now)
      ? []
      : [...(old === undefined ? [] : [`- ${old}`]), ...(now === undefined ? [] : [`+ ${now}`])];
  });
}
