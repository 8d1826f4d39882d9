import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import sirv from 'sirv';
import { afterAll, describe, expect, it } from 'vitest';
import { MODELS, TOKENIZER, TOKENIZER_CONFIG, WIDTH } from '../../../packages/onnx/test/support/tiny-models.ts';
import { describeInChromium } from '../../../software-devices/chromium/describe-in-chromium.mjs';
import { launchChromium } from '../../../software-devices/chromium/launch.mjs';
import { DENO_ARGUMENTS, denoEnvironment } from '../../../software-devices/deno/launch.mjs';
import { setUpDeno } from '../../../software-devices/deno/setup.mjs';
import { unitsOf } from '../../../tools/lib/docs-code.mjs';

// Programs in this folder find the packages as programs of the site do. Deno runs none that are in node_modules.
const cache = join(import.meta.dirname, '../.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'recipes-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The file of that name in a recipe, with `change`, as JavaScript: its packages beside it, or bundled for a page. */
async function recipe(name: string, isPage: boolean, change = (code: string): string => code): Promise<string> {
  const { units } = unitsOf(readFileSync(join(import.meta.dirname, `../recipes/${name}.md`), 'utf8'));
  const [block] = units.find((unit) => unit.name === `${name}.ts`)?.blocks ?? [];
  const outfile = join(folder, isPage ? 'page.js' : `${name}.mjs`);
  await build({
    ...{ stdin: { contents: change(block?.code ?? ''), resolveDir: folder, loader: 'ts' }, outfile, format: 'esm' },
    ...{ target: 'es2022', logLevel: 'error', bundle: isPage, platform: isPage ? 'browser' : 'node' },
    // As the page says for Vite.
    absWorkingDir: folder,
    ...(isPage && { alias: { 'onnxruntime-web/webgpu': 'onnxruntime-common' } }),
  });
  return outfile;
}

const run = async (path: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> =>
  (await promisify(execFile)(path, [...args], { env, timeout: 120_000 })).stdout;

/** Vowels by formants, as a 16-bit WAV: two pieces, from 1 s to 2.5 s and from 3.5 s to 4.5 s. */
function writeSpeech(path: string): void {
  const [rate, vowels] = [
    16_000,
    [
      [730, 1090, 2440],
      [270, 2290, 3010],
      [300, 870, 2240],
      [530, 1840, 2480],
    ],
  ];
  const bytes = Buffer.alloc(44 + 2 * 5.5 * rate);
  bytes.write('RIFF', 0);
  bytes.write('data', 36);
  const memory = [0, 0, 0, 0, 0, 0];
  for (let i = 0, phase = 0, noise = 1; i < 5.5 * rate; i++) {
    const [t, syllable] = [i / rate, (4 * i) / rate];
    noise = (noise * 48271) % 2147483647;
    phase += (120 + 20 * Math.sin(5 * t)) / rate;
    const pulse = phase >= 1 ? 1 : 0;
    phase -= pulse;
    let sample = 0;
    for (const [j, formant] of (vowels[Math.floor(syllable) % 4] as number[]).entries()) {
      const radius = Math.exp((-Math.PI * (80 + 30 * j)) / rate);
      const last = memory[2 * j] as number;
      const next =
        (6 * pulse * (1 - radius)) / (1 + j) +
        2 * radius * Math.cos((2 * Math.PI * formant) / rate) * last -
        radius ** 2 * (memory[2 * j + 1] as number);
      [memory[2 * j], memory[2 * j + 1]] = [next, last];
      sample += next;
    }
    const isSpoken = (t >= 1 && t < 2.5) || (t >= 3.5 && t < 4.5);
    const loud = isSpoken ? Math.min(1, 8 * (syllable % 1), 5 * (1 - (syllable % 1))) / 2 : 0;
    bytes.writeInt16LE(Math.round(32767 * Math.max(-1, Math.min(1, sample * loud + noise / 1e12))), 44 + 2 * i);
  }
  writeFileSync(path, bytes);
}

it('speech: prints when somebody speaks', async () => {
  const sound = join(folder, 'sound.wav');
  writeSpeech(sound);
  const stdout = await run(process.execPath, [await recipe('speech', false), sound], process.env);
  const times = [...stdout.matchAll(/^([\d.]+) s to ([\d.]+) s$/gm)].map(([, from, to]) => [Number(from), Number(to)]);
  expect(times).toEqual([
    [expect.closeTo(1, 0), expect.closeTo(2.5, 0)],
    [expect.closeTo(3.5, 0), expect.closeTo(4.5, 0)],
  ]);
});

describe('Transformers.js', async () => {
  // A model of that name, small and with random weights: those of the hub need a network.
  const model = join(folder, 'models/Xenova/all-MiniLM-L6-v2');
  mkdirSync(join(model, 'onnx'), { recursive: true });
  const { files, config } = MODELS['encoder'] as (typeof MODELS)[string];
  for (const [file, bytes] of Object.entries(files)) writeFileSync(join(model, 'onnx', file), bytes);
  for (const [file, content] of Object.entries({ config, tokenizer: TOKENIZER, tokenizer_config: TOKENIZER_CONFIG }))
    writeFileSync(join(model, `${file}.json`), JSON.stringify(content));
  const local = (path: string) => (code: string) => {
    const changed = code.replace('{ pipeline } = await import', '{ env, pipeline } = await import');
    expect(changed).not.toBe(code);
    const settings = { localModelPath: path, allowLocalModels: true, allowRemoteModels: false };
    return changed.replace('\nconst extract', `\nObject.assign(env, ${JSON.stringify(settings)});\nconst extract`);
  };
  const printed = new RegExp(`^2 x ${WIDTH} on (webgpu|wasm|cpu)\\s*$`);

  it('runs in Node', async () => {
    const program = await recipe('transformers', false, local(join(folder, 'models/')));
    expect(await run(process.execPath, [program], process.env)).toMatch(printed);
  });

  it('runs in Deno', async (context) => {
    const deno = setUpDeno();
    if (deno.path === undefined) {
      if (process.env['CI'] !== undefined) expect.fail(deno.reason);
      return context.skip(deno.reason);
    }
    const program = await recipe('transformers', false, local(join(folder, 'models/')));
    const env = denoEnvironment('none') as NodeJS.ProcessEnv;
    expect(await run(deno.path, [...DENO_ARGUMENTS, program], env)).toMatch(printed);
  });

  await describeInChromium('in a page', () => {
    it('runs, bundled', { timeout: 120_000 }, async () => {
      await recipe('transformers', true, local('/models/'));
      writeFileSync(join(folder, 'index.html'), '<!doctype html><script type="module" src="page.js"></script>');
      const server = createServer(sirv(folder, { dev: true }));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const browser = await launchChromium();
      const page = await browser.newPage();
      const texts: string[] = [];
      page.on('console', (message) => message.type() === 'log' && texts.push(message.text()));
      page.on('pageerror', (error) => texts.push(error.message));
      await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
      await expect.poll(() => texts, { timeout: 90_000 }).not.toEqual([]);
      expect(texts).toEqual([expect.stringMatching(printed)]);
      await browser.close();
      server.close();
    });
  });
});
