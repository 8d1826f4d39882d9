import { defineKernel } from '@concord/backend-core/kernel';
import { argmax, cast, empty, full, reshape, run, slice, type Tensor, tidy, topK } from '@concord/ops';

/** Below it logits over the temperature are beyond float32; there is one likely token anyway. */
const MIN_TEMPERATURE = 1e-6;

/** The choice of the next token. */
export interface Sampling {
  /** 0: the most likely one. */
  readonly temperature: number;
  /** Choose among this number of the most likely ones; undefined: all. */
  readonly topK?: number | undefined;
  /** Choose among the fewest likely ones that have this share of the probability; undefined: all. */
  readonly topP?: number | undefined;
  readonly seed: number;
}

/**
 * The largest of `logit / temperature + g`, g from the standard Gumbel distribution, is distributed as the softmax of the
 * logits over the temperature (Gumbel 1954): one fold, and the choice never leaves the device.
 */
const draw = defineKernel(
  'draw',
  {
    inputs: { logits: 'f32', least: { type: 'f32', level: 'row' }, step: { type: 'u32', level: 'row' } },
    params: { coldness: 'f32', seed: 'u32' },
  },
  ({ logits, least, step, coldness, seed }, k) => {
    const place = k.add(k.mul(k.rowIndex(0), k.extent(-1)), k.index(-1));
    // 23 bits and a half are exact, so that no number is 0 or 1, whose noise would be infinite.
    const uniform = k.mul(k.add(k.toF32(k.shr(k.random(seed, place, step), 9)), 0.5), 2 ** -23);
    const gumbel = k.neg(k.log(k.neg(k.log(uniform))));
    const score = k.add(k.mul(logits, coldness), gumbel);
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
  { inputs: { logits: 'f32', least: { type: 'f32', level: 'row' } }, params: { coldness: 'f32', share: 'f32' } },
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

/**
 * The token that follows, `[batch, 1]` u32, chosen on the device.
 *
 * @param logits - `[batch, vocabulary]`
 * @param step - u32 `[batch]`: a number that differs for each choice of a text, so that each gets its own random numbers
 * @param out - filled instead of a new tensor
 */
export function sample(logits: Tensor, sampling: Sampling, step: Tensor, out?: Tensor): Tensor {
  const { temperature, topK: k, topP, seed } = sampling;
  const [batch = 1] = logits.shape;
  return tidy(() => {
    const tokens = out ?? empty(logits.backend, [batch, 1], { dtype: 'u32' });
    const token = reshape(tokens, [batch]);
    if (temperature < MIN_TEMPERATURE) {
      argmax(logits, { axis: -1, out: token });
      return tokens;
    }
    const least = k === undefined ? full(logits.backend, [batch], -Infinity) : leastOf(logits, k);
    const coldness = 1 / temperature;
    const isWhole = topP === undefined || topP >= 1;
    const among = isWhole ? logits : run(nucleus, { logits, least }, { params: { coldness, share: topP } }).kept;
    run(draw, { logits: among, least, step }, { params: { coldness, seed }, out: { token } });
    return tokens;
  });
}

/** The k-th largest of each row. */
function leastOf(logits: Tensor, k: number): Tensor {
  const { values } = topK(cast(logits, 'f32'), Math.min(k, logits.shape.at(-1) as number));
  return slice(values, [null, -1]);
}
