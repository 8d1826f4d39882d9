import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { describeInChromium } from '../../../software-devices/chromium/describe-in-chromium.mjs';
import { type Browser, complaintsOf, launchChromium, type Page } from '../../../software-devices/chromium/launch.mjs';
import { openSite } from './support/open-site.mjs';

const SAMPLE = join(import.meta.dirname, '../../../examples/ocr/pictures/sample.png');
/** The words of that picture, and a place within the box of each line. */
const LINES = [
  ['The quick brown fox', 200, 60],
  ['Invoice 20417', 130, 141],
  ['Total 93.50', 470, 141],
  ['slanted words', 455, 300],
  ['upside down', 210, 378],
  ['from above', 609, 275],
] as const;

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
  const finished = async (page: Page): Promise<string[]> => {
    const status = (): Promise<string> => page.locator('.pg-status').innerText();
    await expect.poll(status, { timeout: 150_000 }).toMatch(/ lines in [\d.]+ s|That did not work/);
    expect(await page.locator('.pg-fault').allInnerTexts()).toEqual([]);
    return (await page.locator('.ocr-lines li').allInnerTexts()).map((text) => text.replace(/\s+\d+ %$/, ''));
  };

  it('reads a dropped picture on WebGPU, and draws boxes over it', { timeout: 200_000 }, async () => {
    const page = await open(browser);
    const complaints = complaintsOf(page);
    await page.getByLabel('Backend').selectOption('webgpu');
    await page.locator('input[type=file]').setInputFiles(SAMPLE);
    await page.getByRole('progressbar').waitFor();
    const lines = await finished(page);
    for (const [text] of LINES) expect(lines).toContain(text);
    expect(await page.locator('.pg-ran').innerText()).toMatch(/^Runs on webgpu: \S/);
    // Boxes are of one colour; from the middle of a line it is met to the left and to the right, above and below.
    const isBoxed = await page.locator('canvas').evaluate(
      (canvas: HTMLCanvasElement, places: number[][]) => {
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        const isPink = (x: number, y: number): boolean => {
          const at = 4 * (y * canvas.width + x);
          return data[at]! > 180 && data[at + 1]! < 60 && data[at + 2]! > 80;
        };
        return places.map(([x, y]) =>
          [
            [1, 0],
            [-1, 0],
            [0, 1],
            [0, -1],
          ].every(([dx, dy]) => {
            for (let i = 0; i < 200; i++) if (isPink(x! + i * dx!, y! + i * dy!)) return true;
            return false;
          }),
        );
      },
      LINES.map(([, x, y]) => [x, y]),
    );
    expect(isBoxed).toEqual(LINES.map(() => true));
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(380);
    if (process.env['CONCORD_PICTURES'])
      await page.screenshot({ path: `${process.env['CONCORD_PICTURES']}/ocr.png`, fullPage: true });
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('no') });
    await page.getByText('This file is no picture that the browser can read.').waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('reads its example and what the camera sees, and keeps the models', { timeout: 250_000 }, async () => {
    const camera = join(inject('servedFolder'), 'camera.mjpeg');
    const drawing = await browser.newPage();
    await drawing.goto(`${site.url}ocr-models/sample.png`);
    const jpeg = await drawing.locator('img').evaluate((image: HTMLImageElement) => {
      const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
      canvas.getContext('2d')!.drawImage(image, 0, 0);
      return canvas.toDataURL('image/jpeg', 0.95);
    });
    writeFileSync(camera, Buffer.from(jpeg.replace(/^.*,/, ''), 'base64'));
    const other = await launchChromium({ webgpu: false, camera });
    const page = await open(other);
    const complaints = complaintsOf(page);
    await page.getByRole('button', { name: 'Read an example' }).click();
    expect(await finished(page)).toContain('Invoice 20417');
    expect(await page.locator('.pg-ran').innerText()).toMatch(/^Runs on wasm: .* Not on webgpu: .*offered no adapter/);
    await page.reload();
    await page.getByRole('button', { name: 'Use the camera' }).click();
    await expect.poll(() => page.locator('.ocr-lines').innerText(), { timeout: 150_000 }).toMatch(/Invoice ?20417/);
    expect(await page.locator('canvas').getAttribute('width')).not.toBe('0');
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => page.locator('.pg-status').innerText(), { timeout: 60_000 }).toBe('Stopped');
    expect(complaints).toEqual([]);
    await other.close();
  });
});
