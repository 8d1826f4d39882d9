import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ComputeBackend } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { WasmBackend } from '@concord/backend-wasm';
import { LevelZeroBackend } from '@concord/backend-levelzero';
import { WebGpuBackend } from '@concord/backend-webgpu';
import {
  argmax,
  loadSafetensors,
  type QuantizedTensor,
  quantizeWeight,
  record,
  reshape,
  slice,
  tensor,
  type Tensor,
} from '@concord/ops';
import { fileSource } from '@concord/ops/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Batch, type TextRequest } from '../src/batch.ts';
import { type Cache, Decoder } from '../src/decoder.ts';
import { openWeights } from '../src/model.ts';
import { weightsOf } from '../src/weights.ts';

// Tiny models of random weights, and what PyTorch says of them: written by reference/reference.py and reference/architectures.py.
const MODELS = join(import.meta.dirname, 'models');
const FOLDER = join(MODELS, 'gpt2');
const VOCABULARY = 96;
const PROMPT = 8;
const STEPS = 64;

/** The numbers that a weight stands for, worked out here. */
async function dequantized({ data, scales, dtype, block }: QuantizedTensor): Promise<Float32Array> {
  const stored = [...(await data.toArray())];
  const codes = dtype === 'i8' ? stored : stored.flatMap((byte) => [(byte & 15) - 8, (byte >> 4) - 8]);
  const factors = await scales.toArray();
  return Float32Array.from(codes, (code, index) => code * (factors[Math.floor(index / block)] as number));
}

