import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CpuBackend } from '@concord/backend-cpu';
import { runCaptured, temporaryFolder } from '@concord/example-command/testing';
import { grad } from '@concord/grad';
import { randomNormal, tensor, type Tensor } from '@concord/ops';
import { fileSource, saveSafetensors } from '@concord/ops/node';
import { afterAll, expect, test } from 'vitest';
import { type Adapter, adapted, adapterLoss, adapterOf, newAdapter } from '../src/finetune.ts';
import { logitsOf } from '../src/logits.ts';
import { type ModelWeights, openWeights } from '../src/model.ts';
import { runProgram } from '../src/program.ts';
import { type NamedWeights, weightsOf } from '../src/weights.ts';

const KINDS = ['gemma2', 'gemma3', 'gpt2', 'llama', 'llama-yarn', 'mistral', 'qwen2', 'qwen3'];
const backend = await CpuBackend.create();
afterAll(() => backend.dispose());
const folder = temporaryFolder();

const open = (kind: string): Promise<ModelWeights> =>
  openWeights((file) => fileSource(join(import.meta.dirname, 'models', kind, file)));
const quiet = { signal: new AbortController().signal, onProgress: () => undefined };
const ids = [5, 17, 3, 80, 41, 2, 9, 33, 60, 11, 7, 25];

test.each(KINDS)('%s: the logits without a cache are the decoder’s', async (kind) => {
  const files = await open(kind);
  const weights = weightsOf(await files.read(backend, quiet), files.config);
  const texts = tensor(backend, Uint32Array.from(ids), [1, ids.length]);
  const all = await logitsOf(files.config, weights, texts).toArray();
  const decoder = await files.load(backend, { dtype: 'f32', ...quiet });
  const last = await decoder.forward(texts, decoder.cache()).toArray();
  const own = all.slice(-last.length);
  for (const [at, wanted] of [...last].entries()) expect(own[at]).toBeCloseTo(wanted, 4);
});

/** One that adds something: with B of zeros, A has no gradient. */
function randomAdapter(named: NamedWeights): Record<string, Tensor> {
  const shapes = Object.entries(newAdapter(backend, named, 2, 7)).map(([name, { shape }]) => [name, shape] as const);
  return Object.fromEntries(
    shapes.map(([name, shape], seed) => [name, randomNormal(backend, shape, { seed: seed + 1, std: 0.3 })]),
  );
}

test.each(['gpt2', 'qwen3'])('%s: a decoder with the adapter of a file is what was fitted', async (kind) => {
  const files = await open(kind);
  const named = await files.read(backend, quiet);
  const adapter = randomAdapter(named);
  const file = join(folder, `${kind}.safetensors`);
  await saveSafetensors(file, adapter);
  const decoder = await files.load(backend, { dtype: 'f32', ...quiet, adapt: await adapterOf(backend, file) });
  const texts = tensor(backend, Uint32Array.from(ids), [1, ids.length]);
  const last = await decoder.forward(texts, decoder.cache()).toArray();
  const all = await logitsOf(files.config, weightsOf(adapted(named, adapter), files.config), texts).toArray();
  for (const [at, wanted] of [...all.slice(-last.length)].entries()) expect(last[at]).toBeCloseTo(wanted, 4);
});

test.each(['gpt2', 'qwen3'])('%s: the gradient of an adapter agrees with differences', async (kind) => {
  const { config, read } = await open(kind);
  const named = await read(backend, quiet);
  const texts = tensor(backend, Uint32Array.from(ids), [2, ids.length / 2]);
  const adapter = randomAdapter(named);
  const gradient = grad((own: Adapter) => adapterLoss(own, named, config, texts))(adapter);
  for (const name of Object.keys(adapter).slice(0, 4)) {
    const values = (await (adapter[name] as Tensor).toArray()) as Float32Array;
    const slopes = [...(await (gradient[name] as Tensor).toArray())];
    const at = slopes.reduce(
      (most, each, index) => (Math.abs(each) > Math.abs(slopes[most] as number) ? index : most),
      0,
    );
    const lossAt = async (by: number): Promise<number> => {
      const moved = values.map((each, index) => (index === at ? each + by : each));
      const { shape } = adapter[name] as Tensor;
      return adapterLoss({ ...adapter, [name]: tensor(backend, moved, shape) }, named, config, texts).item();
    };
    const step = 0.01;
    const ratio = ((await lossAt(step)) - (await lossAt(-step))) / (2 * step) / (slopes[at] as number);
    expect(Math.abs(ratio - 1)).toBeLessThan(0.01);
  }
});

test('--finetune lessens the loss on a text, and --adapter writes another one', async () => {
  const [text, file] = [join(folder, 'text.txt'), join(folder, 'adapter.safetensors')];
  writeFileSync(text, 'A backend is a green teapot. '.repeat(30));
  const run = (...args: string[]): ReturnType<typeof runCaptured> =>
    runCaptured(runProgram, ['--backend', 'wasm', '--json', ...args]);
  const { code, stdout, stderr } = await run('--finetune', text, '--adapter', file, '--steps', '4');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { losses } = JSON.parse(stdout) as { losses: number[] };
  expect(losses).toHaveLength(4);
  expect(losses.at(-1)).toBeLessThan((losses[0] as number) - 1);
  const answer = ['--temperature', '0', '--tokens', '3', 'A backend is'];
  const [own, other] = [await run(...answer), await run('--adapter', file, ...answer)];
  expect(other.code).toBe(0);
  expect((JSON.parse(other.stdout) as { text: string }).text).not.toBe(
    (JSON.parse(own.stdout) as { text: string }).text,
  );
  expect(await run('--finetune', text)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('NO_ADAPTER') as string,
  });
});
