// @ts-check
// A program of this system, or one that is installed: as root on Debian.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * @typedef {{ path: string } | { path: undefined, reason: string }} Found the program to start, or why there is none and
 *   what to do about it
 */
/**
 * @typedef {object} Program
 * @property {string} name as its set-up says it, and its Debian package
 * @property {string} title as a sentence says it
 * @property {string} debianPackage
 * @property {string} variable of the environment, which names a program and no other is taken
 * @property {Partial<Record<NodeJS.Platform, readonly string[]>>} places where it is, the plainest first
 * @property {string} elsewhere what to run where it is no package of Debian's
 * @property {string} script what is run, with `--locked`, to install it
 */

/** @param {Program} program */
const commandOf = ({ debianPackage }) => `apt-get install -y --no-install-recommends ${debianPackage}`;

/**
 * The program that is here: the one that the variable names, that of the system, or one of `others`.
 *
 * @param {Program} program
 * @param {readonly (string | undefined)[]} [others]
 * @returns {Found}
 */
export function findProgram(program, others = []) {
  const { title, variable, places } = program;
  const given = process.env[variable];
  if (given) return existsSync(given) ? { path: given } : missing(`${variable} names ${given}, which does not exist`);
  const here = [...(places[process.platform] ?? []), ...others];
  const path = here.find((file) => file !== undefined && existsSync(file));
  return path === undefined ? missing(`there is no ${title}; run: ${adviceFor(program)}`) : { path };
}

/**
 * The program that `find` finds, or, where there is none, the one that this installs, unless `CONCORD_NO_INSTALL=1`.
 *
 * @param {Program} program
 * @param {() => Found | Promise<Found>} find
 * @returns {Promise<Found>}
 */
export async function setUpProgram({ name, variable, script }, find) {
  const found = await find();
  const isSettled = found.path !== undefined || process.env[variable] || process.env['CONCORD_NO_INSTALL'];
  if (isSettled || !mayInstall()) return found;
  // One at a time: tests of several packages may ask at once. The lock goes with the process that holds it.
  const lock = join(tmpdir(), `concord-${name}-${process.getuid?.()}.lock`);
  const child = spawn('flock', [lock, process.execPath, script, '--locked'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await once(child, 'exit');
  const installed = await find();
  return installed.path !== undefined ? installed : missing(`${name} could not be installed; the lines above say why`);
}

/**
 * The main of a `setup.mjs`: sets up and prints the path, or, under the lock, installs.
 *
 * @param {Program} program
 * @param {() => Found | Promise<Found>} find
 */
export async function runSetUp(program, find) {
  if (process.argv.includes('--locked')) {
    process.exitCode = (await find()).path ? 0 : install(program);
    return;
  }
  const found = await setUpProgram(program, find);
  if (found.path !== undefined) console.log(found.path);
  else console.error(`${program.name}: ${found.reason}`);
  process.exitCode = found.path !== undefined ? 0 : 1;
}

/** @param {string} reason */
const missing = (reason) => ({ path: undefined, reason });

/** @param {Program} program */
function adviceFor(program) {
  if (!isDebian()) return program.elsewhere;
  return isRoot() ? commandOf(program) : `sudo ${commandOf(program)}`;
}

const isRoot = () => process.getuid?.() === 0;
const mayInstall = () => isDebian() && isRoot() && existsSync('/usr/bin/flock');

/** Debian and its children, without Ubuntu and its own: there the package is a snap, which starts in no container. */
function isDebian() {
  if (process.platform !== 'linux' || !existsSync('/etc/os-release')) return false;
  const about = readFileSync('/etc/os-release', 'utf8');
  return /^(ID|ID_LIKE)=.*\bdebian\b/m.test(about) && !/^(ID|ID_LIKE)=.*\bubuntu\b/m.test(about);
}

/** @param {Program} program */
function install(program) {
  const { name } = program;
  console.log(`${name}: installing Debian's package: ${commandOf(program)}`);
  const [command = '', ...args] = commandOf(program).split(' ');
  // Something else may be installing too, such as the compiler for the Vulkan devices.
  const options = ['-o', 'DPkg::Lock::Timeout=300', '-qq'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const attempt = () => spawnSync(command, [...options, ...args], { env, encoding: 'utf8' });
  if (attempt().status === 0) return 0;
  console.log(`${name}: reading the package lists anew: apt-get update`);
  spawnSync(command, ['-qq', 'update'], { env });
  const { status, stderr } = attempt();
  if (status !== 0) console.error(`${name}: ${stderr.trim()}`);
  return status ?? 1;
}
