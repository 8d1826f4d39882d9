import type { ComputeBackend, DType } from '@concord/backend-core';
import { UserError } from '@concord/example-command/user-error';
import { type ByteSource, empty, fromGguf, type GgufType, type OpenBytes, readBytes } from '@concord/ops';
import { GGMLQuantizationType, gguf, type GGUFTensorInfo } from '@huggingface/gguf';
import { type Config, parseConfig } from './config.ts';
import type { Matrix } from './weights.ts';

type Metadata = Readonly<Record<string, unknown>>;

/** Types of tensors that are read as they are, and those of blocks. */
const FLOATS: Readonly<Record<number, DType>> = {
  ...{ [GGMLQuantizationType.F32]: 'f32', [GGMLQuantizationType.F16]: 'f16', [GGMLQuantizationType.BF16]: 'bf16' },
};
const BLOCKS: Readonly<Record<number, readonly [type: GgufType, elements: number, bytes: number]>> = {
  [GGMLQuantizationType.Q8_0]: ['q8_0', 32, 34],
  [GGMLQuantizationType.Q4_0]: ['q4_0', 32, 18],
  [GGMLQuantizationType.Q4_1]: ['q4_1', 32, 20],
  [GGMLQuantizationType.Q4_K]: ['q4_K', 256, 144],
  [GGMLQuantizationType.Q6_K]: ['q6_K', 256, 210],
};

/** Names of tensors in Transformers' files, by those of GGUF. */
const NAMES: Readonly<Record<string, string>> = {
  ...{ token_embd: 'embed_tokens', output_norm: 'norm', output: 'lm_head' },
  ...{ attn_norm: 'input_layernorm', ffn_norm: 'post_attention_layernorm' },
  ...{ attn_q: 'self_attn.q_proj', attn_k: 'self_attn.k_proj', attn_v: 'self_attn.v_proj' },
  ...{ attn_output: 'self_attn.o_proj', attn_q_norm: 'self_attn.q_norm', attn_k_norm: 'self_attn.k_norm' },
  ...{ ffn_gate: 'mlp.gate_proj', ffn_up: 'mlp.up_proj', ffn_down: 'mlp.down_proj' },
};

/** Kinds of models that are read from GGUF. */
const KINDS = ['llama', 'qwen2', 'qwen3'];

/** The factors that rotary frequencies are divided by. */
const FACTORS = 'rope_freqs.weight';

/** A GGUF file: one file with sizes, tokenizer and weights. */
export interface GgufFile {
  readonly config: Config;
  /** In the form of a `tokenizer.json`. */
  readonly tokenizer: object;
  readonly tokenizerConfig: object;
  /** The weights on a device, by Transformers' names. One tensor at a time is on the host. */
  read(backend: ComputeBackend, options: GgufLoadOptions): Promise<Record<string, Matrix>>;
}

/** Options of {@link GgufFile.read}. */
export interface GgufLoadOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (loadedBytes: number, totalBytes: number) => void;
}

/**
 * Reads what a GGUF file says of itself.
 *
 * @throws {UserError} BAD_MODEL for a damaged file, another kind of model or tokenizer
 */
