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
import { f32, i64, listOf, modelBytes, node, value } from './support/write-model.ts';

const WORDS = [
  '[PAD]',
  '[UNK]',
  '[CLS]',
  '[SEP]',
  '[MASK]',
  'the',
  'cat',
  'sat',
  'on',
  'a',
  'mat',
  'and',
  'dog',
  'ran',
  'to',
  'house',
];
const [VOCAB, WIDTH, HEADS] = [WORDS.length, 8, 2];

function random(dims: readonly number[], seed: number): HostTensor {
  let state = seed * 7919;
  const size = dims.reduce((product, dim) => product * dim, 1);
  return f32(
    dims,
    Array.from({ length: size }, () => ((state = (state * 16807) % 2147483647) / 2147483647) * 2 - 1),
  );
}

const TOKENIZER = {
  ...{
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: { type: 'BertNormalizer', lowercase: true },
  },
  ...{
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: null,
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
  },
  model: {
    ...{ type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100 },
    vocab: Object.fromEntries(WORDS.map((word, i) => [word, i])),
  },
};
const TOKENIZER_CONFIG = {
  ...{ tokenizer_class: 'BertTokenizer', do_lower_case: true, model_max_length: 64 },
  ...{ unk_token: '[UNK]', sep_token: '[SEP]', pad_token: '[PAD]', cls_token: '[CLS]', mask_token: '[MASK]' },
};

const weights = (): Record<string, HostTensor> => ({
  embedding: random([VOCAB, WIDTH], 1),
  ...{
    wq: random([WIDTH, WIDTH], 2),
    wk: random([WIDTH, WIDTH], 3),
    wv: random([WIDTH, WIDTH], 4),
    wo: random([WIDTH, VOCAB], 5),
  },
  ...{
    gamma: random([WIDTH], 6),
    beta: random([WIDTH], 7),
    heads: i64([4], [0, 0, HEADS, WIDTH / HEADS]),
    merged: i64([3], [0, 0, WIDTH]),
  },
  ...{ scale: f32([], [1 / Math.sqrt(WIDTH / HEADS)]), low: f32([], [-1e9]), nil: f32([], [0]), one: f32([], [1]) },
  ...{
    ax1: i64([1], [1]),
    ax12: i64([2], [1, 2]),
    ax13: i64([2], [1, 3]),
    zero: i64([], [0]),
    step: i64([], [1]),
    last: i64([], [1]),
  },
});

/** Q, K or V of heads. */
const heads = (name: string, from = 'h') => [
  node('MatMul', [from, `w${name}`], [`${name}1`]),
  node('Reshape', [`${name}1`, 'heads'], [`${name}2`]),
  node('Transpose', [`${name}2`], [name], { perm: [0, 2, 1, 3] }),
];

const mix = (keys: string, values: string) => [
  node('Transpose', [keys], ['kt'], { perm: [0, 1, 3, 2] }),
  node('MatMul', ['q', 'kt'], ['s1']),
  node('Mul', ['s1', 'scale'], ['s2']),
  node('Add', ['s2', 'mask'], ['s3']),
  node('Softmax', ['s3'], ['p'], { axis: -1 }),
  node('MatMul', ['p', values], ['o1']),
  node('Transpose', ['o1'], ['o2'], { perm: [0, 2, 1, 3] }),
  node('Reshape', ['o2', 'merged'], ['o']),
];

const encoder = modelBytes({
  inputs: ['input_ids', 'attention_mask', 'token_type_ids'].map((name) => value(name, 'int64', ['batch', 'sequence'])),
  constants: weights(),
  nodes: [
    node('Gather', ['embedding', 'input_ids'], ['e']),
    node('LayerNormalization', ['e', 'gamma', 'beta'], ['h']),
    ...['q', 'k', 'v'].flatMap((name) => heads(name)),
    node('Unsqueeze', ['attention_mask', 'ax12'], ['m1']),
    node('Cast', ['m1'], ['m2'], { to: 1 }),
    node('Sub', ['one', 'm2'], ['m3']),
    node('Mul', ['m3', 'low'], ['mask']),
    ...mix('k', 'v'),
    node('Add', ['o', 'h'], ['last_hidden_state']),
  ],
  outputs: [value('last_hidden_state', 'float32', ['batch', 'sequence', WIDTH])],
});

