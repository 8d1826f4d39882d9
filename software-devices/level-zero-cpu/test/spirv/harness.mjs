// @ts-check
// Assembles modules, and runs cases in one process: see ../run-modules.c.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { driver } from '../../lib/cache.mjs';
import { runProgram } from '../programs.mjs';
import { decode, encode } from './values.mjs';

/** @typedef {{ name: string, text: string, version?: string }} Source a module as assembly; version is such as 1.2 */

/** Assembles modules, by one process of node's, as each costs more than spirv-as itself. @param {string} folder @param {readonly Source[]} sources */
export function assembleAll(folder, sources) {
  const files = sources.map(({ name, text: assembly }) => {
    const file = join(folder, name.replaceAll(/\W+/g, '-'));
    writeFileSync(`${file}.spvasm`, assembly);
    return file;
  });
  const script = `while read -r version file; do
    spirv-as --target-env "spv$version" "$file.spvasm" -o "$file.spv" || { cat "$file.spvasm"; exit 1; }
  done`;
  const input = files.map((file, at) => `${sources[at]?.version ?? '1.2'} ${file}\n`).join('');
  const { status, stderr, stdout } = spawnSync('sh', ['-c', script], { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${stderr}\n${stdout}`);
  return files.map((file) => `${file}.spv`);
}

/** @param {string} folder @param {string} name @param {string} assembly @param {string} version */
export const assemble = (folder, name, assembly, version = '1.2') =>
  /** @type {string} */ (assembleAll(folder, [{ name, text: assembly, version }])[0]);

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {string} text assembly
 * @property {string} [version] of SPIR-V
 * @property {{ type: string, values: readonly (number | bigint)[], as?: 'buffer' | 'value' | 'null', offset?: number }[]} args
 * @property {number[]} [groups] - one where absent
 * @property {number[]} [size] - one work-item where absent
 * @property {string} [constants] "id:hex" words
 * @property {{ arg: number, values: readonly (number | bigint)[], tolerance?: number }[]} expected
 */

const argumentLine = (/** @type {Case['args'][number]} */ arg, /** @type {number} */ at) => {
  if (arg.as === 'null') return `null ${at}`;
  return `${arg.as ?? 'buffer'} ${at} ${encode(arg.type, arg.values)} ${arg.offset ?? ''}`.trimEnd();
};

/** The arguments of the harness for a case. @param {Case} one @param {string} file */
export const scriptOf = (one, file) => [
  `module ${file} ${one.constants ?? ''}`.trimEnd(),
  'kernel main',
  ...one.args.map(argumentLine),
  `launch ${[one.groups ?? [1, 1, 1], one.size ?? [1, 1, 1]].flat().join(' ')}`,
  ...one.expected.map(({ arg }) => `read ${arg}`),
];

/** @typedef {{ log: string, result: string, launched: string, read: string[] }} Answer */

/** Splits the output into what was said about each module. @param {string} output @returns {Answer[]} */
export function answersIn(output) {
  return output
    .split(/^module /m)
    .slice(1)
    .map((part) => {
      const lines = part.split('\n');
      const logged = lines.findIndex((line) => line.startsWith('kernel '));
      return {
        result: lines[0] ?? '',
        log: lines.slice(2, logged).join('\n'),
        launched: lines.find((line) => line.startsWith('launch '))?.slice(7) ?? 'not launched',
        read: lines.filter((line) => line.startsWith('read ')).map((line) => line.slice(5)),
      };
    });
}

/**
 * Runs lines through the program.
 *
 * @param {string} program
 * @param {string[]} script
 * @param {Record<string, string>} [env]
 * @param {string} [file] of another driver
 */
export const runScript = (program, script, env = {}, file = driver) =>
  runProgram(program, [], file, env, script.join('\n'));

/**
 * Runs cases in one process.
 *
 * @param {string} program
 * @param {string} folder
 * @param {readonly Case[]} cases
 * @param {Record<string, string>} [env]
 * @param {string} [file]
 */
export function runCases(program, folder, cases, env, file) {
  const files = assembleAll(folder, cases);
  const { stdout, ...ran } = runScript(
    program,
    cases.flatMap((one, at) => scriptOf(one, files[at] ?? '')),
    env,
    file,
  );
  return { ...ran, answers: answersIn(stdout) };
}

/** The differences between a case's numbers and what was expected, as lines. @param {Case} one @param {Answer | undefined} answer */
export function differences(one, answer) {
  if (!answer) return ['the process ended before this case'];
  if (answer.result !== '0x0') return [`module ${answer.result}: ${answer.log}`];
  if (answer.launched !== '0x0') return [`launch ${answer.launched}`];
  return one.expected.flatMap(({ arg, values, tolerance = 0 }, index) => {
    const found = decode(one.args[arg]?.type ?? 'i32', answer.read[index] ?? '');
    const same = found.length === values.length && values.every((value, at) => near(value, found[at], tolerance));
    return same ? [] : [`argument ${arg}: ${found.join(' ')} instead of ${values.join(' ')}`];
  });
}

function near(
  /** @type {number | bigint} */ wanted,
  /** @type {number | bigint | undefined} */ found,
  /** @type {number} */ tolerance,
) {
  if (typeof wanted === 'bigint' || typeof found === 'bigint' || found === undefined) return wanted === found;
  if (Number.isNaN(wanted)) return Number.isNaN(found);
  return wanted === found || Math.abs(wanted - found) <= tolerance * Math.max(1, Math.abs(wanted));
}
