import { record, type Recorded, tensor, type Tensor } from '@concord/ops';
import type { Cache, Gpt2 } from '@concord/example-gpt-model';
import { isGreedy, sample, type Sampling } from './sample.ts';

/** Options of {@link generate}. */
export interface GenerateOptions extends Sampling {
  /** The maximum number of tokens to generate; fewer where the text ends or the model's context is full. */
  readonly tokens: number;
  readonly signal?: AbortSignal;
  /** Told when the prompt is on the device and understood. */
  readonly onPrefill?: () => void;
}

/** Tokens whose choice the host has not read yet: the device works on them while the host asks for the next ones. */
const AHEAD = 4;

/**
 * The tokens that follow a prompt, as they come. Each is chosen on the device and fed to the next step there, so that
 * nothing waits for the host. All steps but the first are one recording.
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
  const text: Text = { cache, sampling, choices: 0 };
  using given = tensor(model.backend, Uint32Array.from(prompt), [1, prompt.length]);
  let ids: Tensor | undefined;
  let next: Recorded<unknown> | undefined;
  try {
    for (let step = 0; step < count + AHEAD; step++) {
      if (step < count) {
        signal?.throwIfAborted();
        if (ids === undefined) ids = firstToken(model, given, text);
        else if (next === undefined) next = recordStep(model, ids, text);
        else next.replay();
        const read = readToken(ids, signal);
        // The caller that awaits it gets a failure; until then it is not unhandled.
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
    await Promise.allSettled(waiting);
    next?.dispose();
    ids?.dispose();
    for (const layer of cache.layers) layer.dispose();
  }
}

/** A text on the device. */
interface Text {
  readonly cache: Cache;
  readonly sampling: Sampling;
  /** Tokens that were chosen so far. */
  choices: number;
}

function firstToken(model: Gpt2, prompt: Tensor, { cache, sampling }: Text): Tensor {
  using logits = model.forward(prompt, cache);
  return sample(logits, sampling, 0);
}

/** Chooses the token after the one in `ids`, in its place, and again in each replay. */
function recordStep(model: Gpt2, ids: Tensor, text: Text): Recorded<unknown> {
  const { cache, sampling } = text;
  return record(model.backend, (anew) => {
    const logits = model.forward(ids, cache, anew);
    const choose = (): void => {
      sample(logits, sampling, ++text.choices, ids);
    };
    if (isGreedy(sampling)) choose();
    else anew(choose);
  });
}

async function readToken(ids: Tensor, signal: AbortSignal | undefined): Promise<number> {
  return (await ids.toArray(signal === undefined ? {} : { signal }))[0] as number;
}
