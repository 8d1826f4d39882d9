import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CpuBackend } from '@concord/backend-cpu';
import { Batch, openFolder, textOf, tokensOf } from '@concord/example-lm';
import { randomNormal, type Tensor } from '@concord/ops';
import { fileSource, saveSafetensors } from '@concord/ops/node';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { describeInChromium } from '../../../software-devices/chromium/describe-in-chromium.mjs';
import { type Browser, complaintsOf, launchChromium, type Page } from '../../../software-devices/chromium/launch.mjs';
import { openSite } from './support/open-site.mjs';

const FILES = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'];
const TOKENIZER = join(import.meta.dirname, '../../../examples/lm/model/tokenizer.json');
const PROMPT = 'A backend is';
const TOKENS = 12;

/** Writes a Llama of random weights, and gives the most likely text of it by the CPU backend. */
async function writeModel(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const [width, vocabulary, hidden] = [32, 1024, 64];
  const config = {
    ...{ model_type: 'llama', hidden_size: width, num_hidden_layers: 2, num_attention_heads: 4 },
    ...{ num_key_value_heads: 2, intermediate_size: hidden, max_position_embeddings: 4096, vocab_size: vocabulary },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'tokenizer.json'), readFileSync(TOKENIZER));
  writeFileSync(join(folder, 'tokenizer_config.json'), '{"chat_template": "{{ messages[0].content }}"}');
  await using backend = new CpuBackend();
  await backend.init();
  const tensors: Record<string, Tensor> = {};
  const add = (name: string, ...shape: number[]): void => {
    const seed = Object.keys(tensors).length;
    tensors[`model.${name}.weight`] = randomNormal(backend, shape, {
      seed,
      std: 0.3,
      mean: shape.length === 1 ? 1 : 0,
    });
  };
  add('embed_tokens', vocabulary, width);
  for (const layer of ['layers.0', 'layers.1']) {
    for (const name of ['input_layernorm', 'post_attention_layernorm']) add(`${layer}.${name}`, width);
    for (const [name, rows] of Object.entries({ q: width, k: 16, v: 16, o: width })) {
      add(`${layer}.self_attn.${name}_proj`, rows, width);
    }
    for (const name of ['gate', 'up']) add(`${layer}.mlp.${name}_proj`, hidden, width);
    add(`${layer}.mlp.down_proj`, width, hidden);
  }
  add('norm', width);
  await saveSafetensors(join(folder, 'model.safetensors'), tensors);
  for (const each of Object.values(tensors)) each.dispose();

  const files = await openFolder((file) => fileSource(join(folder, file)));
  const { signal } = new AbortController();
  using model = await files.load(backend, { dtype: 'f32', signal, onProgress: () => undefined });
  await using batch = new Batch(model, { context: 64 });
  const request = { prompt: tokensOf(files, PROMPT), tokens: TOKENS, temperature: 0, seed: 1, signal };
  let text = PROMPT;
  for await (const piece of textOf(batch, files.tokenizer, request, { tokens: 0, isStopped: false, first: 0 })) {
    text += piece;
  }
  return text;
}

