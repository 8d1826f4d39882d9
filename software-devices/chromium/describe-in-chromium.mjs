// @ts-check
import { describe, expect, it } from 'vitest';
import { setUpChromium } from './setup.mjs';

/** A browser starts slowly where other tests keep all cores busy. */
const TIMEOUT_MS = 60_000;

/**
 * vitest's `describe`, for tests that need a Chromium. Where there is none and none can be installed, there is one skipped
 * test that says so; in CI a failing one. Await it at the top level of the test file.
 *
 * @param {string} title
 * @param {() => void} registerTests
 */
export async function describeInChromium(title, registerTests) {
  const chromium = await setUpChromium();
  if (chromium.path !== undefined) {
    describe(title, { timeout: TIMEOUT_MS }, registerTests);
    return;
  }
  describe(title, () => {
    it(`not run: ${chromium.reason}`, (context) => {
      if (process.env['CI'] !== undefined) expect.fail(chromium.reason);
      context.skip(chromium.reason);
    });
  });
}
