// @ts-check
import { chromium } from 'playwright-core';
import { findChromium } from './setup.mjs';

/** @typedef {import('playwright-core').Browser} Browser */
/** @typedef {import('playwright-core').Page} Page */

/**
 * Starts a headless Chromium for tests. Its WebGPU runs on the machine's GPU where Chromium trusts that one, else on the
 * CPU.
 *
 * @param {{ webgpu?: boolean, camera?: string }} [options] `camera`: an MJPEG that it sees, such as one JPEG; `webgpu: false` for a browser that has `navigator.gpu` and offers no adapter, as
 *   one whose GPU is on the blocklist
 * @returns {Promise<Browser>} the caller closes it
 * @throws {Error} where there is no Chromium; see `setUpChromium`
 */
export async function launchChromium({ webgpu = true, camera } = {}) {
  const found = await findChromium();
  if (found.path === undefined) throw new Error(found.reason);
  return chromium.launch({
    executablePath: found.path,
    // Playwright adds what keeps a browser quiet on a network that is closed, and switches the sandbox off.
    args: [
      '--disable-quic',
      ...(webgpu ? ['--enable-unsafe-webgpu'] : []),
      ...(camera === undefined
        ? []
        : [
            ...['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
            `--use-file-for-fake-video-capture=${camera}`,
          ]),
    ],
  });
}

/**
 * The warnings and errors in the console of a page from now on, and the errors that its scripts throw.
 *
 * @param {Page} page
 * @returns {string[]} grows as the page goes on
 */
export function complaintsOf(page) {
  /** @type {string[]} */
  const complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return complaints;
}
