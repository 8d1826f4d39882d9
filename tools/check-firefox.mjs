// @ts-check
// `npm run check:firefox`: the whole conformance suite in a page of Firefox, whose WebGPU is wgpu, with the adapter's own limits
// and features and with WebGPU's defaults. On lavapipe, or with CONCORD_SOFTWARE_VULKAN=none on the machine's device. Not in CI:
// it takes minutes.
import { servePage } from '../packages/backend-webgpu/test/browser/serve-page.mjs';
import { launchFirefox } from '../software-devices/firefox/launch.mjs';
import { setUpFirefox } from '../software-devices/firefox/setup.mjs';
import { folderOf } from '../software-devices/vulkan/lib/cache.mjs';
import { setUp as setUpVulkan } from '../software-devices/vulkan/setup.mjs';
import { runMain } from './lib/run.mjs';

const PROGRESS_MS = 30_000;
const RUNS = /** @type {const} */ (['own', 'default']);

/** @typedef {import('../packages/conformance/dist/index.js').ConformanceReport} ConformanceReport */

/** @returns {Record<string, string | undefined>} */
function environment() {
  const wanted = process.env['CONCORD_SOFTWARE_VULKAN'] ?? 'lavapipe';
  if (wanted !== 'lavapipe' && wanted !== 'swiftshader') return process.env;
  if (setUpVulkan([wanted]).length > 0) throw new Error(`${wanted} is not available; the lines above say why`);
  return { ...process.env, LD_LIBRARY_PATH: folderOf(wanted) };
}

/** @param {import('../software-devices/firefox/launch.mjs').Browser} browser @param {string} url @param {'own' | 'default'} limits */
async function run(browser, url, limits) {
  const page = await browser.newPage();
  await page.goto(url);
  const tell = async () => {
    const { done, total } = /** @type {{ done: number, total: number }} */ (await page.evaluate('concord.progress'));
    if (total > 0) console.log(`${limits} limits: ${done} of ${total} cases`);
  };
  // One that comes when the page has gone has nothing to tell.
  const timer = setInterval(() => void tell().catch(() => undefined), PROGRESS_MS);
  try {
    return /** @type {ConformanceReport} */ (await page.evaluate(`concord.runAll('${limits}')`));
  } finally {
    clearInterval(timer);
    await page.close();
  }
}

await runMain(async () => {
  const firefox = await setUpFirefox();
  if (firefox.path === undefined) throw new Error(firefox.reason);
  const browser = await launchFirefox(firefox.path, environment());
  const served = await servePage();
  let isRight = true;
  try {
    console.log(await browser.version());
    for (const limits of RUNS) {
      const { ok, passed, failed, unsupported, device, notRun, cases } = await run(browser, served.url, limits);
      for (const { id, status, detail } of cases) if (status === 'failed') console.log(`${id}: ${detail}`);
      const counts = `${passed} passed, ${failed} failed, ${unsupported} unsupported`;
      console.log(`${limits} limits: ${notRun ?? counts} on ${device?.name} [${device?.type}], ${device?.driver}`);
      isRight &&= ok && unsupported === 0;
    }
  } finally {
    await browser.close();
    await served.close();
  }
  return isRight ? 0 : 1;
});
