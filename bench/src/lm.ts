import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { ComputeBackend, FloatDType } from '@concord/backend-core';
import { WasmBackend } from '@concord/backend-wasm';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { type Cache, Decoder, type NamedWeights, parseConfig, weightsOf } from '@concord/example-lm';
import { full, quantizeWeight, randomUniform, slice, tensor, tidy } from '@concord/ops';
import { deviceOf, slugOf, startDevice } from './device.ts';
import { sizeOf } from './gpt/cases.ts';
import { prepareDecoder, setLengths } from './gpt/concord.ts';
import { torchContestants, torchEntries, torchTimes } from './limits/torch.ts';
import { finishModel, measureModel, type PreparedModel, QUICK, WHOLE, WHOLE_ON_CPU } from './models.ts';
import { MODEL_OPTIONS, oneOf, positive, UsageError } from './options.ts';
import { type CaseResult, contestantResult, resultsParent } from './results.ts';

type WeightType = 'i4' | 'i8' | 'bf16';

/** The sizes of a Llama, by the names of its `config.json`. */
interface Shape {
  readonly hidden_size: number;
  readonly intermediate_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
  readonly vocab_size: number;
  readonly tie_word_embeddings: boolean;
}

/** Published shapes, and a tiny one for a software device, whose numbers mean nothing. */
const SHAPES: Readonly<Record<string, Shape>> = {
  'llama-3.2-1b': shape([2048, 8192], 16, [32, 8], 128_256, true),
  'llama-3.1-8b': shape([4096, 14_336], 32, [32, 8], 128_256, false),
  'smollm2-135m': shape([576, 1536], 30, [9, 3], 49_152, true),
  tiny: shape([128, 256], 2, [4, 2], 512, true),
};

function shape(
  [hidden_size, intermediate_size]: readonly [number, number],
  num_hidden_layers: number,
  [num_attention_heads, num_key_value_heads]: readonly [number, number],
  vocab_size: number,
  tie_word_embeddings: boolean,
): Shape {
  const heads = { num_attention_heads, num_key_value_heads };
  return { hidden_size, intermediate_size, num_hidden_layers, ...heads, vocab_size, tie_word_embeddings };
}

/** Models of a whole run. */
const WHOLES: Readonly<Record<'webgpu' | 'wasm', readonly (readonly [model: string, weights: WeightType])[]>> = {
  webgpu: [
    ['llama-3.2-1b', 'i4'],
    ['llama-3.2-1b', 'bf16'],
    ['llama-3.1-8b', 'i4'],
  ],
  wasm: [
    ['smollm2-135m', 'i4'],
    ['smollm2-135m', 'i8'],
  ],
};

/** Tokens before the first one that is generated. */
const CACHED = { whole: 1024, tiny: 32 };
/** Places after them. */
const ROOM = 256;

/** A work of a model. */
interface Work {
  readonly op: 'lm_decode' | 'lm_prefill';
  readonly name: string;
  readonly batch: number;
  readonly length: number;
  readonly cached: number;
}

function worksOf(model: string, weights: WeightType, isGpu: boolean): readonly Work[] {
  const cached = model === 'tiny' ? CACHED.tiny : CACHED.whole;
  const name = `${model} ${weights}`;
  const decode = { op: 'lm_decode', length: 1, cached } as const;
  return [
    { ...decode, name: `${name} from ${cached} on`, batch: 1 },
    ...(isGpu ? [{ ...decode, name: `${name}, 16 texts from ${cached} on`, batch: 16 }] : []),
    { op: 'lm_prefill', name: `${name} 1x${cached}`, batch: 1, length: cached, cached: 0 },
  ];
}

/**
 * Times the decoder of `examples/lm` with random weights of published shapes. Options: see the help in main.ts.
 *
 * @returns whether all results are there and right
 */
