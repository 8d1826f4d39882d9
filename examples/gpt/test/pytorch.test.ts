import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ComputeBackend } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { WasmBackend } from '@concord/backend-wasm';
import { LevelZeroBackend } from '@concord/backend-levelzero';
import { WebGpuBackend } from '@concord/backend-webgpu';
import type { Cache, Gpt2 } from '@concord/example-gpt-model';
import { argmax, loadSafetensors, record, reshape, slice, tensor, type Tensor } from '@concord/ops';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generate } from '../src/generate.ts';
import { loadModel } from '../src/load-model.ts';

// A tiny model of random weights, and what PyTorch says of it: written by gpt-model/reference/reference.py.
const FOLDER = join(import.meta.dirname, 'tiny');
const VOCABULARY = 96;
const PROMPT = 8;
const STEPS = 64;

function disposeCache({ layers, lengths }: Cache): void {
  for (const each of [...layers, lengths]) each.dispose();
}

describe.each([
  ['cpu', () => new CpuBackend()],
  ['wasm', () => new WasmBackend()],
  ['webgpu', () => new WebGpuBackend()],
  ['level-zero', () => new LevelZeroBackend()],
])('on %s', (_, create) => {
  const backend: ComputeBackend = create();
  let model: Gpt2;
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

  function load(dtype: 'f32' | 'f16'): Promise<Gpt2> {
    return loadModel(backend, FOLDER, { dtype, signal: new AbortController().signal, onProgress: () => undefined });
  }

  /** The logits after tokens that follow those in the cache. */
  async function logitsAfter(of: Gpt2, ids: Uint32Array, cache: Cache): Promise<Float32Array> {
    using input = tensor(backend, ids, [1, ids.length]);
    using logits = of.forward(input, cache);
    return (await logits.toArray()) as Float32Array;
  }

  function expectLike(got: Float32Array, step: number, tolerance: number): void {
    const row = wanted.subarray(step * VOCABULARY, (step + 1) * VOCABULARY);
    const largest = Math.max(...row.map(Math.abs));
    const worst = Math.max(...got.map((value, index) => Math.abs(value - (row[index] as number))));
    expect(worst / largest, `step ${step}`).toBeLessThan(tolerance);
  }

  test('logits are those of PyTorch to 1e-4, one token at a time after a cache', async () => {
    const cache = model.cache();
    for (let step = 0; step < STEPS; step++) {
      const ids = step === 0 ? tokens.subarray(0, PROMPT) : tokens.subarray(PROMPT + step - 1, PROMPT + step);
      expectLike(await logitsAfter(model, ids, cache), step, 1e-4);
    }
    disposeCache(cache);
  });

  test('texts of 1 to 8 tokens, next ones in one recorded step, are right against each alone', async () => {
    const all = model.cache(8, 24);
    const given = Array.from({ length: 8 }, (_, text) => [...tokens.subarray(text, 2 * text + 1)]);
    for (const [text, ids] of given.entries()) {
      const row = (of: Tensor): Tensor => slice(of, [[text, text + 1]]);
      const own = { layers: all.layers.map(row), lengths: row(all.lengths) };
      await logitsAfter(model, Uint32Array.from(ids), own);
      disposeCache(own);
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
        const cache = model.cache(1, before.length);
        const alone = await logitsAfter(model, Uint32Array.from(before), cache);
        disposeCache(cache);
        const got = logits.subarray(text * VOCABULARY, (text + 1) * VOCABULARY);
        const worst = Math.max(...got.map((value, index) => Math.abs(value - (alone[index] as number))));
        expect(worst / Math.max(...alone.map(Math.abs)), `text ${text}, turn ${turn}`).toBeLessThan(1e-4);
        before.push(next[text] as number);
      }
    }
    step.dispose();
    disposeCache(all);
  });

  test('the same without a cache, and in f16 to 2e-2', async () => {
    using half = await load('f16');
    for (const step of [0, 1, 17, STEPS - 1]) {
      for (const [of, tolerance] of [
        [model, 1e-4],
        [half, 2e-2],
      ] as const) {
        const cache = of.cache();
        expectLike(await logitsAfter(of, tokens.subarray(0, PROMPT + step), cache), step, tolerance);
        disposeCache(cache);
      }
    }
  });

  test('64 tokens are those of PyTorch', async () => {
    const got: number[] = [];
    const options = { tokens: STEPS, temperature: 0, seed: 1 };
    for await (const token of generate(model, [...tokens.subarray(0, PROMPT)], options)) got.push(token);
    expect(got).toEqual([...tokens.subarray(PROMPT)]);
  });

  test('choices are repeatable by their seed, differ by it, and stay among the k most likely', async () => {
    const prompt = [...tokens.subarray(0, PROMPT)];
    const choose = async (seed: number, topK?: number): Promise<number[]> => {
      const got: number[] = [];
      const options = { tokens: 12, temperature: 1.5, seed, ...(topK === undefined ? {} : { topK }) };
      for await (const token of generate(model, prompt, options)) got.push(token);
      return got;
    };
    const first = await choose(7);
    expect(await choose(7)).toEqual(first);
    expect(await choose(8)).not.toEqual(first);
    expect(await choose(3, 1)).toEqual([...tokens.subarray(PROMPT, PROMPT + 12)]);
  });
});
