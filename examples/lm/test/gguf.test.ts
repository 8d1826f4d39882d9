import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CpuBackend } from '@concord/backend-cpu';
import { WasmBackend } from '@concord/backend-wasm';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { runCaptured, temporaryFolder } from '@concord/example-command/testing';
import { loadSafetensors, memory, type Tensor, tensor } from '@concord/ops';
import { fileSource } from '@concord/ops/node';
import { Tokenizer } from '@huggingface/tokenizers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Decoder } from '../src/decoder.ts';
import { openGguf } from '../src/gguf.ts';
import { runProgram } from '../src/program.ts';
import { weightsOf } from '../src/weights.ts';
import { ggmlBlocks, type GgufTensor, writeGguf } from './write-gguf.ts';

const MODEL = join(import.meta.dirname, 'models/llama');
const folder = temporaryFolder();

/** Sizes of the tiny Llama, and the factors that llama3's scaling divides its frequencies by. */
const SIZES = {
  ...{ 'general.architecture': 'llama', 'llama.context_length': 64, 'llama.embedding_length': 32 },
  ...{ 'llama.block_count': 2, 'llama.feed_forward_length': 64, 'llama.rope.freq_base': 10_000 },
  ...{ 'llama.attention.head_count': 4, 'llama.attention.head_count_kv': 2 },
  'llama.attention.layer_norm_rms_epsilon': 1e-6,
};
const TOKENS = { 'tokenizer.ggml.model': 'llama', 'tokenizer.ggml.tokens': ['<unk>', '<s>', '</s>'] };

const NAMES: Readonly<Record<string, string>> = {
  ...{ embed_tokens: 'token_embd', norm: 'output_norm', lm_head: 'output', input_layernorm: 'attn_norm' },
  ...{
    q_proj: 'attn_q',
    k_proj: 'attn_k',
    v_proj: 'attn_v',
    o_proj: 'attn_output',
    post_attention_layernorm: 'ffn_norm',
  },
  ...{ gate_proj: 'ffn_gate', up_proj: 'ffn_up', down_proj: 'ffn_down' },
};

interface Stored {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** The weights of the tiny Llama, as numbers. */
async function weights(): Promise<Map<string, Stored>> {
  await using backend = await CpuBackend.create();
  const named = await loadSafetensors(backend, readFileSync(join(MODEL, 'model.safetensors')));
  const read = new Map<string, Stored>();
  for (const [name, each] of Object.entries(named)) {
    read.set(name, { shape: each.shape, values: (await each.toArray()) as Float32Array });
  }
  return read;
}

/** Rows of a head: first and second halves, as Transformers has them, become neighbours, as llama.cpp has them. */
function neighbours({ shape, values }: Stored, heads: number): Stored {
  const [rows, columns] = shape as readonly [number, number];
  const half = rows / heads / 2;
  const moved = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    const [head, at] = [Math.floor(row / (2 * half)), row % (2 * half)];
    const to = head * 2 * half + (at < half ? 2 * at : 2 * (at - half) + 1);
    moved.set(values.subarray(row * columns, (row + 1) * columns), to * columns);
  }
  return { shape, values: moved };
}

const TYPES = { f32: 0, q8_0: 8, q4_0: 2 } as const;

async function fileOf(type: keyof typeof TYPES): Promise<string> {
  const tensors: GgufTensor[] = [];
  for (const [name, stored] of await weights()) {
    const [, layer, part] = /(?:layers\.(\d+)\.)?(?:self_attn\.|mlp\.)?(\w+)\.weight$/.exec(name) as RegExpExecArray;
    const own = `${layer === undefined ? '' : `blk.${layer}.`}${NAMES[part as string] as string}.weight`;
    const heads = part === 'q_proj' ? 4 : part === 'k_proj' ? 2 : 0;
    const { shape, values } = heads === 0 ? stored : neighbours(stored, heads);
    const isMatrix = shape.length === 2 && type !== 'f32';
    const bytes = isMatrix ? ggmlBlocks(values, type === 'q8_0' ? 8 : 4) : new Uint8Array(values.buffer);
    tensors.push({ name: own, shape, type: isMatrix ? TYPES[type] : 0, bytes });
  }
  const factors = Float32Array.from({ length: 4 }, (_, i) => {
    const turns = (16 * 10_000 ** (-i / 4)) / (2 * Math.PI);
    const smooth = Math.min(1, Math.max(0, (turns - 1) / 3));
    return 1 / ((1 - smooth) / 4 + smooth);
  });
  tensors.push({ name: 'rope_freqs.weight', shape: [4], type: 0, bytes: new Uint8Array(factors.buffer) });
  const path = join(folder, `${type}.gguf`);
  writeFileSync(path, writeGguf({ ...SIZES, ...TOKENS }, tensors));
  return path;
}

