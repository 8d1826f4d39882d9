import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInChromium } from '../../../software-devices/chromium/describe-in-chromium.mjs';
import { type Browser, complaintsOf, launchChromium, type Page } from '../../../software-devices/chromium/launch.mjs';
import { startServer } from '../start.mjs';

await describeInChromium('the page', () => {
  let server: Awaited<ReturnType<typeof startServer>>;

  beforeAll(async () => {
    server = await startServer(0);
  });
  afterAll(() => server?.close());

  /** The text of the page when it has finished, after `act` has used it. */
  async function visit(browser: Browser, act?: (page: Page) => Promise<void>): Promise<Visited> {
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    const complaints = complaintsOf(page);
    await page.goto(server.url);
    const ready = page.getByText('Ready', { exact: true });
    await ready.waitFor();
    await act?.(page);
    await ready.waitFor();
    return { text: await page.innerText('main'), complaints };
  }

  it('multiplies on WebGPU and passes its check, then without', async () => {
    const browser = await launchChromium();
    try {
      const first = await visit(browser);
      expect(first.text).toMatch(/512 x 512, \d runs: .* ms/);
      expect(first.text).toContain('Check passed: 256 entries against the float64 oracle');
      expect(first.text).toContain('webgpu used: works');
      expect(first.text).toMatch(/wasm not needed: available/);
      const second = await visit(browser, async (page) => {
        await page.getByText('256', { exact: true }).click();
        await page.getByText('Plain JavaScript', { exact: true }).click();
        await page.getByText('Multiply', { exact: true }).click();
      });
      expect(second.text).toMatch(/256 x 256, \d runs/);
      expect(second.text).toContain('Check passed');
      expect(second.text).toContain('webgpu not usable: not among the backends asked for (cpu)');
      expect([...first.complaints, ...second.complaints]).toEqual([]);
    } finally {
      await browser.close();
    }
  });

  it('falls back to WebAssembly and says why', async () => {
    const browser = await launchChromium({ webgpu: false });
    try {
      const { text } = await visit(browser);
      expect(text).toContain('Check passed');
      expect(text).toContain('webgpu not usable: the browser has WebGPU but offered no adapter');
      expect(text).toContain('chrome://gpu');
      expect(text).toContain('wasm used: works');
    } finally {
      await browser.close();
    }
  });
});

interface Visited {
  readonly text: string;
  readonly complaints: readonly string[];
}