export async function benchLm(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...MODEL_OPTIONS,
      backend: { type: 'string', default: 'webgpu' },
      model: { type: 'string' },
      weights: { type: 'string' },
      threads: { type: 'string' },
    },
  });
  const backendName = oneOf('--backend', values.backend, ['webgpu', 'wasm'] as const);
  const isGpu = backendName === 'webgpu';
  if (!isGpu && (values.torch || values.limit !== undefined || values.device !== undefined))
    throw new UsageError('--torch, --limit and --device are for WebGPU');
  if (isGpu && values.threads !== undefined) throw new UsageError('--threads is for --backend wasm');
  const whole = WHOLES[backendName];
  const model = values.model === undefined ? undefined : oneOf('--model', values.model, Object.keys(SHAPES));
  const weights =
    values.weights === undefined ? undefined : oneOf('--weights', values.weights, ['i4', 'i8', 'bf16'] as const);
  const models = whole.filter(([name, type]) => (model ?? name) === name && (weights ?? type) === type);
  if (models.length === 0) models.push([model ?? 'tiny', weights ?? 'i4']);
  const torch = isGpu ? await torchTimes(['torch_lm.py'], values.torch, values.limit) : undefined;
  const threads = values.threads === undefined ? availableParallelism() : positive('--threads', values.threads);
  const create = (): ComputeBackend => (isGpu ? new WebGpuBackend({ dawn: {} }) : new WasmBackend({ threads }));
  const device = isGpu ? await startDevice(values.device) : await deviceOf(create());
  const schedule = model === 'tiny' ? QUICK : isGpu ? WHOLE : WHOLE_ON_CPU;
  const cases: CaseResult[] = [];
  for (const [name, type] of models) {
    for await (const result of casesOf(create, name, type, isGpu ? 'f16' : 'f32', schedule)) {
      const theirs = torchEntries(torch, { op: result.op, name: result.case }, 'torch graph');
      const both = { ...result, entries: [...theirs, ...result.entries] };
      cases.push(both);
      if (values.json) console.log(JSON.stringify(both));
      else console.error(both.case);
    }
  }
  const version = `@concord/backend-${backendName} and examples/lm, this checkout`;
  const remark = 'compared with the logits that the same text gives when it is read at once, or but for its last token';
  return finishModel('lm', {
    ...{ arena: isGpu ? `webgpu-${slugOf(device.name)}` : `wasm-${threads}`, device, schedule, cases },
    isPrinted: !values.json,
    contestants: [
      contestantResult({ name: 'concord', role: 'ours', version, remark }),
      ...torchContestants(torch, 'torch graph'),
    ],
    parent: resultsParent(values.out, model === undefined && weights === undefined),
  });
}

async function* casesOf(
  create: () => ComputeBackend,
  name: string,
  weights: WeightType,
  dtype: FloatDType,
  schedule: typeof QUICK | typeof WHOLE | typeof WHOLE_ON_CPU,
): AsyncGenerator<CaseResult> {
  const backend = create();
  await backend.init();
  try {
    const shape = SHAPES[name] as Shape;
    using model = await load(backend, shape, weights, dtype);
    for (const work of worksOf(name, weights, backend.name !== 'wasm')) {
      const tokens = tokensOf(shape, work.batch, work.cached + work.length);
      const reference = await referenceOf(model, work, tokens);
      const prepare = (): Promise<PreparedModel> => prepareWork(model, work, tokens);
      const entries = await measureModel(dtype, new Map([['concord', prepare]]), reference, schedule);
      yield { op: work.op, case: work.name, traffic: trafficOf(shape, weights, work, dtype), entries };
    }
  } finally {
    await backend.dispose();
  }
}

/** Weights as a published file has them, in [-0.035, 0.035), drawn and rounded on the device. */
async function load(backend: ComputeBackend, shape: Shape, type: WeightType, dtype: FloatDType): Promise<Decoder> {
  const named: Record<string, NamedWeights[string]> = {};
  for (const [seed, [name, [rows, columns]]] of matrices(shape).entries()) {
    const floats = type === 'bf16' ? type : 'f32';
    const drawn = randomUniform(backend, [rows, columns], { seed, low: -0.035, high: 0.035, dtype: floats });
    if (type === 'bf16') named[name] = drawn;
    else {
      named[name] = quantizeWeight(drawn, { dtype: type === 'i4' ? 'u4' : 'i8', dtypeScales: 'f16' });
      drawn.dispose();
      await backend.synchronize();
    }
  }
  const vectors = Array.from({ length: shape.num_hidden_layers }, (_, layer) => [
    `model.layers.${layer}.input_layernorm.weight`,
    `model.layers.${layer}.post_attention_layernorm.weight`,
  ]).flat();
  for (const name of ['model.norm.weight', ...vectors]) named[name] = full(backend, [shape.hidden_size], 1);
  const config = parseConfig(
    { ...shape, model_type: 'llama', max_position_embeddings: 4096, rope_theta: 500_000, rms_norm_eps: 1e-5 },
    'the case',
  );
  return new Decoder(backend, config, weightsOf(named, config, { dtype }), dtype);
}

