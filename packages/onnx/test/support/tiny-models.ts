import type { HostTensor } from '../../src/graph/host-tensor.ts';
import type { Proto } from '../../src/read/schema.ts';
import { f32, graphProto, i64, modelBytes, node, value } from './write-model.ts';

/** The vocabulary of the tests' models. */
export const WORDS: readonly string[] =
  '[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat on a mat and dog ran to house'.split(' ');
export const VOCAB: number = WORDS.length;
export const [WIDTH, HEADS] = [8, 2];

function random(dims: readonly number[], seed: number): HostTensor {
  let state = seed * 7919;
  return f32(dims, () => ((state = (state * 16807) % 2147483647) / 2147483647) * 2 - 1);
}

export const TOKENIZER = {
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
export const TOKENIZER_CONFIG = {
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

/** Attention of q; `at` begins the names of all that it makes and takes. */
const mix = (keys: string, values: string, at = '') => [
  node('Transpose', [keys], [`${at}kt`], { perm: [0, 1, 3, 2] }),
  node('MatMul', [`${at}q`, `${at}kt`], [`${at}s1`]),
  node('Mul', [`${at}s1`, 'scale'], [`${at}s2`]),
  node('Add', [`${at}s2`, `${at}mask`], [`${at}s3`]),
  node('Softmax', [`${at}s3`], [`${at}p`], { axis: -1 }),
  node('MatMul', [`${at}p`, values], [`${at}o1`]),
  node('Transpose', [`${at}o1`], [`${at}o2`], { perm: [0, 2, 1, 3] }),
  node('Reshape', [`${at}o2`, 'merged'], [`${at}o`]),
];

/** A layer of BERT's kind, and a head of the test after it. */
function bert(
  head: readonly Proto<'Node'>[],
  outputs: readonly Proto<'Value'>[],
  more: Readonly<Record<string, HostTensor>> = {},
): Uint8Array {
  return modelBytes({
    inputs: ['input_ids', 'attention_mask', 'token_type_ids'].map((name) =>
      value(name, 'int64', ['batch', 'sequence']),
    ),
    constants: { ...weights(), ...more },
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
      ...head,
    ],
    outputs,
  });
}

export const encoder = bert([], [value('last_hidden_state', 'float32', ['batch', 'sequence', WIDTH])]);

const LABELS = 3;
const classes = random([WIDTH, LABELS], 11);
/** The class of the first word, by a product of the kind that a file of this name has. */
const classifier = (product: readonly Proto<'Node'>[], more: Readonly<Record<string, HostTensor>>): Uint8Array =>
  bert(
    [node('Gather', ['last_hidden_state', 'zero'], ['first'], { axis: 1 }), ...product],
    [value('logits', 'float32', ['batch', LABELS])],
    more,
  );

const bytes8 = (dims: readonly number[], type: 'int8' | 'uint8'): HostTensor => {
  const values = [...(random(dims, 12).data as Float32Array)].map((each) => Math.round(each * 100));
  return type === 'int8'
    ? { type, dims, data: Int8Array.from(values) }
    : { type, dims, data: Uint8Array.from(values, (each) => each + 128) };
};

/** Text classification in f32, f16, int8 and 4 bits, by the names that Transformers.js gives their files. */
export const CLASSIFIERS: Readonly<Record<'fp32' | 'fp16' | 'q8' | 'q4', readonly [file: string, bytes: Uint8Array]>> =
  {
    fp32: ['model.onnx', classifier([node('MatMul', ['first', 'classes'], ['logits'])], { classes })],
    fp16: [
      'model_fp16.onnx',
      classifier(
        [
          ...['first', 'classes'].map((name) => node('Cast', [name], [`${name}16`], { to: 10 })),
          node('MatMul', ['first16', 'classes16'], ['logits16']),
          node('Cast', ['logits16'], ['logits'], { to: 1 }),
        ],
        { classes },
      ),
    ],
    q8: [
      'model_quantized.onnx',
      classifier(
        [
          node('DynamicQuantizeLinear', ['first'], ['x8', 'xs', 'xz']),
          node('MatMulInteger', ['x8', 'w8', 'xz', 'wz'], ['l1']),
          node('Cast', ['l1'], ['l2'], { to: 1 }),
          node('Mul', ['xs', 'ws'], ['s']),
          node('Mul', ['l2', 's'], ['logits']),
        ],
        {
          w8: bytes8([WIDTH, LABELS], 'int8'),
          wz: { type: 'int8', dims: [], data: Int8Array.of(3) },
          ws: f32([], [0.02]),
        },
      ),
    ],
    q4: [
      'model_q4.onnx',
      classifier(
        [
          node('com.microsoft.MatMulNBits', ['first', 'w4', 'w4s'], ['logits'], {
            K: WIDTH,
            N: LABELS,
            bits: 4,
            block_size: 16,
          }),
        ],
        { w4: bytes8([LABELS, 1, 8], 'uint8'), w4s: f32([LABELS], [0.1, 0.2, 0.15]) },
      ),
    ],
  };

/** The class of each word. */
export const tagger = bert(
  [node('MatMul', ['last_hidden_state', 'classes'], ['logits'])],
  [value('logits', 'float32', ['batch', 'sequence', LABELS])],
  { classes },
);

/** Where an answer starts and where it ends. */
export const reader = bert(
  [
    node('MatMul', ['last_hidden_state', 'two'], ['ends']),
    node('Split', ['ends'], ['a', 'b'], { axis: 2 }),
    ...['start', 'end'].map((name, i) => node('Squeeze', [i === 0 ? 'a' : 'b', 'minus'], [`${name}_logits`])),
  ],
  ['start_logits', 'end_logits'].map((name) => value(name, 'float32', ['batch', 'sequence'])),
  { two: random([WIDTH, 2], 13), minus: i64([1], [-1]) },
);

/** Two convolutions, a pool and classes. */
export const vision = modelBytes({
  inputs: [value('pixel_values', 'float32', ['batch', 3, 'height', 'width'])],
  constants: {
    f1: random([4, 3, 3, 3], 14),
    b1: random([4], 15),
    f2: random([6, 4, 3, 3], 16),
    classes: random([LABELS, 6], 17),
    bias: random([LABELS], 18),
  },
  nodes: [
    node('Conv', ['pixel_values', 'f1', 'b1'], ['c1'], { pads: [1, 1, 1, 1] }),
    node('Relu', ['c1'], ['r1']),
    node('MaxPool', ['r1'], ['p1'], { kernel_shape: [2, 2], strides: [2, 2] }),
    node('Conv', ['p1', 'f2'], ['c2']),
    node('HardSwish', ['c2'], ['r2']),
    node('GlobalAveragePool', ['r2'], ['g']),
    node('Flatten', ['g'], ['v']),
    node('Gemm', ['v', 'classes', 'bias'], ['logits'], { transB: 1 }),
  ],
  outputs: [value('logits', 'float32', ['batch', LABELS])],
});

const cache = ['batch', HEADS, 'past', WIDTH / HEADS];
export const decoder = modelBytes({
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

/** The caches of {@link translator}: those of its own words and of the text that it reads. */
export const CACHES: readonly string[] = ['decoder', 'encoder'].flatMap((side) =>
  ['key', 'value'].map((of) => `0.${side}.${of}`),
);

/** A decoder of T5's kind, whose branches exporters merge: keys and values of the text are made in the first step. */
export const translator = modelBytes({
  inputs: [
    value('encoder_attention_mask', 'int64', ['batch', 'encoder']),
    value('input_ids', 'int64', ['batch', 'sequence']),
    value('encoder_hidden_states', 'float32', ['batch', 'encoder', WIDTH]),
    ...CACHES.map((name) =>
      value(`past_key_values.${name}`, 'float32', ['batch', HEADS, `past ${name}`, WIDTH / HEADS]),
    ),
    value('use_cache_branch', 'bool', [1]),
  ],
  constants: { ...weights(), wxq: random([WIDTH, WIDTH], 21), mask: f32([], [0]) },
  nodes: [
    node('Gather', ['embedding', 'input_ids'], ['e']),
    node('LayerNormalization', ['e', 'gamma', 'beta'], ['h']),
    ...['q', 'k', 'v'].flatMap((name) => heads(name)),
    node('Concat', ['past_key_values.0.decoder.key', 'k'], ['present.0.decoder.key'], { axis: 2 }),
    node('Concat', ['past_key_values.0.decoder.value', 'v'], ['present.0.decoder.value'], { axis: 2 }),
    ...mix('present.0.decoder.key', 'present.0.decoder.value'),
    node('Add', ['o', 'h'], ['z']),
    node('If', ['use_cache_branch'], ['present.0.encoder.key', 'present.0.encoder.value'], {
      then_branch: {
        graph: graphProto({
          inputs: [],
          outputs: ['kept key', 'kept value'],
          nodes: ['key', 'value'].map((of) => node('Identity', [`past_key_values.0.encoder.${of}`], [`kept ${of}`])),
        }),
      },
      else_branch: {
        graph: graphProto({
          inputs: [],
          outputs: ['fresh_k', 'fresh_v'],
          nodes: ['k', 'v'].flatMap((name) => {
            const [product, rows, turned] = heads(name, 'encoder_hidden_states') as [
              Proto<'Node'>,
              Proto<'Node'>,
              Proto<'Node'>,
            ];
            return [product, rows, { ...turned, outputs: [`fresh_${name}`] }];
          }),
        }),
      },
    }),
    ...heads('xq', 'z'),
    node('Unsqueeze', ['encoder_attention_mask', 'ax12'], ['m1']),
    node('Cast', ['m1'], ['m2'], { to: 1 }),
    node('Sub', ['one', 'm2'], ['m3']),
    node('Mul', ['m3', 'low'], ['xmask']),
    ...mix('present.0.encoder.key', 'present.0.encoder.value', 'x'),
    node('Add', ['xo', 'z'], ['end']),
    node('MatMul', ['end', 'wo'], ['logits']),
  ],
  outputs: [
    value('logits', 'float32', ['batch', 'sequence', VOCAB]),
    ...CACHES.map((name) => value(`present.${name}`, 'float32', ['batch', HEADS, `now ${name}`, WIDTH / HEADS])),
  ],
});

const BERT = {
  model_type: 'bert',
  hidden_size: WIDTH,
  vocab_size: VOCAB,
  id2label: { 0: 'bad', 1: 'so so', 2: 'good' },
};

/** Folders of models: their files, and what their config.json says. */
export const MODELS: Readonly<Record<string, { files: Readonly<Record<string, Uint8Array>>; config: object }>> = {
  encoder: { files: { 'model.onnx': encoder }, config: { ...BERT, architectures: ['BertModel'] } },
  classifier: {
    files: Object.fromEntries(Object.values(CLASSIFIERS)),
    config: { ...BERT, architectures: ['BertForSequenceClassification'] },
  },
  tagger: { files: { 'model.onnx': tagger }, config: { ...BERT, architectures: ['BertForTokenClassification'] } },
  reader: { files: { 'model.onnx': reader }, config: { ...BERT, architectures: ['BertForQuestionAnswering'] } },
  vision: {
    files: { 'model.onnx': vision },
    config: { ...BERT, model_type: 'vit', architectures: ['ViTForImageClassification'] },
  },
  translator: {
    files: { 'encoder_model.onnx': encoder, 'decoder_model_merged.onnx': translator },
    config: {
      ...{ model_type: 't5', architectures: ['T5ForConditionalGeneration'], is_encoder_decoder: true },
      ...{ d_model: WIDTH, d_kv: WIDTH / HEADS, num_heads: HEADS, num_layers: 1, num_decoder_layers: 1 },
      ...{ vocab_size: VOCAB, decoder_start_token_id: 7, eos_token_id: VOCAB + 1, pad_token_id: 0 },
    },
  },
  decoder: {
    files: { 'model.onnx': decoder },
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
