import { record, type Recorded, tensor, type Tensor } from '@concord/ops';
import type { Decoder } from './decoder.ts';
import { sample, type Sampling } from './sample.ts';

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
  model: Decoder,
  prompt: readonly number[],
  { tokens, signal, onPrefill, ...sampling }: GenerateOptions,
): AsyncGenerator<number, void, undefined> {
  const { context, ends } = model.config;
  const count = Math.min(tokens, context - prompt.length);
  const cache = model.cache(1, prompt.length + count);
  const waiting: Promise<number>[] = [];
  using given = tensor(model.backend, Uint32Array.from(prompt), [1, prompt.length]);
  const choose = (input: Tensor, out?: Tensor): Tensor => {
    using logits = model.forward(input, cache);
    return sample(logits, sampling, cache.lengths, out);
  };
  let ids: Tensor | undefined;
  let next: Recorded<Tensor> | undefined;
  try {
    for (let step = 0; step < count + AHEAD; step++) {
      if (step < count) {
        signal?.throwIfAborted();
        if (ids === undefined) ids = choose(given);
        else if (next === undefined) {
          const last = ids;
          next = record(model.backend, () => choose(last, last));
        } else next.replay();
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
      if (token === undefined || ends.includes(token)) return;
      yield token;
    }
  } finally {
    await Promise.allSettled(waiting);
    next?.dispose();
    ids?.dispose();
    cache[Symbol.dispose]();
  }
}

async function readToken(ids: Tensor, signal: AbortSignal | undefined): Promise<number> {
  return (await ids.toArray(signal === undefined ? {} : { signal }))[0] as number;
}
