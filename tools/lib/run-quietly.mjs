// @ts-check
import { spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';
import { root } from './paths.mjs';

/** @returns {NodeJS.ProcessEnv} the environment without this checkout: no tool of ours on PATH, nothing npm sets for scripts */
export function strangersEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env)
      .filter(([key]) => !/^(npm_(package|lifecycle|config_local_prefix)|INIT_CWD$|CONCORD_|NODE_PATH$)/.test(key))
      .map(([key, value = '']) => [key, key.toUpperCase() === 'PATH' ? withoutCheckout(value) : value]),
  );
}

/** @param {string} path */
function withoutCheckout(path) {
  return path
    .split(delimiter)
    .filter((folder) => !folder.startsWith(root))
    .join(delimiter);
}

/**
 * Runs a program and shows one line: the command and how long it took. `isSilent`: nothing.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, expected?: number, isSilent?: boolean }} options `expected`: the exit code
 * @returns {string} its standard output
 * @throws {Error} with all that it printed, when it ends with another exit code
 */
export function runQuietly(command, args, { cwd, env, expected = 0, isSilent = false }) {
  const started = performance.now();
  const shell = process.platform === 'win32' && command !== process.execPath;
  const options = { cwd, env, encoding: /** @type {const} */ ('utf8'), shell, maxBuffer: 2 ** 26 };
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  if (error !== undefined) throw error;
  const shown = args.map((arg) => arg.replace(/^.*[/\\](concord-[^/\\]+\.tgz)$/, '$1')).join(' ');
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (!isSilent) console.log(`$ ${command} ${shown}   (${seconds} s)`);
  if (status !== expected) throw new Error(`${stdout}${stderr}\nexit code ${status} instead of ${expected}`);
  return stdout;
}

/**
 * Installs tarballs with npm, as a stranger does. All in one command: npm would look for a missing one in the registry.
 *
 * @param {string} folder
 * @param {readonly string[]} tarballs and options
 */
export function installPacked(folder, tarballs) {
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', ...tarballs];
  return runQuietly('npm', args, { cwd: folder, env: strangersEnvironment() });
}