/** The matrices of a model by their names in its files. */
function matrices(shape: Shape): readonly (readonly [name: string, shape: readonly [number, number]])[] {
  const { hidden_size: d, intermediate_size: hidden, num_hidden_layers: layers, vocab_size: vocabulary } = shape;
  const kv = (d / shape.num_attention_heads) * shape.num_key_value_heads;
  return [
    ['model.embed_tokens.weight', [vocabulary, d]],
    ...(shape.tie_word_embeddings ? [] : [['lm_head.weight', [vocabulary, d]] as const]),
    ...Array.from({ length: layers }, (_, layer) => {
      const of = (part: string, rows: number, columns: number) =>
        [`model.layers.${layer}.${part}_proj.weight`, [rows, columns]] as const;
      const attention = [of('self_attn.q', d, d), of('self_attn.k', kv, d), of('self_attn.v', kv, d)];
      const mlp = [of('mlp.gate', hidden, d), of('mlp.up', hidden, d), of('mlp.down', d, hidden)];
      return [...attention, of('self_attn.o', d, d), ...mlp];
    }).flat(),
  ];
}

function tokensOf({ vocab_size }: Shape, batch: number, length: number): Uint32Array {
  return Uint32Array.from({ length: batch * length }, (_, i) => (i * 7919 + 5) % vocab_size);
}

/** A cache that has read the first tokens of each text. */
function readFirst(model: Decoder, { batch }: Work, tokens: Uint32Array, count: number): Cache {
  const cache = model.cache(batch, tokens.length / batch + ROOM);
  setLengths(cache, 0);
  if (count === 0) return cache;
  tidy(() => {
    const all = tensor(model.backend, tokens, [batch, tokens.length / batch]);
    model.forward(slice(all, [null, [0, count]]), cache);
  });
  return cache;
}

async function prepareWork(model: Decoder, work: Work, tokens: Uint32Array): Promise<PreparedModel> {
  const { batch, length, cached } = work;
  const cache = readFirst(model, work, tokens, cached);
  const own = Uint32Array.from({ length: batch * length }, (_, i) => {
    const [text, at] = [Math.floor(i / length), i % length];
    return tokens[text * (cached + length) + cached + at] as number;
  });
  return prepareDecoder(model, cache, { tokens: own, batch, length, cached, mode: 'generating' });
}

/** The logits of the same texts, read at once where the work is their last tokens, else but for the last token. */
async function referenceOf(model: Decoder, work: Work, tokens: Uint32Array): Promise<Float32Array> {
  const length = tokens.length / work.batch;
  const first = work.length === 1 ? 0 : length - 1;
  using cache = readFirst(model, work, tokens, first);
  using logits = tidy(() => {
    const all = tensor(model.backend, tokens, [work.batch, length]);
    return model.forward(slice(all, [null, [first, length]]), cache);
  });
  return Float32Array.from((await logits.toArray()) as Float32Array);
}

/** Bytes of the weights, each once, and of the cache. */
function trafficOf(shape: Shape, weights: WeightType, { batch, cached }: Work, dtype: FloatDType): number {
  const bits = { i4: 4.5, i8: 8.5, bf16: 16 }[weights];
  const count = matrices(shape).reduce((sum, [, each]) => sum + sizeOf(each), 0);
  const perToken = (2 * shape.hidden_size * shape.num_key_value_heads) / shape.num_attention_heads;
  const cache = shape.num_hidden_layers * batch * cached * perToken * (dtype === 'f16' ? 2 : 4);
  return (count * bits) / 8 + cache;
}
