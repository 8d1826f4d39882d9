import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as Transformers from '@huggingface/transformers';
import { cpu } from '@concord/backend-cpu';
import * as common from 'onnxruntime-common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HostTensor } from '../src/graph/host-tensor.ts';
import { register } from '../src/index.ts';
import { reference } from './support/reference.ts';
import {
  CACHES,
  CLASSIFIERS,
  decoder,
  encoder,
  HEADS,
  MODELS,
  tagger,
  TOKENIZER,
  TOKENIZER_CONFIG,
  translator,
  vision,
  VOCAB,
  WIDTH,
  WORDS,
} from './support/tiny-models.ts';
import { f32, i64, listOf } from './support/write-model.ts';

/** Pictures as they are, from -1 to 1. */
const PREPROCESSOR = {
  ...{ image_processor_type: 'ViTFeatureExtractor', do_resize: false, do_rescale: true, rescale_factor: 1 / 255 },
  ...{ do_normalize: true, image_mean: [0.5, 0.5, 0.5], image_std: [0.5, 0.5, 0.5] },
};

describe('Transformers.js, unchanged', () => {
  const folder = mkdtempSync(join(tmpdir(), 'concord-onnx-'));
  let transformers: typeof Transformers;
  beforeAll(async () => {
    register([cpu()]);
    (globalThis as Record<symbol, unknown>)[Symbol.for('onnxruntime')] = common;
    transformers = await import('@huggingface/transformers');
    transformers.env.localModelPath = folder;
    transformers.env.allowRemoteModels = false;
    for (const [name, { files, config }] of Object.entries(MODELS)) {
      mkdirSync(join(folder, name, 'onnx'), { recursive: true });
      for (const [file, bytes] of Object.entries(files)) writeFileSync(join(folder, name, 'onnx', file), bytes);
      for (const [file, content] of Object.entries({
        config,
        tokenizer: TOKENIZER,
        tokenizer_config: TOKENIZER_CONFIG,
        preprocessor_config: PREPROCESSOR,
      })) {
        writeFileSync(join(folder, name, `${file}.json`), JSON.stringify(content));
      }
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('extracts features of texts of different lengths, as ONNX Runtime does', async () => {
    const extract = await transformers.pipeline('feature-extraction', 'encoder', { device: 'auto', dtype: 'fp32' });
    const texts = ['the cat sat on a mat', 'a dog ran'];
    const features = await extract(texts);
    const feeds = feedsOf(extract.tokenizer, texts, { padding: true });
    const wanted = (await reference(encoder, feeds))['last_hidden_state'] as HostTensor;
    expect(features.dims).toEqual([2, 6, WIDTH]);
    expect([...(features.data as Float32Array)]).toEqual(
      [...(wanted.data as Float32Array)].map((each) => expect.closeTo(each, 5)),
    );
    await extract.dispose();
  });

  it('generates text with a cache that grows, the words that ONNX Runtime gives', async () => {
    const generate = await transformers.pipeline('text-generation', 'decoder', { device: 'auto', dtype: 'fp32' });
    const [result] = (await generate('the cat sat', { max_new_tokens: 8, do_sample: false })) as {
      generated_text: string;
    }[];
    const ids = ['the', 'cat', 'sat'].map((word) => WORDS.indexOf(word));
    for (let turn = 0; turn < 8; turn++) {
      const n = ids.length;
      const empty = f32([1, HEADS, 0, WIDTH / HEADS], []);
      const feeds = {
        ...{ input_ids: i64([1, n], ids), position_ids: i64([1, n], (i) => i), attention_mask: i64([1, n], () => 1) },
        ...{ 'past_key_values.0.key': empty, 'past_key_values.0.value': empty },
      };
      const logits = (listOf((await reference(decoder, feeds))['logits']) as number[]).slice(-VOCAB);
      ids.push(logits.indexOf(Math.max(...logits)));
    }
    expect(new Set(ids).size).toBeGreaterThan(3);
    const special = new Set(WORDS.filter((word) => word.startsWith('[')));
    const said = ids.map((id) => WORDS[id] as string).filter((word) => !special.has(word) || word === '[UNK]');
    expect(result?.generated_text.split(' ').filter((word) => !special.has(word))).toEqual(
      said.filter((word) => !special.has(word)),
    );
    await generate.dispose();
  });

  it('writes a text about another one, whose keys an If makes once, as ONNX Runtime does', async () => {
    const write = await transformers.pipeline('text2text-generation', 'translator', { device: 'auto', dtype: 'fp32' });
    const [result] = (await write('the cat ran', { max_new_tokens: 6, do_sample: false })) as unknown as {
      generated_text: string;
    }[];
    const text = feedsOf(write.tokenizer, 'the cat ran');
    const { last_hidden_state } = await reference(encoder, text);
    let caches = Object.fromEntries(CACHES.map((name) => [name, f32([1, HEADS, 0, WIDTH / HEADS], [])]));
    const ids = [7];
    for (let step = 0; step < 6; step++) {
      const results = await reference(translator, {
        encoder_attention_mask: text['attention_mask'] as HostTensor,
        encoder_hidden_states: last_hidden_state as HostTensor,
        input_ids: i64([1, 1], ids.slice(-1)),
        use_cache_branch: { type: 'bool', dims: [1], data: Uint8Array.of(Number(step > 0)) },
        ...Object.fromEntries(CACHES.map((name) => [`past_key_values.${name}`, caches[name] as HostTensor])),
      });
      caches = Object.fromEntries(CACHES.map((name) => [name, results[`present.${name}`] as HostTensor]));
      const logits = listOf(results['logits']) as number[];
      ids.push(logits.indexOf(Math.max(...logits)));
    }
    const special = new Set(WORDS.filter((word) => word.startsWith('[')));
    const wanted = ids.map((id) => WORDS[id] as string).filter((word) => !special.has(word));
    expect(wanted.length).toBeGreaterThan(1);
    expect(result?.generated_text.split(' ').filter((word) => !special.has(word))).toEqual(wanted);
    await write.dispose();
  });

  /** The inputs that the pipeline's tokenizer makes of texts. */
  const feedsOf = (tokenizer: unknown, ...texts: (string | object)[]): Record<string, HostTensor> => {
    const given = (tokenizer as (...list: unknown[]) => Record<string, { dims: number[]; data: BigInt64Array }>)(
      ...texts,
    );
    const feeds = Object.entries(given).map(([name, { dims, data }]): [string, HostTensor] => [
      name,
      { type: 'int64', dims, data },
    ]);
    const [, first] = feeds[0] as [string, HostTensor];
    return { token_type_ids: { ...first, data: new BigInt64Array(first.data.length) }, ...Object.fromEntries(feeds) };
  };
  const softmax = (logits: readonly number[]): number[] => {
    const powers = logits.map((each) => Math.exp(each - Math.max(...logits)));
    return powers.map((each) => each / powers.reduce((a, b) => a + b));
  };

  it.each(['fp32', 'fp16', 'q8', 'q4'] as const)('classifies texts, %s', async (dtype) => {
    const classify = await transformers.pipeline('text-classification', 'classifier', { device: 'auto', dtype });
    const feeds = feedsOf(classify.tokenizer, 'the dog ran to the house');
    const logits = listOf((await reference(CLASSIFIERS[dtype][1], feeds))['logits']) as number[];
    const results = (await classify('the dog ran to the house', { top_k: 3 })) as { label: string; score: number }[];
    const wanted = softmax(logits).map((score, i) => ({
      label: ['bad', 'so so', 'good'][i],
      score: expect.closeTo(score, dtype === 'fp16' ? 2 : 4) as number,
    }));
    expect(results.map(({ label }) => label).sort()).toEqual(['bad', 'good', 'so so']);
    expect(
      [...results].sort(
        (a, b) => ['bad', 'so so', 'good'].indexOf(a.label) - ['bad', 'so so', 'good'].indexOf(b.label),
      ),
    ).toEqual(wanted);
    await classify.dispose();
  });

  it('classifies words', async () => {
    const tag = await transformers.pipeline('token-classification', 'tagger', { device: 'auto', dtype: 'fp32' });
    const text = 'the cat sat on a mat';
    const logits = listOf((await reference(tagger, feedsOf(tag.tokenizer, text)))['logits']) as number[];
    const results = (await tag(text, { ignore_labels: [] })) as { entity: string; score: number; word: string }[];
    expect(results.map(({ word }) => word)).toEqual(text.split(' '));
    for (const [i, { entity, score }] of results.entries()) {
      const row = softmax(logits.slice(3 * i, 3 * i + 3));
      expect([entity, score]).toEqual([
        ['bad', 'so so', 'good'][row.indexOf(Math.max(...row))],
        expect.closeTo(Math.max(...row), 4),
      ]);
    }
    await tag.dispose();
  });

  it('answers questions', async () => {
    const answer = await transformers.pipeline('question-answering', 'reader', { device: 'auto', dtype: 'fp32' });
    const { answer: text, score } = (await answer('the dog ran to', 'a cat sat on the mat and a dog ran')) as {
      answer: string;
      score: number;
    };
    expect(score).toBeGreaterThan(0);
    expect('a cat sat on the mat and a dog ran').toContain(text);
    await answer.dispose();
  });

  it('classifies images', async () => {
    const classify = await transformers.pipeline('image-classification', 'vision', { device: 'auto', dtype: 'fp32' });
    const pixels = Uint8ClampedArray.from({ length: 3 * 12 * 10 }, (_, i) => (i * 37) % 256);
    const results = (await classify(new transformers.RawImage(pixels, 12, 10, 3), { top_k: 3 })) as {
      label: string;
      score: number;
    }[];
    const x = f32([1, 3, 10, 12], (i) => ((pixels[(i % 120) * 3 + Math.floor(i / 120)] as number) / 255 - 0.5) / 0.5);
    const scores = softmax(listOf((await reference(vision, { pixel_values: x }))['logits']) as number[]);
    const byLabel = Object.fromEntries(results.map(({ label, score }) => [label, score]));
    expect([byLabel['bad'], byLabel['so so'], byLabel['good']]).toEqual(
      scores.map((each) => expect.closeTo(each, 4) as number),
    );
    await classify.dispose();
  });
});