await describeInChromium('a language model in a page', () => {
  const folder = join(inject('servedFolder'), 'some/folder/tiny');
  let site: Awaited<ReturnType<typeof openSite>>;
  let browser: Browser;
  let wanted: string;

  beforeAll(async () => {
    wanted = await writeModel(folder);
    site = await openSite();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  async function openPage(of: Browser, url = site.url): Promise<Page> {
    const page = await of.newPage({ viewport: { width: 380, height: 800 } });
    await page.goto(`${url}lm.html`);
    await page.getByLabel('Prompt').fill(PROMPT);
    await page.getByLabel('Temperature').fill('0');
    await page.getByLabel('Tokens').fill(String(TOKENS));
    return page;
  }

  const status = (page: Page): Promise<string> => page.locator('.pg-status').innerText();
  const written = (page: Page): Promise<string> => page.locator('.lm-text').evaluate((each) => each.textContent ?? '');
  const write = async (page: Page): Promise<string> => {
    await page.getByRole('button', { name: 'Write' }).click();
    await expect.poll(() => status(page), { timeout: 120_000 }).toMatch(/Done|That did not work/);
    expect(await page.locator('.pg-fault').allInnerTexts()).toEqual([]);
    return written(page);
  };

  it('writes on WebGPU what the CPU backend does, and loads that backend alone', { timeout: 180_000 }, async () => {
    const own = await openSite();
    const page = await openPage(browser, own.url);
    const complaints = complaintsOf(page);
    const scripts: Promise<string>[] = [];
    // Neither other pages, which are fetched before somebody goes there, nor what the service worker keeps.
    page.context().on('response', (response) => {
      const isOwn = response.request().serviceWorker() === null && /\/[^/]+(?<!\.md\..*)\.js$/.test(response.url());
      if (isOwn) scripts.push(response.text().catch(() => ''));
    });
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.getByLabel('URL of a folder').fill(`${own.url}tiny`);
    await page.getByLabel('Backend').selectOption('webgpu');
    expect(await write(page)).toBe(wanted);
    expect(await page.locator('progress').evaluate((bar) => (bar as HTMLProgressElement).position)).toBe(1);
    expect(await page.locator('.lm-rate').innerText()).toMatch(/^12 tokens, [\d.]+ a second$/);
    expect(await page.locator('.pg-ran').innerText()).toMatch(/^Runs on webgpu: \S/);
    const loaded = (await Promise.all(scripts)).join('\n');
    expect([loaded.includes('requestAdapter'), loaded.includes('WebAssembly.')]).toEqual([true, false]);
    expect(complaints).toEqual([]);
    await own.close();
    await page.close();
  });

  it('repeats a text by its seed, goes on without a network, and forgets', { timeout: 180_000 }, async () => {
    const own = await openSite();
    const page = await openPage(browser, own.url);
    const complaints = complaintsOf(page);
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.getByLabel('URL of a folder').fill(`${own.url}tiny`);
    await page.getByLabel('Backend').selectOption('the first that works');
    expect(await write(page)).toBe(wanted);
    // Chromium may have the machine's GPU.
    expect(await page.locator('.pg-ran').innerText()).toMatch(/on wasm: .*only software devices are here|on webgpu/);
    // The same text again, and another one by its seed.
    expect(await write(page)).toBe(wanted);
    await page.getByLabel('Temperature').fill('1.5');
    const first = await write(page);
    expect(await write(page)).toBe(first);
    await page.getByLabel('Seed').fill('2');
    expect(await write(page)).not.toBe(first);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(380);

    await own.close();
    await page.reload();
    await page.getByLabel('Prompt').fill(PROMPT);
    await page.getByLabel('Temperature').fill('0');
    await page.getByLabel('Tokens').fill(String(TOKENS));
    await page.getByLabel('URL of a folder').fill(`${own.url}tiny`);
    expect(await write(page)).toBe(wanted);
    await page.getByRole('button', { name: 'Forget kept models' }).click();
    await page.getByText('No model is kept in this browser.').waitFor();
    await page.getByLabel('Backend').selectOption('cpu');
    await page.getByRole('button', { name: 'Write' }).click();
    await expect.poll(() => page.locator('.pg-fault').innerText()).toMatch(/there is no http.*tokenizer.json/);
    expect(complaints.filter((each) => !each.includes('ERR_CONNECTION_REFUSED'))).toEqual([]);
    await page.close();
  });

  it('says why it does not run on a GPU, takes files that are dropped, and stops', { timeout: 180_000 }, async () => {
    const other = await launchChromium({ webgpu: false });
    const page = await openPage(other);
    const complaints = complaintsOf(page);
    await page.locator('input[type=file]').setInputFiles(FILES.map((file) => join(folder, file)));
    expect(await write(page)).toBe(wanted);
    expect(await page.locator('.pg-ran').innerText()).toMatch(/^Runs on wasm: .* Not on webgpu: .*offered no adapter/);
    await page.getByRole('combobox', { name: /^Weights/ }).selectOption('i8');
    await page.getByLabel('as a chat').check();
    await page.getByLabel('Tokens').fill('4000');
    await page.getByRole('button', { name: 'Write' }).click();
    await expect.poll(() => page.locator('.lm-rate').innerText(), { timeout: 60_000 }).toMatch(/^\d\d+ tokens/);
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => status(page)).toBe('Stopped');
    await page.locator('input[type=file]').setInputFiles([join(folder, 'config.json')]);
    await page.getByRole('button', { name: 'Write' }).click();
    await expect.poll(() => page.locator('.pg-fault').innerText()).toMatch(/there is no tokenizer.json/);
    expect(complaints).toEqual([]);
    await other.close();
  });
});
