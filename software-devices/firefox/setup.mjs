// @ts-check
// `setup.mjs` finds a Firefox, or installs Debian's where it may, and prints its path. A second run finds.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findProgram, runSetUp, setUpProgram } from '../chromium/lib/system-program.mjs';

const script = fileURLToPath(import.meta.url);

/** @type {import('../chromium/lib/system-program.mjs').Program} */
const firefoxBrowser = {
  name: 'firefox',
  title: 'Firefox',
  debianPackage: 'firefox-esr',
  variable: 'FIREFOX_PATH',
  places: {
    linux: ['/usr/bin/firefox-esr', '/usr/bin/firefox'],
    darwin: ['/Applications/Firefox.app/Contents/MacOS/firefox'],
    win32: [String.raw`C:\Program Files\Mozilla Firefox\firefox.exe`],
  },
  elsewhere: 'your package manager for Firefox (or set FIREFOX_PATH)',
  script,
};

const findFirefox = () => findProgram(firefoxBrowser);

/** The Firefox that is here, or, where there is none, the one that this installs: as root on Debian. */
export const setUpFirefox = () => setUpProgram(firefoxBrowser, findFirefox);

if (process.argv[1] && realpathSync(process.argv[1]) === script) await runSetUp(firefoxBrowser, findFirefox);
