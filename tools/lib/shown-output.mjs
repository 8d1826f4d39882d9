// @ts-check
// The output of commands in Markdown: a block of the language `console`, in which `$ ` begins a command and the lines
// after it are its output. A line `...` stands for any lines. A comment before the block may say
//   <!-- check-docs: numbers vary -->     numbers, and where lines break, may be others
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './paths.mjs';
import { toolEnvironment } from './run.mjs';

/** @typedef {{ line: number, command: string, output: string, numbersVary: boolean }} Shown */

/** Parts of an output that differ between runs and machines. @type {readonly [RegExp, string][]} */
const VARYING = [
  // A software device that is set up first.
  [/^(level-zero-cpu|vulkan): .*\n/gm, ''],
  // Durations, rates and errors of measurement.
  [/\b\d[\d.,]* (ms|s|min)\b/g, 'TIME'],
  [/\b\d[\d.,]*( [a-z]+)?(\/s| a second)\b/g, '#$1$2'],
  [/\b\d(\.\d+)?e-\d+\b/g, '#'],
  [/\b\d[\d.]*% of the allowed\b/g, '#% of the allowed'],
  // Devices.
  [/\b(level-zero|webgpu|wasm|cpu): [A-Zl].*$/gm, '$1: DEVICE'],
  [/\bCPU, .* \[cpu\]/g, 'DEVICE [cpu]'],
  [/\bllvmpipe(\S*: .*|\S+)|\bConcord Level Zero CPU \(.*\)/g, 'DEVICE'],
];

/**
 * The commands of a page, with their outputs.
 *
 * @param {readonly import('./docs-code.mjs').Block[]} blocks
 * @returns {Shown[]}
 */
export function shownOutputs(blocks) {
  return blocks
    .filter(({ language, marker }) => language === 'console' && !marker.startsWith('skip'))
    .flatMap(({ code, line, marker }) => {
      /** @type {Shown[]} */
      const shown = [];
      for (const [at, text] of code.split('\n').entries()) {
        if (text.startsWith('$ ')) {
          shown.push({ line: line + at, command: text.slice(2), output: '', numbersVary: marker === 'numbers vary' });
        } else {
          const last = shown.at(-1);
          if (last === undefined) throw new Error(`line ${line}: a block of console begins with a command: "$ ..."`);
          last.output += `${text}\n`;
        }
      }
      return shown;
    });
}

/**
 * The first line of a shown output that the real one does not have; undefined where they agree.
 *
 * @param {Shown} shown
 * @param {string} real
 * @returns {{ shown: string, real: string } | undefined}
 */
export function firstDifference({ output, numbersVary }, real) {
  const want = linesOf(output, numbersVary);
  const got = linesOf(real, numbersVary);
  let from = 0;
  let isOpen = false;
  for (const line of want) {
    if (line === '...') {
      isOpen = true;
      continue;
    }
    const at = isOpen ? got.indexOf(line, from) : from;
    if (got[at] !== line) return { shown: line, real: got[from] ?? 'the end' };
    from = at + 1;
    isOpen = false;
  }
  return isOpen || from === got.length ? undefined : { shown: 'the end', real: got[from] ?? '' };
}

/** @param {string} text @param {boolean} numbersVary */
function linesOf(text, numbersVary) {
  let masked = text;
  for (const [pattern, by] of VARYING) masked = masked.replace(pattern, by);
  const trimmed = masked.trim();
  const lines = trimmed === '' ? [] : trimmed.split('\n').map((line) => line.trimEnd());
  if (!numbersVary) return lines;
  // Other numbers may move the end of a line: one word each.
  return lines.flatMap((line) =>
    line
      .replaceAll(/\d[\d.,]*\b/g, '#')
      .split(/\s+/)
      .filter((word) => word !== ''),
  );
}

/** Folders of the checkout that commands of the pages name. */
const NAMED = ['docs', 'examples', 'node_modules', 'packages', 'software-devices'];

/**
 * Runs the commands of a page, in a folder where they can write files.
 *
 * @param {string} page
 * @param {readonly Shown[]} outputs
 * @returns {string[]} problems
 */
export function wrongOutputs(page, outputs) {
  const cwd = mkdtempSync(join(tmpdir(), 'concord-shown-'));
  try {
    for (const name of NAMED) symlinkSync(join(root, name), join(cwd, name), 'junction');
    return outputs.flatMap((shown) => {
      // The backends of a machine without a GPU, so that every machine shows the same.
      const env = { ...toolEnvironment(), CONCORD_BACKEND: 'wasm,cpu' };
      const { status, stdout, stderr } = spawnSync(shown.command, { cwd, env, encoding: 'utf8', shell: true });
      // If a program succeeds, its stderr is progress.
      const different = firstDifference(shown, status === 0 ? stdout : stdout + stderr);
      if (different === undefined) return [];
      return [`${page}:${shown.line}: ${shown.command}: shows "${different.shown}", prints "${different.real}"`];
    });
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
