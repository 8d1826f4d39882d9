// @ts-check
// The code in Markdown. A comment right before a block may say more about it:
//   <!-- check-docs: continues -->             it goes on from the block above, and sees its names
//   <!-- check-docs: file src/index.ts -->     it is that file, or its next piece; other blocks of the page may import it
//   <!-- check-docs: runs -->                  it is also run, and prints what the next block of `text` shows
//   <!-- check-docs: runs on webgpu -->        on the software device of that backend: webgpu or level-zero
//   <!-- check-docs: skip, REASON -->          it is not checked
// A block of the language `console` is a command and its output: see shown-output.mjs.

/** @typedef {{ line: number, language: string, code: string, marker: string }} Block `line`: of its first line of code */
/**
 * Blocks that are checked as one file. `prints`: its expected output; undefined: it is not run. `on`: the backend whose device it needs
 *
 * @typedef {{ name: string, language: string, blocks: Block[], prints?: string, on?: string | undefined }} Unit
 */

const fence = /^(`{3,})(\S*)\s*$/;
const comment = /^<!--\s*check-docs:\s*(.*?)\s*-->$/;

/**
 * @param {string} markdown
 * @returns {Block[]}
 */
export function blocksOf(markdown) {
  const lines = markdown.split('\n');
  /** @type {Block[]} */
  const blocks = [];
  for (let at = 0; at < lines.length; at++) {
    const [, ticks, language = ''] = fence.exec(lines[at] ?? '') ?? [];
    if (ticks === undefined) continue;
    const end = lines.indexOf(ticks, at + 1);
    if (end < 0) throw new Error(`line ${at + 1}: a block of code that does not end`);
    let before = at - 1;
    while (before >= 0 && lines[before]?.trim() === '') before--;
    const marker = comment.exec(lines[before]?.trim() ?? '')?.[1] ?? '';
    blocks.push({ line: at + 2, language, code: lines.slice(at + 1, end).join('\n'), marker });
    at = end;
  }
  return blocks;
}

/**
 * The files that the blocks of a page make: each block of TypeScript one, unless its marker says otherwise; blocks of
 * other languages only where they have a file name.
 *
 * @param {string} markdown
 * @returns {{ units: Unit[], skipped: { line: number, reason: string }[] }}
 */
export function unitsOf(markdown) {
  /** @type {Unit[]} */
  const units = [];
  const skipped = [];
  /** The unit that runs and whose output is not known yet. @type {Unit | undefined} */
  let running;
  for (const block of blocksOf(markdown)) {
    if (running !== undefined && block.language === 'text') {
      running.prints = block.code;
      running = undefined;
      continue;
    }
    const [, file] = /^file (\S+)$/.exec(block.marker) ?? [];
    const [, reason] = /^skip, (.+)$/.exec(block.marker) ?? [];
    const [runs, on] = /^runs(?: on (webgpu|level-zero))?$/.exec(block.marker) ?? [];
    const last = units.at(-1);
    const known = units.find(({ name }) => name === file);
    if (reason !== undefined) skipped.push({ line: block.line, reason });
    else if (known !== undefined) known.blocks.push(block);
    else if (file !== undefined) units.push({ name: file, language: block.language, blocks: [block] });
    else if (block.marker === 'continues' && last !== undefined) last.blocks.push(block);
    else if (runs !== undefined && running === undefined) {
      running = { name: `line-${block.line}.ts`, language: 'ts', blocks: [block], on };
      units.push(running);
    } else if (block.language === 'console' && block.marker === 'numbers vary') continue;
    else if (block.marker !== '') throw new Error(`line ${block.line}: "${block.marker}" is no marker of check-docs`);
    else if (['ts', 'tsx'].includes(block.language)) {
      units.push({ name: `line-${block.line}.${block.language}`, language: block.language, blocks: [block] });
    }
  }
  if (running !== undefined)
    throw new Error(`line ${running.blocks[0]?.line}: runs, but no block of text says what it prints`);
  return { units, skipped };
}

/** The text of a unit, one blank line between its pieces. @param {Unit} unit */
export function textOf({ blocks }) {
  return `${blocks.map(({ code }) => code).join('\n\n')}\n`;
}

/** The text of a unit with every line where it is in the page, for messages. @param {Unit} unit */
export function textInPlace({ blocks }) {
  /** @type {string[]} */
  const lines = [];
  for (const { line, code } of blocks) {
    while (lines.length < line - 1) lines.push('');
    lines.push(...code.split('\n'));
  }
  return `${lines.join('\n')}\n`;
}
