// @ts-check
import { chromium } from 'playwright-core';
import { findChromium } from './setup.mjs';

/**
 * Starts a headless Chromium for tests. Its WebGPU runs on the machine's GPU where Chromium trusts that one, else on the
 * CPU.
 *
 * @param {{ webgpu?: boolean }} [options] `webgpu: false` for a browser that has `navigator.gpu` and offers no adapter, as
 *   one whose GPU is on the blocklist
 * @returns {Promise<import('playwright-core').Browser>} the caller closes it
 * @throws {Error} where there is no Chromium; see `setUpChromium`
 */
export async function launchChromium({ webgpu = true } = {}) {
  const found = await findChromium();
  if (!found.path) throw new Error(found.reason);
  return chromium.launch({
    executablePath: found.path,
    // Playwright adds what keeps a browser quiet on a network that is closed, and switches the sandbox off.
    args: ['--disable-quic', ...(webgpu ? ['--enable-unsafe-webgpu'] : [])],
  });
}
