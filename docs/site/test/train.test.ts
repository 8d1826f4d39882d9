import { CpuBackend } from '@concord/backend-cpu';
import { fit, SHAPE } from '@concord/example-train';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInChromium } from '../../../software-devices/chromium/describe-in-chromium.mjs';
import { type Browser, complaintsOf, launchChromium, type Page } from '../../../software-devices/chromium/launch.mjs';
import { openSite } from './support/open-site.mjs';

const STEPS = 60;

await describeInChromium('training in a page', () => {
  let site: Awaited<ReturnType<typeof openSite>>;
  let browser: Browser;

  beforeAll(async () => {
    site = await openSite();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  const status = (page: Page): Promise<string> => page.locator('.pg-status').innerText();

  it('fits on WebGPU as the CPU backend does, draws its curve, and stops', { timeout: 180_000 }, async () => {
    await using backend = new CpuBackend();
    await backend.init();
    const { losses } = await fit(backend, { ...SHAPE, steps: STEPS, seed: 3 });
    const page = await browser.newPage({ viewport: { width: 380, height: 800 } });
    const complaints = complaintsOf(page);
    await page.goto(`${site.url}train.html`);
    await page.getByLabel('Steps').fill(String(STEPS));
    await page.getByLabel('Seed').fill('3');
    await page.getByLabel('Backend').selectOption('webgpu');
    await page.getByRole('button', { name: 'Train' }).click();
    await expect.poll(() => status(page), { timeout: 120_000 }).toMatch(/Done|That did not work/);
    expect(await status(page)).toMatch(/^Done: finds the class of [\d.]+ % of the points/);
    expect(await page.locator('.pg-ran').innerText()).toMatch(/^Runs on webgpu: \S/);
    const drawn = await page.locator('.train-curve polyline').evaluate((line) => line.getAttribute('points') ?? '');
    const heights = drawn.split(' ').map((point) => 200 - Number(point.split(',')[1]));
    const most = Math.max(...losses);
    expect(heights).toHaveLength(STEPS);
    for (const [step, loss] of losses.entries()) expect(Math.abs(heights[step]! - (200 * loss) / most)).toBeLessThan(1);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(380);

    await page.getByLabel('Steps').fill('100000');
    await page.getByLabel('Backend').selectOption('cpu');
    await page.getByRole('button', { name: 'Train' }).click();
    await expect.poll(() => status(page), { timeout: 60_000 }).toMatch(/^Step \d+ of 100000/);
    await page.getByRole('button', { name: 'Stop' }).click();
    expect(await status(page)).toBe('Stopped');
    expect(complaints).toEqual([]);
    await page.close();
  });
});
