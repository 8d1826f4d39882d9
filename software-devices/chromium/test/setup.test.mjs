// @ts-check
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { describeInChromium } from '../describe-in-chromium.mjs';
import { launchChromium } from '../launch.mjs';

const script = fileURLToPath(new URL('../setup.mjs', import.meta.url));

/** @param {Record<string, string>} env */
function setup(env) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}

test('CHROMIUM_PATH is taken as it is', () => {
  expect(setup({ CHROMIUM_PATH: process.execPath })).toEqual({
    status: 0,
    stdout: `${process.execPath}\n`,
    stderr: '',
  });
  const stderr = 'chromium: CHROMIUM_PATH names /no/chromium, which does not exist\n';
  expect(setup({ CHROMIUM_PATH: '/no/chromium' })).toEqual({ status: 1, stdout: '', stderr });
});

await describeInChromium('Chromium', () => {
  test('is found again without an installation', () => {
    const { status, stdout, stderr } = setup({ CONCORD_NO_INSTALL: '1' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(existsSync(stdout.trim())).toBe(true);
  });

  test.each([
    [true, 'an adapter'],
    [false, 'no adapter'],
  ])('with webgpu %s offers a page from localhost %s', async (webgpu) => {
    const browser = await launchChromium({ webgpu });
    try {
      const page = await browser.newPage();
      await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }));
      await page.goto('http://localhost/');
      expect(await page.evaluate(async () => (await navigator.gpu.requestAdapter()) !== null)).toBe(webgpu);
    } finally {
      await browser.close();
    }
  });
});
