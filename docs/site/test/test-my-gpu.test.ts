import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BenchJson, ConformanceJson } from '@concord/cli';
import { describeInChromium } from '../../../software-devices/chromium/describe-in-chromium.mjs';
import { type Browser, complaintsOf, launchChromium, type Page } from '../../../software-devices/chromium/launch.mjs';
import { openSite } from './support/open-site.mjs';

await describeInChromium('Test my GPU', () => {
  const folder = mkdtempSync(join(tmpdir(), 'concord-downloads-'));
  let site: Awaited<ReturnType<typeof openSite>>;
  let browser: Browser;

  beforeAll(async () => {
    site = await openSite();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
    rmSync(folder, { recursive: true });
  });

  async function openPage(): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 380, height: 800 }, serviceWorkers: 'block' });
    await page.goto(`${site.url}test-my-gpu.html`);
    await page.getByRole('button', { name: 'Test my GPU', exact: true }).waitFor();
    await expect.poll(() => page.locator('.pg-backends').innerText(), { timeout: 60_000 }).not.toContain('being tried');
    return page;
  }

  const start = (page: Page): Promise<void> => page.getByRole('button', { name: 'Test my GPU', exact: true }).click();

  /** Presses a button that downloads a file. */
  async function download(page: Page, name: string): Promise<string> {
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
    const path = join(folder, name);
    await file.saveAs(path);
    return path;
  }

  it('tests one op to the end, and gives what the command writes', async () => {
    const page = await openPage();
    const complaints = complaintsOf(page);
    await page.locator('input[value=wasm]').check();
    await page.getByLabel('Only').fill('reduce');
    await page.keyboard.press('Enter');
    await page.getByText(/^Done after \d+ s: none of \d+ cases failed$/).waitFor();
    expect(
      await page.locator('progress').evaluateAll((all) => all.map((bar) => (bar as HTMLProgressElement).position)),
    ).toEqual([1, 1, 1]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(380);

    const files = [await download(page, 'concord-conformance.json'), await download(page, 'concord-bench.json')];
    const [written, bench] = files.map((file): unknown => JSON.parse(readFileSync(file, 'utf8'))) as [
      ConformanceJson[],
      BenchJson,
    ];
    expect(written.map(({ backend, filter, sample }) => [backend, filter, sample])).toEqual([
      ['webgpu', 'reduce', 0.1],
      ['wasm', 'reduce', 0.1],
    ]);
    expect(written[0]?.versions['browser']).toContain('Chrome/');
    expect(written.flatMap(({ cases }) => cases.filter(({ status }) => status !== 'passed'))).toEqual([]);
    expect(bench.cases.map(({ op, results }) => [op, results.map(({ status }) => status)])).toEqual(
      bench.cases.map(() => ['reduce', ['measured', 'measured']]),
    );
    expect(bench.cases.length).toBeGreaterThan(1);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('names a filter that is like one that matches nothing, and ends where Cancel is pressed, without a part as the whole', async () => {
    const page = await openPage();
    await page.locator('input[value=webgpu]').uncheck();
    await page.locator('input[value=cpu]').check();
    await page.getByLabel('Only').fill('reduse');
    await start(page);
    expect(await page.locator('.pg-fault').innerText()).toBe('no case matches "reduse"; did you mean "reduce"?');
    await page.getByLabel('Only').fill('');
    await page.getByLabel('Cases').selectOption('all: minutes');
    await start(page);
    await page.getByText(/^[1-9][\d,]* of [\d,]+ cases$/).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Cancelled: only a part was run').waitFor();
    expect(await page.getByRole('button', { name: /^concord-/ }).count()).toBe(0);
    await page.close();
  });
});