describe.each([
  ['cpu', () => new CpuBackend()],
  ['wasm', () => new WasmBackend()],
  ['webgpu', () => new WebGpuBackend()],
])('on %s', (_, create) => {
  const backend = create();
  const quiet = { signal: new AbortController().signal, onProgress: () => undefined };
  beforeAll(() => backend.init());
  afterAll(async () => {
    expect(backend.memory().liveAllocations).toBe(0);
    await backend.dispose();
  });

  async function logitsOf(model: Decoder, ids: Uint32Array): Promise<Float32Array> {
    using cache = model.cache();
    using input = tensor(backend, ids, [1, ids.length]);
    using logits = model.forward(input, cache);
    return (await logits.toArray()) as Float32Array;
  }

  async function reference(): Promise<{ readonly ids: Uint32Array; readonly logits: Float32Array }> {
    const read = await loadSafetensors(backend, readFileSync(join(MODEL, 'reference.safetensors')));
    const ids = Uint32Array.from(await (read['tokens'] as Tensor).toArray());
    const logits = (await (read['logits'] as Tensor).toArray()) as Float32Array;
    for (const each of Object.values(read)) each.dispose();
    return { ids: ids.subarray(0, 8), logits: logits.subarray(0, 96) };
  }

  function worst(got: Float32Array, want: Float32Array): number {
    const largest = Math.max(...want.map(Math.abs));
    return Math.max(...got.map((value, index) => Math.abs(value - (want[index] as number)))) / largest;
  }

  test('floats of a file give the logits of Transformers', async () => {
    const file = await openGguf(fileSource(await fileOf('f32')));
    const { config } = file;
    using model = new Decoder(backend, config, weightsOf(await file.read(backend, quiet), config));
    const { ids, logits } = await reference();
    expect(worst(await logitsOf(model, ids), logits)).toBeLessThan(1e-4);
  });

  test.each(['q8_0', 'q4_0'] as const)('blocks of %s give what the numbers that they stand for give', async (type) => {
    const file = await openGguf(fileSource(await fileOf(type)));
    const { config } = file;
    const named = await file.read(backend, quiet);
    const floats = { ...named };
    for (const [name, weight] of Object.entries(named)) {
      if (!('scales' in weight)) continue;
      const stored = [...(await weight.data.toArray())];
      const codes = weight.dtype === 'i8' ? stored : stored.flatMap((byte) => [(byte & 15) - 8, (byte >> 4) - 8]);
      const scales = await weight.scales.toArray();
      floats[name] = tensor(
        backend,
        codes.map((code, i) => code * (scales[Math.floor(i / 32)] as number)),
        weight.shape,
      );
    }
    const { ids, logits } = await reference();
    const ours = Object.fromEntries(
      Object.entries(named).filter(([name, each]) => floats[name] !== each || 'scales' in each),
    );
    using whole = new Decoder(backend, config, weightsOf(floats, config));
    const want = await logitsOf(whole, ids);
    using model = new Decoder(backend, config, weightsOf({ ...floats, ...ours }, config));
    expect(worst(await logitsOf(model, ids), want)).toBeLessThan(1e-4);
    expect(worst(want, logits)).toBeLessThan(type === 'q8_0' ? 0.05 : 0.6);
  });
});

