// @ts-check
// Compiles the engine with its harness, assembles modules, and runs cases in one process.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
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

/** The arguments of the harness for a case. @param {Case} one @param {string} file */
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
  const files = assembleAll(folder, cases);
  const script = cases.flatMap((one, at) => scriptOf(one, files[at] ?? ''));
  const ran = runScript(program, script, env);
  return { ...ran, answers: answersIn(ran.output) };
}

/** The same for two halves of the cases at the same time, each in its own process. @param {string} program @param {string} folder @param {readonly Case[]} cases */
export async function runHalves(program, folder, cases) {
  const files = assembleAll(folder, cases);
  const lines = cases.map((one, at) => scriptOf(one, files[at] ?? ''));
  const middle = Math.ceil(cases.length / 2);
  const ran = await Promise.all(
    [lines.slice(0, middle), lines.slice(middle)].map((some) => runScriptAside(program, some.flat())),
  );
  return {
    errors: ran.map(({ errors }) => errors).join(''),
    signals: ran.map(({ signal }) => signal),
    answers: ran.flatMap(({ output }) => answersIn(output)),
  };
}

/** @param {string} program @param {string[]} script @returns {Promise<{ output: string, errors: string, signal: string | null }>} */
async function runScriptAside(program, script) {
  const child = spawn(program);
  child.stdin.end(script.join('\n'));
  // A process that ends early is told by its signal and its answers.
  child.stdin.on('error', () => {});
  const ended = once(child, 'close');
  const [output, errors, [, signal]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { output, errors, signal };
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
