import { expect, it } from 'vitest';
import * as browser from './browser.ts';
import * as node from './index.ts';

it('what a browser gets says why there is no Level Zero', async () => {
  await expect(browser.levelZero().probe()).resolves.toEqual({
    available: false,
    reason: 'wrong-platform',
    message: 'Level Zero needs Node',
    hint: 'in a browser use @concord/backend-webgpu',
  });
  const unavailable = { code: 'BACKEND_UNAVAILABLE', reason: 'wrong-platform', backend: 'level-zero' };
  await expect(browser.levelZero().create()).rejects.toMatchObject(unavailable);
  const backend = new browser.LevelZeroBackend();
  await expect(backend.init()).rejects.toMatchObject(unavailable);
  await expect(browser.LevelZeroClient.open()).rejects.toMatchObject(unavailable);
  await backend.dispose();
});

it('and it has all names of the real one', () => {
  expect(Object.keys(browser).sort((a, b) => a.localeCompare(b))).toEqual(
    Object.keys(node).sort((a, b) => a.localeCompare(b)),
  );
});
