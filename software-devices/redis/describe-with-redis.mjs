// @ts-check
import { describe, expect, it } from 'vitest';
import { setUpRedis } from './setup.mjs';

/**
 * vitest's `describe`, for tests that start a Redis. Where there is none and none can be installed, there is one skipped
 * test that says so; in CI a failing one. Await it at the top level of the test file.
 *
 * @param {string} title
 * @param {(server: string) => void} registerTests takes the program to start
 */
export async function describeWithRedis(title, registerTests) {
  const redis = await setUpRedis();
  describe(title, () => {
    if (redis.path !== undefined) return registerTests(redis.path);
    it(`not run: ${redis.reason}`, (context) => {
      if (process.env['CI'] !== undefined) expect.fail(redis.reason);
      context.skip(redis.reason);
    });
  });
}
