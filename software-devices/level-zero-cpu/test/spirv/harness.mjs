// @ts-check
// Compiles the engine with its harness, assembles modules, and runs cases in one process.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { bytesOf, decode, encode } from './values.mjs';

const path = (/** @type {string} */ relative) => fileURLToPath(new URL(relative, import.meta.url));
const source = path('../../src/');

/** A folder of this test file's own; gone when `done` is called. @param {string} name */
export function temporaryFolder(name) {
  const folder = mkdtempSync(join(tmpdir(), `level-zero-cpu-${name}-`));
  return { folder, done: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Compiles the engine alone, without the driver around it. @param {string} folder @param {string[]} flags @param {string} main */
export function compileEngine(folder, flags = ['-O1'], main = 'engine-run') {
  const sources = readdirSync(source).filter((name) => /^(engine|spirv|subgroup).*\.c$/.test(name));
  const libraries = readFileSync(join(source, 'LINK'), 'utf8').trim().split(/\s+/);
  const program = join(folder, main);
  const files = [...sources.map((name) => join(source, name)), path(`../${main}.c`)];
  execFileSync('gcc', ['-std=c11', '-Wall', '-Wextra', '-Werror', ...flags, ...files, '-o', program, ...libraries]);
  return program;
}

/** @param {string} folder @param {string} name @param {string} text @param {string} version such as 1.2 */
export function assemble(folder, name, text, version = '1.2') {
  const file = join(folder, `${name.replaceAll(/\W+/g, '-')}.spv`);
  const { status, stderr } = spawnSync('spirv-as', ['--target-env', `spv${version}`, '-', '-o', file], {
    input: text,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${name}: ${stderr}\n${text}`);
  return file;
}

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {string} text assembly
 * @property {string} [version] of SPIR-V
 * @property {{ type: string, values: readonly (number | bigint)[], as?: 'buffer' | 'value' | 'local' | 'null', offset?: number }[]} args
 * @property {number[]} groups
 * @property {number[]} size
 * @property {number[]} [offset]
 * @property {string} [constants] "id:hex" words
 * @property {{ arg: number, values: readonly (number | bigint)[], tolerance?: number }[]} expected
 */

const argumentLine = (/** @type {Case['args'][number]} */ arg, /** @type {number} */ at) => {
  if (arg.as === 'local') return `local ${at} ${arg.values.length * bytesOf(arg.type)}`;
  if (arg.as === 'null') return `null ${at}`;
  return `${arg.as ?? 'buffer'} ${at} ${encode(arg.type, arg.values)} ${arg.offset ?? ''}`.trimEnd();
};

/** What the harness is told to run a case. @param {Case} one @param {string} file */
export const scriptOf = (one, file) => [
  `module ${file} ${one.constants ?? ''}`.trimEnd(),
  'kernel main',
  ...one.args.map(argumentLine),
  `launch ${[...one.groups, ...one.size, ...(one.offset ?? [])].join(' ')}`,
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

/** Runs lines through the harness. @param {string} program @param {string[]} script @param {NodeJS.ProcessEnv} env */
export function runScript(program, script, env = {}) {
  const ran = spawnSync(program, {
    input: script.join('\n'),
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 1 << 28,
  });
  return { output: ran.stdout, errors: ran.stderr, status: ran.status, signal: ran.signal };
}

/** Runs all cases in one process. @param {string} program @param {string} folder @param {readonly Case[]} cases @param {NodeJS.ProcessEnv} env */
export function runCases(program, folder, cases, env = {}) {
  const script = cases.flatMap((one) => scriptOf(one, assemble(folder, one.name, one.text, one.version)));
  const ran = runScript(program, script, env);
  return { ...ran, answers: answersIn(ran.output) };
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
