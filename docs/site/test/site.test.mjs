// @ts-check
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeInChromium } from '../../../software-devices/chromium/describe-in-chromium.mjs';
import { complaintsOf, launchChromium } from '../../../software-devices/chromium/launch.mjs';
import { openSite } from './support/open-site.mjs';

/** @typedef {import('../../../software-devices/chromium/launch.mjs').Page} Page */

const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 380, height: 800 };

/** Pages with long tables, long lines of code, pictures, and links to files that are not pages. */
const PAGES = [
  ...['', 'concepts.html', 'what-it-is.html', 'start/node.html', 'start/react.html', 'recipes/softmax.html'],
  ...['from/cuda.html', 'contract.html', 'errors.html', 'numerics.html', 'writing-a-backend.html', 'benchmarks/'],
  ...[
    'benchmarks/notes.html',
    'decisions/',
    'packages/backend-webgpu.html',
    'examples/edges.html',
    'contributing.html',
    'functions.html',
    'api/ops.html',
    'api/backend-core/kernel.html',
    'guide/size.html',
  ],
];

/** @param {Page} page */
const headings = (page) => page.locator('h1:visible').count();

/** @param {Page} page */
const title = async (page) => (await page.locator('h1').innerText()).replace('\u200b', '').trim();

/** @param {Page} page @param {string} words */
async function search(page, words) {
  // Pressed again while the page does not listen to keys yet.
  const isOpen = async () => {
    await page.keyboard.press('Control+k');
    return page.locator('#localsearch-input:focus').count();
  };
  await expect.poll(isOpen, { timeout: 30_000, interval: 200 }).toBe(1);
  await page.keyboard.type(words);
  await page.locator('#localsearch-list [role=option]').first().waitFor();
}

/** The distance that the page can be scrolled sideways, in pixels. @param {Page} page */
const overhang = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

await describeInChromium('the site', () => {
  /** @type {Awaited<ReturnType<typeof openSite>>} */
  let site;
  /** @type {Awaited<ReturnType<typeof launchChromium>>} */
  let browser;
  /** @type {Page} */
  let page;
  /** @type {readonly string[]} */
  let complaints;

  beforeAll(async () => {
    site = await openSite();
    browser = await launchChromium({ webgpu: false });
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });
  beforeEach(async () => {
    page = await browser.newPage({ viewport: WIDE });
    complaints = complaintsOf(page);
    return () => page.close();
  });

  it('shows pages of each kind wide and narrow, light and dark, without scrolling sideways', async () => {
    const pages = [];
    for (const path of PAGES) {
      await page.emulateMedia({ colorScheme: pages.length % 2 === 0 ? 'light' : 'dark' });
      await page.setViewportSize(WIDE);
      await page.goto(site.url + path);
      const found = { path, headings: await headings(page), wide: await overhang(page), narrow: 0 };
      await page.setViewportSize(NARROW);
      pages.push({ ...found, narrow: await overhang(page) });
    }
    expect(pages.filter((found) => found.headings !== 1 || found.wide > 0 || found.narrow > 0)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('is dark where the system is, and light where the reader says so', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto(site.url);
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await background();
    await page.locator('.VPNavBarAppearance .VPSwitchAppearance').click();
    await expect.poll(background).not.toBe(dark);
    expect(await page.locator('html').getAttribute('class')).not.toContain('dark');
    await page.reload();
    expect(await background()).not.toBe(dark);
  });

  it('is used by keyboard: past the navigation, through the menu, and from the search to a section', async () => {
    await page.goto(`${site.url}concepts.html`);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).hash).toBe('#VPContent');
    await search(page, 'leading dimensions');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/some\/folder\/.+\.html#/);
    expect(await headings(page)).toBe(1);
    await page.setViewportSize(NARROW);
    await page.locator('.VPNavBarHamburger').focus();
    await page.keyboard.press('Enter');
    await page.locator('.VPNavScreen a', { hasText: 'Recipes' }).first().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${site.url}recipes/`);
    await expect.poll(() => title(page)).toBe('Recipes');
    expect(complaints).toEqual([]);
  });

  it.each([
    ['rope', /functions\.html#rope$/],
    ['layerNorm', /functions\.html#layernorm$/],
    ['install', /start\/node\.html#/],
    ['OUT_OF_MEMORY', /errors\.html#out_of_memory$/],
    ['writing a backend', /writing-a-backend\.html/],
    ['matrix multiplication', /functions\.html#matmul$/],
    ['pooling', /recipes\/pooling\.html/],
  ])('finds what is called %s first', async (words, address) => {
    await page.goto(`${site.url}concepts.html`);
    await search(page, words);
    await expect.poll(() => page.locator('#localsearch-list a').first().getAttribute('href')).toMatch(address);
  });

  it('runs ten lines on its home page', async () => {
    await page.goto(site.url);
    await page.getByRole('button', { name: 'Run it here' }).click();
    await page.getByText(/^Float32Array\(4\) \[0\.0474.* on CPU/).waitFor();
    // Chromium says so itself where a page asks for a GPU that is not there.
    expect(complaints.filter((text) => text !== 'No available adapters.')).toEqual([]);
  });

  it('goes on without a network after the first load, isolated from other origins', async () => {
    const away = await openSite();
    await page.goto(away.url);
    await page.evaluate(() => navigator.serviceWorker.ready);
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(false);
    await away.close();
    await page.goto(`${away.url}contract.html#gemm`);
    expect(await title(page)).toBe('The contract');
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    await page.goto(`${away.url}recipes/`);
    await page.getByRole('link', { name: 'Softmax' }).first().click();
    await page.waitForURL(`${away.url}recipes/softmax.html`);
    await search(page, 'epilogue');
    expect(complaints).toEqual([]);
  });
});
