import type { FloatDType } from '@concord/backend-core';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { type Cache, type Config, Gpt2 } from '@concord/example-gpt';
import { argmax, empty, reshape, tensor, type Tensor, tidy } from '@concord/ops';
import { type GptCase, tokensOf } from './cases.ts';
import type { GptContestant, GptModel } from './contestant.ts';
import type { PreparedModel } from '../models/prepared.ts';
import { cachedRows, gptWeights } from './weights.ts';

/** The GPT-2 of `examples/gpt` on the WebGPU backend, on a Dawn of its own. */
export const concordGpt: GptContestant = {
  name: 'concord',
  role: 'ours',
  version: '@concord/backend-webgpu and examples/gpt, this checkout',
  async load(config, dtype): Promise<GptModel> {
    const backend = new WebGpuBackend({ dawn: {} });
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
  },
};

function prepare(backend: WebGpuBackend, model: Gpt2, gptCase: GptCase): PreparedModel {
  const { config, batch, length, cached, mode, dtype } = gptCase;
  const given = tensor(backend, tokensOf(gptCase), [batch, length]);
  const cache = model.cache(batch);
  if (cached > 0) fillCache(backend, cache, config, cached, dtype);
  const word = new Float32Array(1);
  const step = async (ids: Tensor): Promise<{ next: Tensor; hostMs: number }> => {
    const start = performance.now();
    using logits = model.forward(ids, cache);
    const next = mode === 'growing' ? tidy(() => reshape(argmax(logits, { axis: -1 }), [batch, 1])) : ids;
    const hostMs = performance.now() - start;
    if (mode === 'read each') await backend.copyDtoh(word, logits.ptr);
    return { next, hostMs };
  };
  return {
    async calls(count) {
      let hostMs = 0;
      let ids = given;
      cache.length = cached;
      for (let call = 0; call < count; call++) {
        if (mode !== 'growing' || cache.length === config.n_positions) cache.length = cached;
        const done = await step(ids);
        hostMs += done.hostMs;
        if (ids !== given && ids !== done.next) ids.dispose();
        ids = done.next;
      }
      await backend.synchronize();
      if (ids !== given) ids.dispose();
      return hostMs;
    },
    async outputs() {
      cache.length = cached;
      using logits = model.forward(given, cache);
      return Float32Array.from((await logits.toArray()) as Float32Array);
    },
    async close() {
      given.dispose();
      for (const layer of cache.layers) layer.dispose();
    },
  };
}

function fillCache(backend: WebGpuBackend, cache: Cache, config: Config, cached: number, dtype: FloatDType): void {
  for (const [layer, { ptr }] of cache.layers.entries()) {
    backend.copyHtod(ptr, cachedRows(config, layer, cached, dtype).stored);
  }
}