describe.each([
  ['cpu', () => new CpuBackend()],
  ['wasm', () => new WasmBackend()],
  ['webgpu', () => new WebGpuBackend()],
  ['level-zero', () => new LevelZeroBackend()],
])('on %s', (_, create) => {
  const backend: ComputeBackend = create();
  let model: Decoder;
  let tokens: Uint32Array;
  let wanted: Float32Array;

  beforeAll(async () => {
    await backend.init();
    model = await load('f32');
    const reference = await loadSafetensors(backend, readFileSync(join(FOLDER, 'reference.safetensors')));
    tokens = Uint32Array.from(await (reference['tokens'] as Tensor).toArray());
    wanted = (await (reference['logits'] as Tensor).toArray()) as Float32Array;
    for (const each of Object.values(reference)) each.dispose();
  });
  afterAll(async () => {
    model.dispose();
    expect(backend.memory().liveAllocations).toBe(0);
    await backend.dispose();
  });

  function load(dtype: 'f32' | 'f16', folder = FOLDER, quantize?: 'i8' | 'i4'): Promise<Decoder> {
    const signal = new AbortController().signal;
    return openWeights((file) => fileSource(join(folder, file))).then((files) =>
      files.load(backend, { dtype, quantize, signal, onProgress: () => undefined }),
    );
  }

  /** The logits after tokens that follow those in the cache. */
  async function logitsAfter(of: Decoder, ids: Uint32Array, cache: Cache): Promise<Float32Array> {
    using input = tensor(backend, ids, [1, ids.length]);
    using logits = of.forward(input, cache);
    return (await logits.toArray()) as Float32Array;
  }

  async function tokensAfter(
    prompt: readonly number[],
    options: Omit<TextRequest, 'prompt' | 'signal'>,
    topK?: number,
  ): Promise<number[]> {
    await using batch = new Batch(model, { topK });
    const got: number[] = [];
    const signal = new AbortController().signal;
    for await (const token of batch.generate({ ...options, prompt, signal })) got.push(token);
    return got;
  }

  function expectLike(got: Float32Array, of: Float32Array, step: number, tolerance: number): void {
    const row = of.subarray(step * VOCABULARY, (step + 1) * VOCABULARY);
    const largest = Math.max(...row.map(Math.abs));
    const worst = Math.max(...got.map((value, index) => Math.abs(value - (row[index] as number))));
    expect(worst / largest, `step ${step}`).toBeLessThan(tolerance);
  }

  test('logits are those of PyTorch to 1e-4, one token at a time after a cache', async () => {
    using cache = model.cache();
    for (let step = 0; step < STEPS; step++) {
      const ids = step === 0 ? tokens.subarray(0, PROMPT) : tokens.subarray(PROMPT + step - 1, PROMPT + step);
      expectLike(await logitsAfter(model, ids, cache), wanted, step, 1e-4);
    }
  });

  test('texts of 1 to 8 tokens, next ones in one recorded step, are right against each alone', async () => {
    using all = model.cache(8, 24);
    const given = Array.from({ length: 8 }, (_, text) => [...tokens.subarray(text, 2 * text + 1)]);
    for (const [text, ids] of given.entries()) {
      const row = (of: Tensor): Tensor => slice(of, [[text, text + 1]]);
      const layers = all.layers.map(([keys, values]): [Tensor, Tensor] => [row(keys), row(values)]);
      const own = { layers, lengths: row(all.lengths), [Symbol.dispose]: () => undefined };
      await logitsAfter(model, Uint32Array.from(ids), own);
      for (const each of [...layers.flat(), own.lengths]) each.dispose();
    }
    using ids = tensor(
      backend,
      Uint32Array.from({ length: 8 }, (_, text) => text),
      [8, 1],
    );
    using step = record(backend, () => {
      const logits = model.forward(ids, all);
      argmax(logits, { axis: -1, out: reshape(ids, [8]) });
      return logits;
    });
    for (const [text, before] of given.entries()) before.push(text);
    for (let turn = 0; turn < 3; turn++) {
      if (turn > 0) step.replay();
      const logits = (await step.result.toArray()) as Float32Array;
      const next = await ids.toArray();
      for (const [text, before] of given.entries()) {
        using cache = model.cache(1, before.length);
        const alone = await logitsAfter(model, Uint32Array.from(before), cache);
        const got = logits.subarray(text * VOCABULARY, (text + 1) * VOCABULARY);
        const worst = Math.max(...got.map((value, index) => Math.abs(value - (alone[index] as number))));
        expect(worst / Math.max(...alone.map(Math.abs)), `text ${text}, turn ${turn}`).toBeLessThan(1e-4);
        before.push(next[text] as number);
      }
    }
    step.dispose();
  });

  test('the same without a cache, and in f16 to 2e-2', async () => {
    using half = await load('f16');
    for (const step of [0, 1, 17, STEPS - 1]) {
      for (const [of, tolerance] of [
        [model, 1e-4],
        [half, 2e-2],
      ] as const) {
        using cache = of.cache();
        expectLike(await logitsAfter(of, tokens.subarray(0, PROMPT + step), cache), wanted, step, tolerance);
      }
    }
  });

  test('64 tokens are those of PyTorch', async () => {
    const got = await tokensAfter([...tokens.subarray(0, PROMPT)], { tokens: STEPS, temperature: 0, seed: 1 });
    expect(got).toEqual([...tokens.subarray(PROMPT)]);
  });

  test.each(['llama', 'llama-yarn', 'mistral', 'qwen2', 'qwen3', 'gemma2', 'gemma3'])(
    'logits of a %s are those of Transformers',
    async (kind) => {
      const folder = join(MODELS, kind);
      const reference = await loadSafetensors(backend, readFileSync(join(folder, 'reference.safetensors')));
      const ids = Uint32Array.from(await (reference['tokens'] as Tensor).toArray());
      const logits = (await (reference['logits'] as Tensor).toArray()) as Float32Array;
      for (const each of Object.values(reference)) each.dispose();
      for (const [dtype, tolerance] of [
        ['f32', 1e-4],
        ['f16', 2e-2],
      ] as const) {
        using decoder = await load(dtype, folder);
        using cache = decoder.cache();
        for (let step = 0; step <= ids.length - PROMPT; step++) {
          const given = step === 0 ? ids.subarray(0, PROMPT) : ids.subarray(PROMPT + step - 1, PROMPT + step);
          expectLike(await logitsAfter(decoder, given, cache), logits, step, tolerance);
        }
      }
    },
  );

  test.each(['i8', 'i4'] as const)(
    'a model rounded to %s is that of the weights it is rounded to',
    async (quantize) => {
      const folder = join(MODELS, 'qwen3');
      using rounded = await load('f32', folder, quantize);
      const named = await loadSafetensors(backend, readFileSync(join(folder, 'model.safetensors')));
      for (const [name, weight] of Object.entries(named)) {
        if (!name.endsWith('proj.weight')) continue;
        using codes = quantizeWeight(weight, { dtype: quantize === 'i4' ? 'u4' : 'i8', dtypeScales: 'f16' });
        named[name] = tensor(backend, await dequantized(codes), codes.shape);
        weight.dispose();
      }
      using decoder = new Decoder(backend, rounded.config, weightsOf(named, rounded.config));
      using cache = rounded.cache();
      using other = decoder.cache();
      const ids = tokens.subarray(0, PROMPT);
      expectLike(await logitsAfter(rounded, ids, cache), await logitsAfter(decoder, ids, other), 0, 1e-4);
    },
  );

  test('texts that are continued together are those of each alone, also of more than there are places for', async () => {
    const requests = Array.from({ length: 7 }, (_, text) => ({
      prompt: [...tokens.subarray(text, 2 * text + 2)],
      ...{ tokens: 3 + 5 * (text % 3), temperature: text % 2, topP: text % 3 === 0 ? 0.9 : 1, seed: text },
    }));
    const alone: number[][] = [];
    for (const { prompt, ...options } of requests) alone.push(await tokensAfter(prompt, options));
    const before = backend.memory().liveAllocations;
    {
      await using batch = new Batch(model, { size: 3 });
      const { signal } = new AbortController();
      const stopped = new AbortController();
      const lost = batch.generate({
        ...(requests[0] as (typeof requests)[number]),
        tokens: 60,
        signal: stopped.signal,
      });
      await lost.next();
      const all = requests.map(async (request) => {
        const got: number[] = [];
        for await (const token of batch.generate({ ...request, signal })) got.push(token);
        return got;
      });
      stopped.abort(new Error('mine'));
      await expect(
        lost
          .next()
          .then(() => lost.next())
          .then(() => lost.next()),
      ).rejects.toThrow('mine');
      expect(await Promise.all(all)).toEqual(alone);
    }
    expect(backend.memory().liveAllocations).toBe(before);
  });

  test('choices are repeatable by their seed, differ by it, and stay among the k most likely', async () => {
    const prompt = [...tokens.subarray(0, PROMPT)];
    const choose = (seed: number, topK?: number, topP?: number): Promise<number[]> =>
      tokensAfter(prompt, { tokens: 12, temperature: 1.5, seed, topP }, topK);
    const first = await choose(7);
    expect(await choose(7)).toEqual(first);
    expect(await choose(8)).not.toEqual(first);
    const likeliest = [...tokens.subarray(PROMPT, PROMPT + 12)];
    expect(await choose(3, 1)).toEqual(likeliest);
    expect(await choose(3, undefined, 1e-6)).toEqual(likeliest);
  });
});
