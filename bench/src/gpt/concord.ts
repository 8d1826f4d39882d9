import type { ComputeBackend, FloatDType } from '@concord/backend-core';
import { type Cache, type Config, Gpt2 } from '@concord/example-gpt';
import { add, argmax, empty, mul, record, type Recorded, reshape, sub, tensor, type Tensor } from '@concord/ops';
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
  const token = length === 1 ? recordToken(backend, model, mode, cached, given, cache) : undefined;
  let room = 0;
  return {
    async calls(count) {
      const read = token !== undefined && mode === 'read each';
      const once = (call: number): void => {
        if (call === 0 || --room < 0) {
          setLengths(cache, cached);
          room = config.n_positions - cached - 1;
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
      backend.copyHtod(given.ptr, tokensOf(gptCase));
      using logits = model.forward(given, cache);
      return Float32Array.from((await logits.toArray()) as Float32Array);
    },
    async close() {
      token?.dispose();
      for (const each of [given, ...cache.layers, cache.lengths]) each.dispose();
    },
  };
}

function setLengths({ lengths }: Cache, tokens: number): void {
  mul(lengths, 0, { out: lengths });
  add(lengths, tokens, { out: lengths });
}

/**
 * The logits of the next token, which goes where the one before it was if the text grows. If not, a replay is the same
 * token again to the last number, as that of PyTorch's graph is.
 */
export function recordToken(
  backend: ComputeBackend,
  model: Gpt2,
  mode: GptCase['mode'],
  cached: number,
  given: Tensor,
  cache: Cache,
): Recorded<Tensor> {
  setLengths(cache, cached);
  return record(backend, () => {
    if (mode !== 'growing') {
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
function fillCache(backend: ComputeBackend, cache: Cache, config: Config, cached: number, dtype: FloatDType): void {
  const width = config.n_embd;
  for (const [layer, { ptr }] of cache.layers.entries()) {
    const { stored } = cachedRows(config, layer, cached, dtype);
    const pairs = stored.slice(0, cached * 2 * width);
    for (let row = 0; row < cached; row++)
      pairs.set(stored.subarray((3 * row + 1) * width, 3 * (row + 1) * width), 2 * row * width);
    backend.copyHtod(ptr, pairs);
  }
}
