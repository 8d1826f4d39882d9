import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInChromium } from '../../../software-devices/chromium/describe-in-chromium.mjs';
import { type Browser, complaintsOf, launchChromium, type Page } from '../../../software-devices/chromium/launch.mjs';
import { SANDBOX } from '../playground/sandbox-page.ts';
import { openSite } from './support/open-site.mjs';

const SCENE = fileURLToPath(new URL('../../../examples/edges/pictures/scene.png', import.meta.url));
const RIGHT = /^All [\d,]+ values are in the oracle's intervals$/;

/** The browser's message in tests without a service worker. */
const BLOCKED = /^Service Worker registration blocked/;

const DOUBLE = `import { defineKernel } from '@concord/backend-core/kernel';
import { run } from 'playground';
const double = defineKernel('double', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.mul(x, 2) }));
run(double, { shape: [2, 2], inputs: { x: [1.5, 2, -3, 4] } });
`;

const status = (page: Page) => page.locator('.pg-status');
const overhang = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Width and height of the picture that programs get. */
const pictureSize = (page: Page): Promise<number[]> =>
  page
    .locator('.pg-columns > section:first-child canvas')
    .evaluate(({ width, height }: HTMLCanvasElement) => [width, height]);

/** Opens the playground and waits until every backend was tried. */
async function openPlayground(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
  await expect.poll(() => page.locator('.pg-backends').innerText(), { timeout: 60_000 }).not.toContain('being tried');
}

/** Replaces the program as one who types does. */
async function type(page: Page, program: string): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(program);
}

async function runOn(page: Page, backend: string): Promise<void> {
  await page.locator(`input[name=backend][value=${backend}]`).check();
  await page.locator('.cm-content').click();
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect.poll(() => status(page).innerText(), { timeout: 60_000 }).not.toMatch(/^(Running|Computed)/);
}

