// @ts-check
// `setup.mjs` finds a Chromium for tests in a page, or installs one where it may, and prints its path. A second run finds.
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram, runSetUp, setUpProgram } from './lib/system-program.mjs';

/** @typedef {import('./lib/system-program.mjs').Found} Chromium */

const script = fileURLToPath(import.meta.url);

/** Browsers with WebGPU. @type {import('./lib/system-program.mjs').Program} */
const chromiumBrowser = {
  name: 'chromium',
  title: 'Chromium',
  debianPackage: 'chromium',
  variable: 'CHROMIUM_PATH',
  places: {
    linux: ['/usr/bin/chromium', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable', '/usr/bin/microsoft-edge'],
    darwin: [
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
    ],
    win32: ['ProgramFiles', 'ProgramFiles(x86)', 'LocalAppData'].flatMap((variable) =>
      [String.raw`Google\Chrome\Application\chrome.exe`, String.raw`Microsoft\Edge\Application\msedge.exe`].map(
        (file) => join(process.env[variable] ?? '', file),
      ),
    ),
  },
  elsewhere: 'npx playwright-core install chromium (or set CHROMIUM_PATH)',
  script,
};

/**
 * The Chromium that is here: `CHROMIUM_PATH`, that of the system, or the one that playwright has downloaded.
 *
 * @returns {Promise<Chromium>}
 */
export async function findChromium() {
  return findProgram(chromiumBrowser, [await downloaded()]);
}

/**
 * The Chromium that is here, or, where there is none, the one that this installs: as root on Debian, unless
 * `CONCORD_NO_INSTALL=1`.
 *
 * @returns {Promise<Chromium>}
 */
export function setUpChromium() {
  return setUpProgram(chromiumBrowser, findChromium);
}

/** Where playwright puts its own, if playwright is installed here and knows this system. */
async function downloaded() {
  try {
    const { chromium } = await import('playwright-core');
    return chromium.executablePath();
  } catch {
    return undefined;
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === script) await runSetUp(chromiumBrowser, findChromium);