const cache = ['batch', HEADS, 'past', WIDTH / HEADS];
const decoder = modelBytes({
  inputs: [
    ...['input_ids', 'position_ids'].map((name) => value(name, 'int64', ['batch', 'sequence'])),
    value('attention_mask', 'int64', ['batch', 'total']),
    ...['key', 'value'].map((name) => value(`past_key_values.0.${name}`, 'float32', cache)),
  ],
  constants: weights(),
  nodes: [
    node('Gather', ['embedding', 'input_ids'], ['e']),
    node('LayerNormalization', ['e', 'gamma', 'beta'], ['h']),
    ...['q', 'k', 'v'].flatMap((name) => heads(name)),
    node('Concat', ['past_key_values.0.key', 'k'], ['present.0.key'], { axis: 2 }),
    node('Concat', ['past_key_values.0.value', 'v'], ['present.0.value'], { axis: 2 }),
    // A query sees the keys up to its position that are not padding.
    node('Shape', ['attention_mask'], ['shape']),
    node('Gather', ['shape', 'last'], ['total']),
    node('Range', ['zero', 'total', 'step'], ['places']),
    node('Unsqueeze', ['position_ids', 'ax13'], ['at']),
    node('LessOrEqual', ['places', 'at'], ['seen']),
    node('Unsqueeze', ['attention_mask', 'ax12'], ['m1']),
    node('Cast', ['m1'], ['m2'], { to: 9 }),
    node('And', ['seen', 'm2'], ['visible']),
    node('Where', ['visible', 'nil', 'low'], ['mask']),
    ...mix('present.0.key', 'present.0.value'),
    node('Add', ['o', 'h'], ['z']),
    node('MatMul', ['z', 'wo'], ['logits']),
  ],
  outputs: [
    value('logits', 'float32', ['batch', 'sequence', VOCAB]),
    ...['key', 'value'].map((name) => value(`present.0.${name}`, 'float32', ['batch', HEADS, 'total', WIDTH / HEADS])),
  ],
});

const MODELS = {
  encoder: {
    bytes: encoder,
    config: { model_type: 'bert', architectures: ['BertModel'], hidden_size: WIDTH, vocab_size: VOCAB },
  },
  decoder: {
    bytes: decoder,
    config: {
      ...{
        model_type: 'gpt2',
        architectures: ['GPT2LMHeadModel'],
        vocab_size: VOCAB,
        n_embd: WIDTH,
        n_head: HEADS,
        n_layer: 1,
      },
      ...{ eos_token_id: VOCAB + 1, bos_token_id: 2, pad_token_id: 0 },
    },
  },
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
    for (const [name, { bytes, config }] of Object.entries(MODELS)) {
      mkdirSync(join(folder, name, 'onnx'), { recursive: true });
      writeFileSync(join(folder, name, 'onnx', 'model.onnx'), bytes);
      for (const [file, content] of Object.entries({
        config,
        tokenizer: TOKENIZER,
        tokenizer_config: TOKENIZER_CONFIG,
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
    const { input_ids: ids, attention_mask: mask } = extract.tokenizer(texts, { padding: true }) as Record<
      string,
      { dims: number[]; data: BigInt64Array }
    >;
    const int = (given: { dims: number[]; data: BigInt64Array }): HostTensor => ({
      type: 'int64',
      dims: given.dims,
      data: given.data,
    });
    const feeds = {
      input_ids: int(ids as never),
      attention_mask: int(mask as never),
      token_type_ids: i64(
        [2, 6],
        Array.from({ length: 12 }, () => 0),
      ),
    };
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
        ...{
          input_ids: i64([1, n], ids),
          position_ids: i64([1, n], [...ids.keys()]),
          attention_mask: i64(
            [1, n],
            ids.map(() => 1),
          ),
        },
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
});