await describeInChromium('the playground', () => {
  let site: Awaited<ReturnType<typeof openSite>>;
  let browser: Browser;
  let page: Page;
  let complaints: readonly string[];

  beforeAll(async () => {
    site = await openSite();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });
  const open = async (from: Browser, serviceWorkers: 'allow' | 'block' = 'block'): Promise<void> => {
    page = await from.newPage({ viewport: { width: 1280, height: 800 }, serviceWorkers });
    complaints = complaintsOf(page);
  };
  afterEach(() => page?.close());

  it('runs what was typed on each backend, and again where the address was passed on', async () => {
    await open(browser);
    await openPlayground(page, `${site.url}playground.html`);
    await type(page, DOUBLE);
    for (const backend of ['webgpu', 'wasm', 'cpu']) {
      await runOn(page, backend);
      expect(await status(page).innerText()).toMatch(RIGHT);
      const rows = await page.locator('.pg-output tbody tr').allInnerTexts();
      expect(rows.map((row) => row.split('\t').slice(0, 3))).toEqual([
        ['[0, 0]', '3', 'exactly 3'],
        ['[0, 1]', '4', 'exactly 4'],
        ['[1, 0]', '-6', 'exactly -6'],
        ['[1, 1]', '8', 'exactly 8'],
      ]);
      expect(await page.locator('.pg').innerText()).toContain(`${backend} on `);
    }
    expect(await page.locator('.pg-node').allTextContents()).toEqual([
      expect.stringContaining('input x'),
      expect.stringContaining('constant 2'),
      expect.stringMatching(/mul.*0 1.*y/s),
    ]);
    expect(await page.locator('.pg-code').first().innerText()).toContain('@compute');
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByText(/^The address now holds the program/).waitFor();
    const address = page.url();
    await page.close();

    await open(browser);
    await openPlayground(page, address);
    expect(await page.locator('.cm-content').innerText()).toContain('const double = defineKernel');
    expect(await status(page).innerText()).toBe('Nothing has run yet.');
    await page.getByText('This program came with the address. Read it first').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText(RIGHT).waitFor();
    expect(await page.locator('input[name=backend]:checked').inputValue()).toBe('cpu');
    expect(complaints.filter((text) => !BLOCKED.test(text))).toEqual([]);
  });

  it('shows a mistake at its line, and stops what never ends', async () => {
    await open(browser);
    await openPlayground(page, `${site.url}playground.html`);
    await type(page, `${DOUBLE}\nconst oops: number = nothing.here;`);
    await runOn(page, 'cpu');
    expect(await page.locator('.pg-fault').innerText()).toBe('Line 6: ReferenceError: nothing is not defined');
    // TypeScript marks the name, the run its line.
    expect((await page.locator('.cm-lintRange-error').allInnerTexts()).join('')).toContain('nothing.here;');
    await type(page, 'for (;;) {}');
    await page.keyboard.press('ControlOrMeta+Enter');
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('Stopped', { exact: true }).waitFor();
    await type(page, DOUBLE);
    await runOn(page, 'cpu');
    expect(await status(page).innerText()).toMatch(RIGHT);
    expect(complaints.filter((text) => !BLOCKED.test(text))).toEqual([]);
  });

  it('gives a program neither the site nor the network, nor the verdict', async () => {
    await open(browser);
    await openPlayground(page, `${site.url}playground.html`);
    const uses = {
      caches: "caches.open('site');",
      fetch: "fetch('index.html');",
      indexedDB: "indexedDB.open('site');",
      BroadcastChannel: "new BroadcastChannel('site');",
      importScripts: "importScripts('https://example.org/a.js');",
      postMessage: "postMessage({ kind: 'result', result: { outputs: [] } });",
    };
    for (const [name, use] of Object.entries(uses)) {
      await type(page, `${DOUBLE}${use}`);
      await runOn(page, 'cpu');
      expect(await page.locator('.pg-fault').innerText()).toBe(`Line 5: ReferenceError: ${name} is not defined`);
      expect(await status(page).innerText()).toBe('The program has a mistake');
    }
    await type(page, 'throw new Error(`${origin}, ${typeof globalThis.fetch}, ${typeof document}`);');
    await runOn(page, 'cpu');
    expect(await page.locator('.pg-fault').innerText()).toBe('Line 1: Error: null, undefined, undefined');
    // What it changes stays in the sandbox: the values are computed and judged elsewhere.
    await type(page, `${DOUBLE}Float32Array.from = Math.abs = Math.min = () => 7; self.onmessage = null;`);
    await runOn(page, 'cpu');
    expect(await status(page).innerText()).toBe("All 4 values are in the oracle's intervals");
    expect(await page.locator('iframe[sandbox]').count()).toBe(0);
    expect(complaints.filter((text) => !BLOCKED.test(text))).toEqual([]);
  });

  const TENSORS = `import { selectBackend } from '@concord/backend-core';
import { webgpu } from '@concord/backend-webgpu';
import { add, tensor } from '@concord/ops';
import { show, slider } from 'playground';
const { backend } = await selectBackend([webgpu()]);
const a = tensor(backend, [[slider('value', { min: 0, max: 1, value: 0.25 }), 1]]);
`;

  it('computes with tensors on WebGPU, shows them, and runs again where a slider is moved', async () => {
    await open(browser);
    await openPlayground(page, `${site.url}playground.html`);
    await type(page, `${TENSORS}await show(a, 'two pixels');\nconsole.log(await add(a, a).toArray(), backend.name);`);
    await runOn(page, 'webgpu');
    const written = () => page.locator('.pg-lines').innerText();
    expect(await written()).toBe('Float32Array(2) [0.5, 2] webgpu');
    expect(await page.locator('.pg-picture', { hasText: 'two pixels' }).count()).toBe(1);
    await page.getByRole('slider').fill('0.75');
    await expect.poll(written).toBe('Float32Array(2) [1.5, 2] webgpu');
    // The frame that has WebGPU goes nowhere.
    let requests = 0;
    page.on('request', (request) => void (request.url().includes('/elsewhere') && requests++));
    await type(page, `${TENSORS}location.href = '${site.url}elsewhere';\nawait new Promise(() => undefined);`);
    await page.keyboard.press('ControlOrMeta+Enter');
    await page.waitForTimeout(1000);
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('Stopped', { exact: true }).waitFor();
    expect(requests).toBe(0);
  });

  it('completes names with their types, and says what to write for an operator between tensors', async () => {
    await open(browser);
    await openPlayground(page, `${site.url}playground.html`);
    await type(page, `${TENSORS}const b = a * a;`);
    const mark = page.locator('.cm-lintRange-error');
    await expect.poll(() => mark.allInnerTexts(), { timeout: 60_000 }).toEqual(['a * a']);
    await mark.hover();
    await page.getByText("JavaScript's * does not compute on tensors: write mul(a, a)").waitFor();
    await type(page, `${TENSORS}a.toArr`);
    await page.keyboard.press('Control+Space');
    await page.locator('.cm-completionInfo', { hasText: 'Tensor.toArray(' }).waitFor();
    expect(complaints.filter((text) => !BLOCKED.test(text))).toEqual([]);
  });

  it('has a sandbox without storage and requests, also for code that has all globals', async () => {
    let requests = 0;
    const elsewhere = createServer((_, response) => {
      requests++;
      response.setHeader('Access-Control-Allow-Origin', '*').end('');
    });
    await new Promise<void>((resolve) => void elsewhere.listen(0, '127.0.0.1', resolve));
    try {
      await open(browser);
      await page.goto(`${site.url}playground.html`);
      const url = `http://localhost:${(elsewhere.address() as AddressInfo).port}/`;
      expect(await page.evaluate((address) => fetch(address).then(({ ok }) => ok), url)).toBe(true);
      const code = `
        const tried = [
          () => caches.open('a'),
          () => new Promise((done, fail) => {
            const asked = indexedDB.open('a');
            [asked.onsuccess, asked.onerror] = [done, () => fail(asked.error)];
          }),
          () => navigator.storage.getDirectory(),
          () => fetch('${url}'),
          () => import('${url}'),
          () => importScripts('${url}'),
          () => new Promise((done, fail) => {
            const socket = new WebSocket('${url.replace('http', 'ws')}');
            [socket.onopen, socket.onerror] = [done, () => fail(new Error('no socket'))];
          }),
        ].map(async (use) => { try { await use(); return 'done'; } catch (error) { return error.name; } });
        Promise.all(tried).then(postMessage);`;
      const results = await page.evaluate(
        ([html, script]) =>
          new Promise((resolve) => {
            const frame = document.createElement('iframe');
            frame.setAttribute('sandbox', 'allow-scripts');
            frame.srcdoc = html!;
            addEventListener('message', ({ data }) => resolve(data));
            frame.addEventListener('load', () =>
              frame.contentWindow!.postMessage({ code: script, request: null }, '*'),
            );
            document.body.append(frame);
          }),
        [SANDBOX, code],
      );
      // Globals of secure contexts alone are absent or refuse, which is the browser's choice.
      expect(results).toHaveLength(7);
      expect(results).not.toContain('done');
      expect(requests).toBe(1);
    } finally {
      elsewhere.close();
    }
  });

  it('computes on a picture, without WebGPU and without a network, wide and narrow', async () => {
    const plain = await launchChromium({ webgpu: false });
    const away = await openSite();
    try {
      await open(plain, 'allow');
      await page.goto(away.url);
      await page.evaluate(() => navigator.serviceWorker.ready);
      await away.close();
      await page.emulateMedia({ colorScheme: 'dark' });
      await openPlayground(page, `${away.url}playground.html`);
      const backends = await page.locator('.pg-backends').innerText();
      expect(backends).toMatch(/webgpu not usable: the browser has WebGPU but offered no adapter/);
      expect(await page.locator('input[name=backend][value=webgpu]').isDisabled()).toBe(true);
      expect(await page.locator('input[name=backend]:checked').inputValue()).toBe('wasm');
      // The service worker isolated the page, so there are threads.
      expect(backends).toMatch(/wasm CPU, \d+ threads?,/);
      await page.getByLabel('Starter').selectOption('Edges of a picture');
      await runOn(page, 'wasm');
      expect(await status(page).innerText()).toBe("All 13,824 values are in the oracle's intervals");
      expect(await page.locator('.pg-code').first().innerText()).toContain('@compute');
      const shades = await page.locator('.pg-output canvas').evaluate((canvas: HTMLCanvasElement) => {
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        return new Set(data.filter((_, i) => i % 4 === 0)).size;
      });
      expect(shades).toBeGreaterThan(10);
      await page.locator('input[type=file]').setInputFiles(SCENE);
      await expect.poll(() => pictureSize(page)).not.toEqual([144, 96]);
      const [width = 0, height = 0] = await pictureSize(page);
      expect(Math.max(width, height)).toBe(160);
      await runOn(page, 'wasm');
      const count = (width * height).toLocaleString('en');
      expect(await status(page).innerText()).toBe(`All ${count} values are in the oracle's intervals`);
      expect(await overhang(page)).toBe(0);
      await page.setViewportSize({ width: 380, height: 800 });
      expect(await overhang(page)).toBe(0);
      expect(complaints.filter((text) => !BLOCKED.test(text))).toEqual([]);
    } finally {
      await plain.close();
    }
  });
});
