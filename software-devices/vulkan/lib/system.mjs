// @ts-check
// This machine: its programs, and whether it is one that packages can be taken from.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Says one step, for people, as what is being set up. @param {string} who */
export const speaker = (who) => (/** @type {string} */ line) => console.log(`${who}: ${line}`);

/** One step of setting up Vulkan. */
export const say = speaker('vulkan');

/**
 * Runs a program and waits for it. A variable given as undefined is not passed on.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined> }} [options]
 */
export function attempt(command, args, { cwd, env } = {}) {
  const result = spawnSync(command, args, {
    cwd,
    // English, since it is read below.
    env: { ...process.env, LC_ALL: 'C', ...env },
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  const ok = result.status === 0;
  return { ok, stdout: result.stdout ?? '', reason: ok ? '' : (result.error?.message ?? reasonIn(result)) };
}

/** As {@link attempt}, and throws where that fails. @type {(...args: Parameters<typeof attempt>) => string} */
export function run(command, args, options) {
  const { ok, stdout, reason } = attempt(command, args, options);
  if (!ok) throw new Error(`${command}: ${reason}`);
  return stdout;
}

/**
 * The errors in what a program said, or else its last words, in one line.
 *
 * @param {{ stdout: string, stderr: string }} said
 */
function reasonIn({ stdout, stderr }) {
  const lines = (stderr.trim() || stdout.trim() || 'it failed without a word').split('\n').map((line) => line.trim());
  const errors = lines.filter((line) => /^E: |error: |^concord: /.test(line));
  return (errors.length > 0 ? errors : lines.slice(-2)).slice(0, 3).join('; ').replaceAll('E: ', '');
}

/** Why packages cannot be taken from this machine, or undefined. */
export function unsupported() {
  if (process.platform !== 'linux') return `this is ${process.platform}`;
  for (const program of ['apt-get', 'apt-cache', 'dpkg-deb', 'flock', 'ldd', 'tar', 'bash'])
    if (!['/usr/bin', '/bin'].some((folder) => existsSync(join(folder, program)))) return `${program} is missing here`;
  return undefined;
}

/** Returns whether this is Ubuntu or a child of it. */
export const isUbuntu = () =>
  existsSync('/etc/os-release') && /^(ID|ID_LIKE)=.*\bubuntu\b/m.test(readFileSync('/etc/os-release', 'utf8'));

/**
 * Installs packages of Debian, as root.
 *
 * @param {(line: string) => void} sayStep
 * @param {readonly string[]} packages
 * @param {{ lacking: string, title: string }} texts what is not here, and what is installed, for people
 * @throws {Error} with the command to run, where it may not or cannot
 */
export function installPackages(sayStep, packages, { lacking, title }) {
  const args = ['install', '-y', '--no-install-recommends', ...packages];
  const command = `apt-get ${args.join(' ')}`;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || process.env['CONCORD_NO_INSTALL'])
    throw new Error(`${lacking}; run: ${isRoot ? '' : 'sudo '}${command}`);
  sayStep(`installing ${title}: ${command}`);
  const install = () => attempt('apt-get', args, { env: { DEBIAN_FRONTEND: 'noninteractive' } });
  if (install().ok) return;
  sayStep('reading the package lists anew: apt-get update');
  attempt('apt-get', ['update', '-qq']);
  const { ok, reason } = install();
  if (!ok) throw new Error(`${title} could not be installed: ${reason}`);
}