test('a tokenizer of SentencePiece joins by score, and writes what it has no token for as bytes', async () => {
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  const words = ['▁', 'h', 'e', 'l', 'o', 'he', 'll', 'hell', '▁hello', 'lo', '▁hell', 'hello'];
  const tokens = ['<unk>', '<s>', '</s>', ...bytes, ...words];
  const scores = tokens.map((token) => -(words.indexOf(token) < 0 ? 0 : words.indexOf(token)));
  const path = join(folder, 'words.gguf');
  const types = tokens.map((_, id) => (id < 3 ? 3 : id < 259 ? 6 : 1));
  writeFileSync(
    path,
    writeGguf(
      {
        ...{
          ...SIZES,
          'tokenizer.ggml.model': 'llama',
          'tokenizer.ggml.tokens': tokens,
          'tokenizer.ggml.scores': scores,
        },
        ...{ 'tokenizer.ggml.token_type': types, 'tokenizer.ggml.bos_token_id': 1, 'tokenizer.ggml.eos_token_id': 2 },
        'tokenizer.ggml.eot_token_id': 1,
      },
      [],
    ),
  );
  const { tokenizer, tokenizerConfig, config } = await openGguf(fileSource(path));
  const own = new Tokenizer(tokenizer, tokenizerConfig);
  const shown = own.encode('hello hé', { add_special_tokens: false }).ids.map((id: number) => tokens[id]);
  expect(shown).toEqual(['▁hello', '▁', 'h', '<0xC3>', '<0xA9>']);
  expect(own.decode(own.encode('hello hé', { add_special_tokens: false }).ids)).toBe(' hello hé');
  expect(config.ends).toEqual([2, 1]);
});

test('a model in a file continues a text; a damaged one says so', async () => {
  const json = JSON.parse(readFileSync(join(import.meta.dirname, '../model/tokenizer.json'), 'utf8')) as {
    model: { vocab: Record<string, number>; merges: (string | [string, string])[] };
  };
  const { vocab, merges } = json.model;
  const tokens = Object.keys(vocab).sort((a, b) => (vocab[a] as number) - (vocab[b] as number));
  const random = (shape: readonly number[]): Uint8Array => {
    const length = shape.reduce((all, each) => all * each, 1);
    return new Uint8Array(Float32Array.from({ length }, (_, i) => Math.sin(i * 12.9898) * 0.3).buffer);
  };
  const float = (name: string, ...shape: number[]): GgufTensor => ({ name, shape, type: 0, bytes: random(shape) });
  const block = (layer: number): GgufTensor[] => [
    ...['attn_norm', 'ffn_norm'].map((name) => float(`blk.${layer}.${name}.weight`, 32)),
    ...['attn_q', 'attn_output'].map((name) => float(`blk.${layer}.${name}.weight`, 32, 32)),
    ...['attn_k', 'attn_v'].map((name) => float(`blk.${layer}.${name}.weight`, 16, 32)),
    ...['ffn_gate', 'ffn_up'].map((name) => float(`blk.${layer}.${name}.weight`, 64, 32)),
    float(`blk.${layer}.ffn_down.weight`, 32, 64),
  ];
  const file = writeGguf(
    {
      ...{ ...SIZES, 'tokenizer.ggml.model': 'gpt2', 'tokenizer.ggml.pre': 'gpt-2', 'tokenizer.ggml.tokens': tokens },
      'tokenizer.ggml.merges': merges.map((each) => (typeof each === 'string' ? each : each.join(' '))),
    },
    [float('token_embd.weight', tokens.length, 32), float('output_norm.weight', 32), ...block(0), ...block(1)],
  );
  const path = join(folder, 'whole.gguf');
  writeFileSync(path, file);
  const run = (...args: string[]): ReturnType<typeof runCaptured> =>
    runCaptured(runProgram, ['--backend', 'cpu', '--model', path, '--tokens', '5', '--json', ...args, 'The fox was']);
  const { code, stdout, stderr } = await run();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({ promptTokens: 4, tokens: 5 });
  expect(JSON.parse((await run('--quantize', 'i8')).stdout)).toMatchObject({ quantize: 'i8', tokens: 5 });
  writeFileSync(path, file.subarray(0, file.length - 4096));
  const before = memory().tensors;
  const damaged = await run();
  expect(memory().tensors).toBe(before);
  expect(damaged.code).toBe(2);
  expect(damaged.stderr).toMatch(/whole.gguf: ends within blk.1.ffn_down.weight \(BAD_MODEL\)/);
});
