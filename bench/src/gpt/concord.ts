import type { ComputeBackend, FloatDType } from '@concord/backend-core';
import { type Cache, Decoder, parseConfig, weightsOf } from '@concord/example-lm';
import { add, argmax, empty, mul, record, type Recorded, reshape, sub, tensor, type Tensor } from '@concord/ops';
import {
  cachedRows,
  type Config,
  type GptCase,
  type GptContestant,
  type GptModel,
  gptWeights,
  tokensOf,
} from './cases.ts';
import { hostMsOf, type PreparedModel } from '../models.ts';

/** The GPT-2 of `examples/lm` on a backend of this package. */
export function concordGpt(name: string, create: () => ComputeBackend): GptContestant {
  return {
    name: 'concord',
    role: 'ours',
    version: `${name} and examples/lm, this checkout`,
    load: async (config, dtype) => load(create(), config, dtype),
  };
}

async function load(backend: ComputeBackend, config: Config, dtype: FloatDType): Promise<GptModel> {
  await backend.init();
  const weights: Record<string, Tensor> = {};
  for (const { name, shape, elements } of gptWeights(config)) {
    const weight = empty(backend, shape, { dtype });
    backend.copyHtod(weight.ptr, elements(dtype).stored);
    weights[name] = weight;
    // Else all of them wait on the host.
    await backend.synchronize();
  }
  const model = gpt2(backend, config, weights, dtype);
  return {
    prepare: async (gptCase) => prepare(backend, model, gptCase),
    close: async () => {
      model.dispose();
      await backend.dispose();
    },
  };
}

function prepare(backend: ComputeBackend, model: Decoder, gptCase: GptCase): PreparedModel {
  const { config, batch, length, cached, mode, dtype } = gptCase;
  const cache = model.cache(batch);
  if (cached > 0) fillCache(backend, cache, config, cached, dtype);
  return prepareDecoder(model, cache, { tokens: tokensOf(gptCase), batch, length, cached, mode });
}

/** The work of a decoder. */
export interface DecoderWork extends Pick<GptCase, 'batch' | 'length' | 'cached' | 'mode'> {
  /** The new tokens, row-major. */
  readonly tokens: Uint32Array;
}

/** Makes the work of a decoder ready, whose cache has the tokens before it; a text grows until the cache is full. */
export function prepareDecoder(model: Decoder, cache: Cache, work: DecoderWork): PreparedModel {
  const { backend } = model;
  const { tokens, batch, length, cached, mode } = work;
  const context = cache.layers[0]?.[0].shape[1] ?? 0;
  const given = tensor(backend, tokens, [batch, length]);
  const word = new Float32Array(1);
  // As generate does: a text is read once, its tokens follow each other.
  const token = length === 1 ? recordToken(backend, model, mode, cached, given, cache) : undefined;
  let room = 0;
  return {
    async calls(count) {
      const read = token !== undefined && mode === 'read each';
      const once = (call: number): void => {
        if (call === 0 || --room < 0) {
          setLengths(cache, cached);
          room = context - cached - 1;
        }
        if (token === undefined) {
          setLengths(cache, cached);
          model.forward(given, cache).dispose();
        } else token.replay();
      };
      const hostMs = await hostMsOf(count, once, read ? () => backend.copyDtoh(word, token.result.ptr) : undefined);
      await backend.synchronize();
      return hostMs;
    },
    async outputs() {
      setLengths(cache, cached);
      // A text that grows has put its last token there.
      backend.copyHtod(given.ptr, tokens);
      using logits = model.forward(given, cache);
      return Float32Array.from((await logits.toArray()) as Float32Array);
    },
    async close() {
      token?.dispose();
      given.dispose();
      cache[Symbol.dispose]();
    },
  };
}

export function setLengths({ lengths }: Cache, tokens: number): void {
  mul(lengths, 0, { out: lengths });
  add(lengths, tokens, { out: lengths });
}

/**
 * The logits of the next token, which goes where the one before it was if the text grows. If not, a replay is the same
 * token again to the last number, as that of PyTorch's graph is.
 */
export function recordToken(
  backend: ComputeBackend,
  model: Decoder,
  mode: GptCase['mode'],
  cached: number,
  given: Tensor,
  cache: Cache,
): Recorded<Tensor> {
  setLengths(cache, cached);
  return record(backend, () => {
    if (mode !== 'generating') {
      const logits = model.forward(given, cache);
      sub(cache.lengths, 1, { out: cache.lengths });
      return logits;
    }
    const logits = model.forward(given, cache);
    argmax(logits, { axis: -1, out: reshape(given, [given.shape[0] as number]) });
    return logits;
  });
}

/** Keys and values of the tokens before those of a case; the rows that it has hold queries too. */
function fillCache(
  backend: ComputeBackend,
  { layers }: Cache,
  config: Config,
  cached: number,
  dtype: FloatDType,
): void {
  const width = config.n_embd;
  for (const [layer, pair] of layers.entries()) {
    const { stored } = cachedRows(config, layer, cached, dtype);
    for (const [at, { ptr }] of pair.entries()) {
      const own = stored.slice(0, cached * width);
      for (let row = 0; row < cached; row++) {
        const from = (3 * row + 1 + at) * width;
        own.set(stored.subarray(from, from + width), row * width);
      }
      backend.copyHtod(ptr, own);
    }
  }
}

/** The decoder of GPT-2's weights. */
export function gpt2(
  backend: ComputeBackend,
  config: Config,
  weights: Readonly<Record<string, Tensor>>,
  dtype: FloatDType = 'f32',
): Decoder {
  const own = parseConfig({ ...config }, 'the case');
  return new Decoder(backend, own, weightsOf(weights, own), dtype);
}
