import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { describeInChromium } from '../../../software-devices/chromium/describe-in-chromium.mjs';
import { type Browser, complaintsOf, launchChromium, type Page } from '../../../software-devices/chromium/launch.mjs';
import { openSite } from './support/open-site.mjs';

await describeInChromium('a page that reads pictures', () => {
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

  const open = async (of: Browser): Promise<Page> => {
    const page = await of.newPage({ viewport: { width: 380, height: 900 } });
    await page.goto(`${site.url}ocr.html`);
    return page;
  };
  /** The part of the example that says "Invoice 20417": WebGPU on a CPU takes long for more. */
  const partOfExample = async (type: 'image/png' | 'image/jpeg'): Promise<Buffer> => {
    const page = await browser.newPage();
    await page.goto(`${site.url}ocr-models/sample.png`);
    const url = await page.locator('img').evaluate((image: HTMLImageElement, format) => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 256, height: 64 });
      canvas.getContext('2d')!.drawImage(image, -20, -110);
      return canvas.toDataURL(format, 0.95);
    }, type);
    await page.close();
    return Buffer.from(url.replace(/^.*,/, ''), 'base64');
  };
  /** True if a line of the boxes' colour is met from the middle of the text to each side. */
  const isBoxed = (page: Page): Promise<boolean> =>
    page.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
      const { data, width } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      const isPink = (x: number, y: number): boolean => {
        const [red = 0, green = 0, blue = 0] = data.subarray(4 * (y * width + x));
        return red > 170 && green < 90 && blue > 80;
      };
      const sides = [
        [1, 0],
        [-1, 0],
        [0, 1],
        [0, -1],
      ] as const;
      return sides.every(([dx, dy]) => Array.from({ length: 150 }).some((_, i) => isPink(115 + i * dx, 31 + i * dy)));
    });
  const status = (page: Page): Promise<string> => page.locator('.pg-status').innerText();
  const read = (page: Page): Promise<string> =>
    page.locator('.ocr-lines, .pg-fault').first().innerText({ timeout: 280_000 });

  it('reads a dropped picture on WebGPU, and draws boxes over it', { timeout: 300_000 }, async () => {
    const page = await open(browser);
    const complaints = complaintsOf(page);
    await page.getByLabel('Backend').selectOption('webgpu');
    const buffer = await partOfExample('image/png');
    await page.locator('input[type=file]').setInputFiles({ name: 'invoice.png', mimeType: 'image/png', buffer });
    await page.getByRole('progressbar').waitFor();
    expect(await read(page)).toMatch(/^Invoice 20417 9\d %$/);
    expect(await status(page)).toMatch(/^1 lines? in [\d.]+ s$/);
    expect(await page.locator('.pg-ran').innerText()).toMatch(/^Runs on webgpu: \S/);
    expect(await isBoxed(page)).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(380);
    const broken = { name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('no') };
    await page.locator('input[type=file]').setInputFiles(broken);
    await page.getByText('This file is no picture that the browser can read.').waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('reads its example, and what the camera sees until it is stopped', { timeout: 300_000 }, async () => {
    const camera = join(inject('servedFolder'), 'camera.mjpeg');
    writeFileSync(camera, await partOfExample('image/jpeg'));
    const other = await launchChromium({ webgpu: false, camera });
    const page = await open(other);
    const complaints = complaintsOf(page);
    await page.getByRole('button', { name: 'Read an example' }).click();
    expect(await read(page)).toContain('Invoice 20417');
    expect(await page.locator('.pg-ran').innerText()).toMatch(/^Runs on wasm: .* Not on webgpu: .*offered no adapter/);
    await page.reload();
    await page.getByRole('button', { name: 'Use the camera' }).click();
    expect(await read(page)).toMatch(/Invoice ?20417/);
    expect(await isBoxed(page)).toBe(true);
    const stop = page.getByRole('button', { name: 'Stop' });
    await stop.click();
    await expect.poll(() => stop.isDisabled(), { timeout: 60_000 }).toBe(true);
    expect(complaints).toEqual([]);
    await other.close();
  });
});
