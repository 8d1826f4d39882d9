// The package as built, in pages of headless Chromium: `npm test` builds it first, `pnpm test:watch` does not.
import { selectCases } from '@concord/conformance';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInChromium } from '../../../../software-devices/chromium/describe-in-chromium.mjs';
import { type Browser, complaintsOf, launchChromium } from '../../../../software-devices/chromium/launch.mjs';
import type { WasmBackendOptions } from '../../src/index.ts';
import type {} from './page.ts';
import { servePage } from './serve-page.mjs';

const SAMPLE = 0.02;
const PAGES: ReadonlyArray<readonly [folder: string, options: WasmBackendOptions, name: RegExp, driver: RegExp]> = [
  ['isolated', {}, /^CPU, \d+ threads?, SIMD/, /Chrome\/[\d.]+ Safari\/[\d.]+$/],
  ['plain', {}, /^CPU, one worker, SIMD/, /; no threads: the page is not cross-origin isolated$/],
  ['plain', { mode: 'inline' }, /^CPU, no worker, SIMD/, /Safari\/[\d.]+$/],
  ['strict', { workerUrl: 'worker.js' }, /^CPU, \d+ threads?, SIMD/, /Safari\/[\d.]+$/],
];

await describeInChromium('the package in Chromium', () => {
  let served: Awaited<ReturnType<typeof servePage>>;
  let browser: Browser;

  beforeAll(async () => {
    served = await servePage();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
  });

  it('is bundled without anything of Node', () => {
    expect(served.imports).toEqual([]);
  });

  it.each(PAGES)(
    'a share of conformance passes in a page that is %s, with %o',
    async (folder, options, name, driver) => {
      const page = await browser.newPage();
      const complaints = complaintsOf(page);
      await page.goto(`${served.url}${folder}/`);
      const run = ([given, sample]: readonly [WasmBackendOptions, number]) => concordWasm.run(given, sample);
      const { cases, device, notRun } = await page.evaluate(run, [options, SAMPLE] as const);
      expect(notRun).toBeUndefined();
      expect(device?.name).toMatch(name);
      expect(device?.driver).toMatch(driver);
      expect(cases.map(({ id }) => id)).toEqual(selectCases({ sample: SAMPLE }).map(({ id }) => id));
      expect(cases.filter(({ status }) => status !== 'passed')).toEqual([]);
      expect(complaints).toEqual([]);
      await page.close();
    },
  );

  it('a page whose policy forbids the worker says so, and what the way out is', async () => {
    const page = await browser.newPage();
    await page.goto(`${served.url}strict/`);
    expect(await page.evaluate(() => concordWasm.refusal({ mode: 'threads' }))).toMatchObject({
      code: 'BACKEND_UNAVAILABLE',
      detail: expect.stringMatching(/^worker \d+ of \d+ did not start: its source could not be loaded$/) as string,
      hint: 'the page may forbid worker-src blob: ; serve @concord/backend-wasm/worker, and name it in the option workerUrl',
    });
    await page.close();
  });
});
