import { tensor, type Tensor } from '@concord/ops';
import type { Gpt2 } from './gpt2.ts';
import { sample, type Sampling } from './sample.ts';

/** How a text goes on. */
export interface GenerateOptions extends Sampling {
  /** Tokens to generate at most; fewer where the text ends or the model's context is full. */
  readonly tokens: number;
  readonly signal?: AbortSignal;
  /** Told when the prompt is on the device and understood. */
  readonly onPrefill?: () => void;
}

/** Tokens whose choice the host has not read yet: the device works on them while the host asks for the next ones. */
const AHEAD = 4;

/**
 * The tokens that follow a prompt, as they come. Each is chosen on the device and fed to the next step there, so that
 * nothing waits for the host.
 *
 * @param prompt - at least one token, fewer than the model's context
 */
export async function* generate(
  model: Gpt2,
  prompt: readonly number[],
  { tokens, signal, onPrefill, ...sampling }: GenerateOptions,
): AsyncGenerator<number, void, undefined> {
  const { n_positions: context, eos_token_id: end } = model.config;
  const count = Math.min(tokens, context - prompt.length);
  const cache = model.cache(1, prompt.length + count);
  const waiting: Promise<number>[] = [];
  let ids = tensor(model.backend, Uint32Array.from(prompt), [1, prompt.length]);
  try {
    for (let step = 0; step < count + AHEAD; step++) {
      if (step < count) {
        signal?.throwIfAborted();
        ids = nextToken(model, ids, cache, sampling, step);
        const read = readToken(ids, signal);
        // Whoever awaits it hears of a failure; until then it is not unhandled.
        read.catch(() => undefined);
        waiting.push(read);
        if (step === 0) {
          await waiting[0];
          onPrefill?.();
        }
      }
      if (step < AHEAD && step < count) continue;
      const token = await waiting.shift();
      if (token === undefined || token === end) return;
      yield token;
    }
  } finally {
    ids.dispose();
    await Promise.allSettled(waiting);
    for (const layer of cache.layers) layer.dispose();
  }
}

/** One step: the tokens go into the cache, which is as long as all of them then. */
function nextToken(
  model: Gpt2,
  ids: Tensor,
  cache: ReturnType<Gpt2['cache']>,
  sampling: Sampling,
  step: number,
): Tensor {
  using before = ids;
  using logits = model.forward(before, cache);
  return sample(logits, sampling, step);
}

async function readToken(ids: Tensor, signal: AbortSignal | undefined): Promise<number> {
  return (await ids.toArray(signal === undefined ? {} : { signal }))[0] as number;
}
