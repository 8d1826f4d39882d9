// The package as built, in a page of headless Chromium: `npm test` builds it first, `pnpm test:watch` does not.
import { basename } from 'node:path';
import { selectCases } from '@concord/conformance';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeInChromium } from '../../../../software-devices/chromium/describe-in-chromium.mjs';
import {
  type Browser,
  complaintsOf,
  launchChromium,
  type Page,
} from '../../../../software-devices/chromium/launch.mjs';
import { partOf, sampleOfTenth } from '../../../../tools/lib/test-parts.mjs';
import { type ServedPage, servePage } from './serve-page.mjs';
import type {} from './page.ts';

const part = partOf(process.env);
const { CONCORD_SAMPLE, CONCORD_SAMPLE_AFTER } = sampleOfTenth(part, process.env['CONCORD_TEST_TURN']);
const selection = { sample: Number(CONCORD_SAMPLE), after: Number(CONCORD_SAMPLE_AFTER) };
const cases = selectCases(selection);

/** The errors of a lost device in a page, and the results of a new one. */
const afterLoss = {
  lost: { reason: 'device-lost' },
  after: ['DEVICE_LOST', 'DEVICE_LOST'],
  product: [19, 22, 43, 50],
};
declare const endGpuProcess: () => Promise<void>;

await describeInChromium('the package in Chromium', () => {
  let served: ServedPage;
  let browser: Browser;
  let page: Page;
  let complaints: readonly string[];

  beforeAll(async () => {
    served = await servePage();
    browser = await launchChromium();
    page = await browser.newPage();
    complaints = complaintsOf(page);
    await page.goto(served.url);
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
  });

  describe(`conformance, a sample of ${selection.sample}`, () => {
    let results: ReadonlyMap<string, { readonly status: string; readonly detail?: string }>;

    beforeAll(async () => {
      const report = await page.evaluate((own) => concord.runSample(own), selection);
      console.log(`${report.cases.length} cases in Chromium ${browser.version()} on ${describeDevice(report.device)}`);
      expect(report.notRun).toBeUndefined();
      results = new Map(report.cases.map((result) => [result.id, result]));
    });

    it('runs exactly the cases that Node selects', () => {
      expect([...results.keys()]).toEqual(cases.map(({ id }) => id));
    });

    for (const { id } of cases) {
      // Nothing is unsupported on WebGPU, so neither is that a way to pass.
      it(id, () => {
        const { status, detail } = results.get(id) ?? { status: 'not run' };
        if (status !== 'passed') expect.fail(detail ?? status);
      });
    }
  });

  // The rest of the tests has more cases alone.
  if (part === 'rest') return;

  it('is bundled without anything of Node', () => {
    expect(served.imports).toEqual([]);
    const names = served.files.map((file) => basename(file));
    expect(names).toContain('no-dawn-source.js');
    expect(names).not.toContain('dawn-source.js');
  });

  it('computes in a dedicated worker', async () => {
    expect(await page.evaluate(() => concord.multiplyInWorker())).toEqual([19, 22, 43, 50]);
  });

  it('profiles a product into the timeline of the page, by the clock of the device', async () => {
    expect(await page.evaluate(() => concord.profileProduct())).toEqual([
      { name: 'gemm m2 n2 k2 f32', isTimed: true, track: 'host' },
      { name: expect.stringMatching(/^gemm\//) as string, isTimed: true, track: 'device' },
    ]);
  });

  it('says that the device is lost, and works again on a new one', async () => {
    expect(await page.evaluate(() => concord.loseDevice())).toMatchObject(afterLoss);
  });

  it('leaves the console empty', () => {
    expect(complaints).toEqual([]);
  });

  it('survives the end of the GPU process', async () => {
    const devtools = await browser.newBrowserCDPSession();
    await page.exposeFunction('endGpuProcess', () => devtools.send('Browser.crashGpuProcess').catch(() => undefined));
    expect(await page.evaluate(() => concord.awaitLoss(() => void endGpuProcess()))).toMatchObject(afterLoss);
  });

  it('says why an insecure page has no WebGPU', async () => {
    const insecure = await browser.newPage();
    // A name that only this page knows: it is not loopback, so the browser trusts it only with https.
    await insecure.route('http://concord.test/**', async (route) => {
      const { pathname } = new URL(route.request().url());
      await route.fulfill({ response: await route.fetch({ url: new URL(pathname, served.url).href }) });
    });
    await insecure.goto('http://concord.test/');
    expect(await insecure.evaluate(() => concord.probe())).toEqual({
      available: false,
      reason: 'permission-denied',
      message: 'browsers offer WebGPU to secure pages only, and this page is not secure',
      hint: 'serve the page over https or from localhost',
    });
    await insecure.close();
  });

  it('says why a browser with WebGPU switched off has no device', async () => {
    const without = await launchChromium({ webgpu: false });
    try {
      const unable = await without.newPage();
      await unable.goto(served.url);
      expect(await unable.evaluate(() => concord.probe())).toEqual({
        available: false,
        reason: 'no-device',
        message: 'the browser has WebGPU but offered no adapter',
        hint: expect.stringContaining('chrome://gpu') as string,
      });
    } finally {
      await without.close();
    }
  });
});

function describeDevice(device: { readonly name: string; readonly type: string } | null): string {
  return device === null ? 'no device' : `${device.name} [${device.type}]`;
}
