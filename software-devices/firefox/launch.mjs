// @ts-check
import { launch } from 'puppeteer-core';

/** @typedef {import('puppeteer-core').Browser} Browser */

/**
 * Starts a headless Firefox through WebDriver BiDi, with WebGPU on what wgpu finds: a GPU, or lavapipe.
 *
 * @param {string} path the program; see `setUpFirefox`
 * @param {Record<string, string | undefined>} env where it is to find a Vulkan device
 * @returns {Promise<Browser>} the caller closes it
 */
export function launchFirefox(path, env) {
  return launch({
    browser: 'firefox',
    executablePath: path,
    headless: true,
    env,
    // A run of the whole suite is one call, and takes minutes.
    protocolTimeout: 0,
    extraPrefsFirefox: {
      'dom.webgpu.enabled': true,
      'gfx.webgpu.ignore-blocklist': true,
      // A headless browser has no window that would have it tick timers at full speed.
      'dom.min_background_timeout_value': 0,
      'dom.timeout.throttling_delay': -1,
    },
  });
}
