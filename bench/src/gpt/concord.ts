import type { ComputeBackend, FloatDType } from '@concord/backend-core';
import { type Cache, type Config, Gpt2 } from '@concord/example-gpt';
import { argmax, empty, record, type Recorded, reshape, tensor, type Tensor } from '@concord/ops';
import { cachedRows, type GptCase, type GptContestant, type GptModel, gptWeights, tokensOf } from './cases.ts';
import { hostMsOf, type PreparedModel } from '../models/measure.ts';

/** The GPT-2 of `examples/gpt` on a backend of this package. */
export function concordGpt(name: string, create: () => ComputeBackend): GptContestant {
  return {
    name: 'concord',
    role: 'ours',
    version: `${name} and examples/gpt, this checkout`,
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
  const model = new Gpt2(config, weights);
  return {
    prepare: async (gptCase) => prepare(backend, model, gptCase),
    close: async () => {
      model.dispose();
      await backend.dispose();
    },
  };
}

function prepare(backend: ComputeBackend, model: Gpt2, gptCase: GptCase): PreparedModel {
  const { config, batch, length, cached, mode, dtype } = gptCase;
  const given = tensor(backend, tokensOf(gptCase), [batch, length]);
  const cache = model.cache(batch);
  if (cached > 0) fillCache(backend, cache, config, cached, dtype);
  const word = new Float32Array(1);
  // As generate does: a text is read once, its tokens follow each other.
  const token = length === 1 ? recordToken(backend, model, gptCase, given, cache) : undefined;
  return {
    async calls(count) {
      const read = token !== undefined && mode === 'read each';
      const once = (call: number): void => {
        if (mode !== 'growing' || call === 0 || cache.length === config.n_positions) cache.length = cached;
        if (token === undefined) model.forward(given, cache).dispose();
        else token.replay();
      };
      const hostMs = await hostMsOf(count, once, read ? () => backend.copyDtoh(word, token.result.ptr) : undefined);
      await backend.synchronize();
      return hostMs;
    },
    async outputs() {
      cache.length = cached;
      // A text that grows has put its last token there.
      backend.copyHtod(given.ptr, tokensOf(gptCase));
      using logits = model.forward(given, cache);
      return Float32Array.from((await logits.toArray()) as Float32Array);
    },
    async close() {
      token?.dispose();
      given.dispose();
      for (const layer of cache.layers) layer.dispose();
    },
  };
}

/**
 * The logits of the next token, which goes where the one before it was if the text grows. If not, a replay is the same
 * token again to the last number, as that of PyTorch's graph is.
 */
export function recordToken(
  backend: ComputeBackend,
  model: Gpt2,
  { mode, batch, cached }: Pick<GptCase, 'mode' | 'batch' | 'cached'>,
  given: Tensor,
  cache: Cache,
): Recorded<Tensor> {
  cache.length = cached;
  return record(backend, (anew) => {
    if (mode !== 'growing') return model.forward(given, cache);
    const logits = model.forward(given, cache, anew);
    argmax(logits, { axis: -1, out: reshape(given, [batch]) });
    return logits;
  });
}

function fillCache(backend: ComputeBackend, cache: Cache, config: Config, cached: number, dtype: FloatDType): void {
  for (const [layer, { ptr }] of cache.layers.entries()) {
    backend.copyHtod(ptr, cachedRows(config, layer, cached, dtype).stored);
  }
}