export async function openGguf(source: ByteSource): Promise<GgufFile> {
  const refuse = (why: string): UserError => new UserError('BAD_MODEL', `${source.name}: ${why}`);
  await using head = await opened(source);
  /** What the parser asks for are ranges, from the front to the back. */
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    const [from = 0, to = 0] = (new Headers(init?.headers).get('range') ?? '').match(/\d+/g)?.map(Number) ?? [];
    return new Response((await readBytes(head.bytes, from, to + 1)) as Uint8Array<ArrayBuffer>);
  };
  const { metadata, tensorInfos, tensorDataOffset } = await gguf('https://file.invalid', { fetch }).catch(
    (error: Error) => {
      throw refuse(error.message);
    },
  );
  const read = metadata as unknown as Metadata;
  const bytesOf = async (info: GGUFTensorInfo, from: OpenBytes): Promise<Uint8Array> => {
    const [start, size] = [Number(tensorDataOffset + info.offset), sizeOf(info, refuse)];
    const bytes = await readBytes(from, start, start + size);
    if (bytes.length < size) throw refuse(`ends within ${info.name}`);
    return bytes;
  };
  const factors = tensorInfos.find(({ name }) => name === FACTORS);
  const divisors = factors && new Float32Array((await bytesOf(factors, head.bytes)).slice().buffer);
  return {
    config: configOf(read, source.name, divisors),
    ...tokenizerOf(read, refuse),
    async read(backend, { signal, onProgress }) {
      const weights: Record<string, Matrix> = {};
      const wanted = tensorInfos.filter(({ name }) => name !== FACTORS).sort((a, b) => Number(a.offset - b.offset));
      const total = wanted.reduce((sum, info) => sum + sizeOf(info, refuse), 0);
      let loaded = 0;
      try {
        await using all = await opened(source, signal);
        for (const info of wanted) {
          signal.throwIfAborted();
          const bytes = await bytesOf(info, all.bytes);
          weights[nameOf(info.name)] = upload(backend, info, bytes);
          // Else all of them wait on the host.
          await backend.synchronize();
          onProgress((loaded += bytes.length), total);
        }
        return weights;
      } catch (error) {
        for (const each of Object.values(weights)) each.dispose();
        throw error;
      }
    },
  };
}

async function opened(
  source: ByteSource,
  signal?: AbortSignal,
): Promise<AsyncDisposable & { readonly bytes: OpenBytes }> {
  const bytes = await source.open(signal);
  return { bytes, [Symbol.asyncDispose]: () => bytes.close() };
}

function upload(backend: ComputeBackend, { shape: sizes, dtype: type }: GGUFTensorInfo, bytes: Uint8Array): Matrix {
  const shape = sizes.map(Number).reverse();
  const blocks = BLOCKS[type];
  if (blocks !== undefined) return fromGguf(backend, { type: blocks[0], shape, bytes });
  const own = empty(backend, shape, { dtype: FLOATS[type] as DType });
  backend.copyHtod(own.ptr, bytes);
  return own;
}

function sizeOf({ name, shape, dtype }: GGUFTensorInfo, refuse: (why: string) => UserError): number {
  const elements = shape.reduce((all, each) => all * Number(each), 1);
  const [type, each, bytes] = BLOCKS[dtype] ?? [];
  if (type !== undefined) return (elements / (each as number)) * (bytes as number);
  const float = FLOATS[dtype];
  if (float === undefined)
    throw refuse(`${name} is stored as ${GGMLQuantizationType[dtype] ?? dtype}, which is not read here`);
  return elements * (float === 'f32' ? 4 : 2);
}

function nameOf(name: string): string {
  const [, layer, part = name] = /^blk\.(\d+)\.(.+)$/.exec(name) ?? [];
  const dot = part.lastIndexOf('.');
  const own = `${NAMES[part.slice(0, dot)] ?? part.slice(0, dot)}${part.slice(dot)}`;
  return layer === undefined ? own : `layers.${layer}.${own}`;
}

function configOf(metadata: Metadata, path: string, factors: Float32Array | undefined): Config {
  const kind = metadata['general.architecture'];
  const own = (name: string): unknown => {
    const value = metadata[`${String(kind)}.${name}`];
    return typeof value === 'bigint' ? Number(value) : value;
  };
  const config = parseConfig(
    {
      // Others name their tensors in another way there.
      model_type: KINDS.includes(kind as string) ? kind : `${String(kind)} as GGUF`,
      hidden_size: own('embedding_length'),
      num_hidden_layers: own('block_count'),
      num_attention_heads: own('attention.head_count'),
      num_key_value_heads: own('attention.head_count_kv'),
      head_dim: own('attention.key_length'),
      max_position_embeddings: own('context_length'),
      rms_norm_eps: own('attention.layer_norm_rms_epsilon'),
      rope_theta: own('rope.freq_base'),
      sliding_window: own('attention.sliding_window'),
      eos_token_id: [metadata['tokenizer.ggml.eos_token_id'], metadata['tokenizer.ggml.eot_token_id']].flat(),
      rope_scaling: {
        rope_type: own('rope.scaling.type') === 'none' ? 'default' : own('rope.scaling.type'),
        factor: own('rope.scaling.factor'),
        original_max_position_embeddings: own('rope.scaling.original_context_length'),
      },
    },
    path,
  );
  const divided = (each: number, i: number): number => each / (factors?.[i] ?? 1);
  const layers = config.layers.map((layer) => ({ ...layer, frequencies: layer.frequencies?.map(divided) }));
  // llama.cpp orders the rows of queries and keys so that neighbours are a pair, for this kind alone.
  return { ...config, layers, interleaved: kind === 'llama' };
}

