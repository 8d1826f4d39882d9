import { defineKernel } from '@concord/backend-core/kernel';
import { cast, full, reshape, run, slice, type Tensor, tidy, topK } from '@concord/ops';

/** Below it logits over the temperature are beyond float32; there is one likely token anyway. */
const MIN_TEMPERATURE = 1e-6;

/** The choice of the next token. */
export interface Sampling {
  /** 0: the most likely one. */
  readonly temperature: number;
  /** Choose among the fewest likely ones that have this share of the probability; undefined: all. */
  readonly topP?: number | undefined;
  readonly seed: number;
}

/** What the choice of each text of a batch goes by, on the device: `[batch]` each. */
export interface Choice {
  readonly coldness: Tensor;
  /** 0: the most likely token, 1: drawn. */
  readonly noise: Tensor;
  readonly share: Tensor;
  readonly seed: Tensor;
}

/** The numbers of {@link Choice} for one text. */
export function numbersOf({ temperature, topP = 1, seed }: Sampling): { readonly [Name in keyof Choice]: number } {
  const isDrawn = temperature >= MIN_TEMPERATURE;
  return { coldness: isDrawn ? 1 / temperature : 1, noise: Number(isDrawn), share: Math.min(topP, 1), seed };
}

const ROW = { type: 'f32', level: 'row' } as const;
const COUNTER = { type: 'u32', level: 'row' } as const;

/**
 * The largest of `logit / temperature + g`, g from the standard Gumbel distribution, is distributed as the softmax of the
 * logits over the temperature (Gumbel 1954): one fold, and the choice never leaves the device.
 */
const draw = defineKernel(
  'draw',
  { inputs: { logits: 'f32', least: ROW, coldness: ROW, noise: ROW, seed: COUNTER, step: COUNTER } },
  ({ logits, least, coldness, noise, seed, step }, k) => {
    // 23 bits and a half are exact, so that no number is 0 or 1, whose noise would be infinite.
    const uniform = k.mul(k.add(k.toF32(k.shr(k.random(seed, k.index(-1), step), 9)), 0.5), 2 ** -23);
    const gumbel = k.neg(k.log(k.neg(k.log(uniform))));
    const score = k.add(k.mul(logits, coldness), k.mul(gumbel, noise));
    return { token: k.fold('argmax', k.select(k.ge(logits, least), score, -Infinity)) };
  },
);

/** Halvings of the span of logits in which the least one of a nucleus is looked for. */
const HALVINGS = 24;
/** Logits that much below the largest are never in it: all of a vocabulary together have no share. */
const SPAN = 40;

/** The logits of the nucleus (Holtzman et al., The curious case of neural text degeneration, 2020), the others -Infinity. */
const nucleus = defineKernel(
  'nucleus',
  { inputs: { logits: 'f32', least: ROW, coldness: ROW, share: ROW } },
  ({ logits, least, coldness, share }, k) => {
    const score = k.select(k.ge(logits, least), k.mul(logits, coldness), -Infinity);
    const below = k.sub(score, k.fold('max', score));
    const chance = k.exp(below);
    const wanted = k.mul(share, k.fold('sum', chance));
    let [low, high] = [k.f32(-SPAN), k.f32(0)];
    for (let halving = 0; halving < HALVINGS; halving++) {
      const middle = k.mul(k.add(low, high), 0.5);
      const isEnough = k.ge(k.fold('sum', k.select(k.ge(below, middle), chance, 0)), wanted);
      low = k.select(isEnough, middle, low);
      high = k.select(isEnough, high, middle);
    }
    return { kept: k.select(k.ge(below, low), logits, -Infinity) };
  },
);

/** Options of {@link sample}. */
export interface SampleOptions {
  /** Whether any text has a share below 1. */
  readonly hasNucleus: boolean;
  /** Choose among this number of the most likely ones; undefined: all. */
  readonly topK?: number | undefined;
}

/**
 * Chooses the tokens that follow, on the device.
 *
 * @param logits - `[batch, vocabulary]`
 * @param step - u32 `[batch]`: a number that differs for each choice of a text; a seed and a step always draw the same
 * @param out - u32 `[batch, 1]`, filled with them
 */
export function sample(logits: Tensor, choice: Choice, step: Tensor, out: Tensor, options: SampleOptions): void {
  const [batch = 1, vocabulary = 1] = logits.shape;
  const { coldness, noise, share, seed } = choice;
  tidy(() => {
    const { topK: k } = options;
    const least =
      k === undefined
        ? full(logits.backend, [batch], -Infinity)
        : slice(topK(cast(logits, 'f32'), Math.min(k, vocabulary)).values, [null, -1]);
    const among = options.hasNucleus ? run(nucleus, { logits, least, coldness, share }).kept : logits;
    run(draw, { logits: among, least, coldness, noise, seed, step }, { out: { token: reshape(out, [batch]) } });
  });
}
