// @ts-check
// `setup.mjs` finds a Chromium for tests in a page, or installs one where it may, and prints its path. A second run finds.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(import.meta.url);
const command = 'apt-get install -y --no-install-recommends chromium';

/**
 * @typedef {{ path: string } | { path: undefined, reason: string }} Chromium the program to start, or why there is none
 *   and what to do about it
 */

/** Where browsers with WebGPU are, the plainest first. */
const places = {
  linux: ['/usr/bin/chromium', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable', '/usr/bin/microsoft-edge'],
  darwin: [
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  win32: ['ProgramFiles', 'ProgramFiles(x86)', 'LocalAppData'].flatMap((variable) =>
    [String.raw`Google\Chrome\Application\chrome.exe`, String.raw`Microsoft\Edge\Application\msedge.exe`].map((file) =>
      join(process.env[variable] ?? '', file),
    ),
  ),
};

/**
 * The Chromium that is here: `CHROMIUM_PATH`, that of the system, or the one that playwright has downloaded.
 *
 * @returns {Promise<Chromium>}
 */
export async function findChromium() {
  const given = process.env['CHROMIUM_PATH'];
  if (given) {
    return existsSync(given) ? { path: given } : missing(`CHROMIUM_PATH names ${given}, which does not exist`);
  }
  const [path] = [...here(), await downloaded()].filter((file) => file && existsSync(file));
  return path ? { path } : missing(`there is no Chromium; run: ${advice()}`);
}

/**
 * The Chromium that is here, or, where there is none, the one that this installs: as root on Debian, unless
 * `CONCORD_NO_INSTALL=1`.
 *
 * @returns {Promise<Chromium>}
 */
export async function setUpChromium() {
  const found = await findChromium();
  const isSettled = found.path !== undefined || process.env['CHROMIUM_PATH'] || process.env['CONCORD_NO_INSTALL'];
  if (isSettled || !mayInstall()) return found;
  // One at a time: tests of several packages may ask at once. The lock goes with the process that holds it.
  const lock = join(tmpdir(), `concord-chromium-${process.getuid?.()}.lock`);
  const child = spawn('flock', [lock, process.execPath, script, '--locked'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await once(child, 'exit');
  const installed = await findChromium();
  return installed.path !== undefined ? installed : missing('chromium could not be installed; the lines above say why');
}

/** @param {string} reason */
const missing = (reason) => ({ path: undefined, reason });

const here = () => places[/** @type {keyof typeof places} */ (process.platform)] ?? [];

/** Where playwright puts its own, if playwright is installed here and knows this system. */
async function downloaded() {
  try {
    const { chromium } = await import('playwright-core');
    return chromium.executablePath();
  } catch {
    return undefined;
  }
}

function advice() {
  if (!isDebian()) return 'npx playwright-core install chromium (or set CHROMIUM_PATH)';
  return isRoot() ? command : `sudo ${command}`;
}

const isRoot = () => process.getuid?.() === 0;
const mayInstall = () => isDebian() && isRoot() && existsSync('/usr/bin/flock');

/** Debian and its children, without Ubuntu and its own: there the package is a snap, which starts in no container. */
function isDebian() {
  if (process.platform !== 'linux' || !existsSync('/etc/os-release')) return false;
  const about = readFileSync('/etc/os-release', 'utf8');
  return /^(ID|ID_LIKE)=.*\bdebian\b/m.test(about) && !/^(ID|ID_LIKE)=.*\bubuntu\b/m.test(about);
}

function install() {
  console.log(`chromium: installing Debian's package: ${command}`);
  const [program = '', ...args] = command.split(' ');
  // Something else may be installing too, such as the compiler for the Vulkan devices.
  const options = ['-o', 'DPkg::Lock::Timeout=300', '-qq'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const attempt = () => spawnSync(program, [...options, ...args], { env, encoding: 'utf8' });
  if (attempt().status === 0) return 0;
  console.log('chromium: reading the package lists anew: apt-get update');
  spawnSync(program, ['-qq', 'update'], { env });
  const { status, stderr } = attempt();
  if (status !== 0) console.error(`chromium: ${stderr.trim()}`);
  return status ?? 1;
}

if (process.argv[1] && realpathSync(process.argv[1]) === script) {
  if (process.argv.includes('--locked')) {
    process.exitCode = (await findChromium()).path ? 0 : install();
  } else {
    const found = await setUpChromium();
    if (found.path !== undefined) console.log(found.path);
    else console.error(`chromium: ${found.reason}`);
    process.exitCode = found.path !== undefined ? 0 : 1;
  }
}