/** What parts a text into words before byte-level BPE, by `tokenizer.ggml.pre`. */
const SPLITS: Readonly<Record<string, string>> = {
  'llama-bpe':
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  qwen2:
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  'gpt-2': "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
  smollm: "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
};

/** Tokens that are never parts of words: those that steer, and those that a model's author added. */
const WHOLE = new Set([3, 4]);

function tokenizerOf(
  metadata: Metadata,
  refuse: (why: string) => UserError,
): Pick<GgufFile, 'tokenizer' | 'tokenizerConfig'> {
  const own = (name: string): unknown => metadata[`tokenizer.ggml.${name}`];
  const tokens = own('tokens') as readonly string[] | undefined;
  if (!Array.isArray(tokens)) throw refuse('has no tokens');
  const types = (own('token_type') ?? []) as readonly number[];
  const added = tokens.flatMap((content, id) =>
    WHOLE.has(types[id] as number) ? [{ id, content, special: types[id] === 3 }] : [],
  );
  const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
  const shared = { version: '1.0', added_tokens: added, post_processor: null };
  const kind = own('model');
  const first = own('bos_token_id');
  const tokenizerConfig = {
    chat_template: own('chat_template') ?? metadata['tokenizer.chat_template'],
    bos_token: typeof first === 'number' ? tokens[first] : undefined,
    add_bos_token: own('add_bos_token') ?? kind === 'llama',
  };
  if (kind === 'gpt2') {
    const split = SPLITS[(own('pre') ?? 'gpt-2') as string];
    if (split === undefined) throw refuse(`parts words as ${JSON.stringify(own('pre'))}, which is not known here`);
    const words = { type: 'Split', pattern: { Regex: split }, behavior: 'Isolated', invert: false };
    const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false };
    const model = { type: 'BPE', vocab, merges: own('merges') };
    const tokenizer = {
      ...shared,
      model,
      normalizer: null,
      pre_tokenizer: { type: 'Sequence', pretokenizers: [words, bytes] },
      decoder: bytes,
    };
    return { tokenizer, tokenizerConfig };
  }
  if (kind !== 'llama') throw refuse(`has a tokenizer of the kind ${JSON.stringify(kind)}`);
  const model = {
    type: 'BPE',
    vocab,
    merges: mergesOf(tokens, (own('scores') ?? []) as readonly number[], vocab),
    byte_fallback: true,
    unk_token: tokens[0],
  };
  const replace = (from: string, content: string): object => ({ type: 'Replace', pattern: { String: from }, content });
  const normalizers = [
    ...(own('add_space_prefix') === false ? [] : [{ type: 'Prepend', prepend: '▁' }]),
    replace(' ', '▁'),
  ];
  const decoders = [replace('▁', ' '), { type: 'ByteFallback' }, { type: 'Fuse' }];
  return {
    tokenizer: {
      ...shared,
      model,
      normalizer: { type: 'Sequence', normalizers },
      pre_tokenizer: null,
      decoder: { type: 'Sequence', decoders },
    },
    tokenizerConfig,
  };
}

/** SentencePiece joins the two neighbours whose token has the highest score; as ranked merges, that is each way to part a token. */
function mergesOf(
  tokens: readonly string[],
  scores: readonly number[],
  vocab: Readonly<Record<string, number>>,
): string[][] {
  const ranked = tokens.map((token, id) => ({ token, score: scores[id] ?? 0 })).sort((a, b) => b.score - a.score);
  return ranked.flatMap(({ token }) => {
    const letters = Array.from(token);
    const parted = letters.slice(1).map((_, i) => [letters.slice(0, i + 1).join(''), letters.slice(i + 1).join('')]);
    return parted.filter((pair) => pair.every((part) => Object.hasOwn(vocab, part)));
  });
}
