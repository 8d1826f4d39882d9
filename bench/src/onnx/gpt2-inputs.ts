import { type GptCase, tokensOf } from '../gpt/cases.ts';
import { cachedRows } from '../gpt/weights.ts';

/** What is added to the score of a key that a query must not see: the exponential of it is zero, and f16 can hold it. */
const HIDDEN = -60_000;

/** The inputs of {@link gpt2Graph} that are no weights, by their names; those of f16 as the numbers that it can hold. */
export function gpt2Inputs(gptCase: GptCase): Record<string, Float32Array | Int32Array> {
  const { config, dtype, length, cached } = gptCase;
  const inputs: Record<string, Float32Array | Int32Array> = {
    ids: Int32Array.from(tokensOf(gptCase)),
    positions: Int32Array.from({ length }, (_, i) => cached + i),
    scale: Float32Array.of(1 / Math.sqrt(config.n_embd / config.n_head)),
  };
  if (length > 1) inputs['mask'] = causalMask(length);
  for (let layer = 0; cached > 0 && layer < config.n_layer; layer++) {
    const rows = cachedRows(config, layer, cached, dtype);
    inputs[`keys.${layer}`] = byHeads(rows, config, cached, 1);
    inputs[`values.${layer}`] = byHeads(rows, config, cached, 2);
  }
  return inputs;
}

/** `[length, length]`: what is added to the score of a key (column) for a query (row). */
export function causalMask(length: number): Float32Array {
  return Float32Array.from({ length: length * length }, (_, i) => (i % length > Math.floor(i / length) ? HIDDEN : 0));
}

/** `[heads, cached, head]` of one of the three parts of rows `[cached, 3 width]`. */
export function byHeads(
  rows: Float32Array,
  { n_embd: width, n_head: heads }: GptCase['config'],
  cached: number,
  part: 1 | 2,
): Float32Array {
  const size = width / heads;
  const out = new Float32Array(cached * width);
  for (let head = 0; head < heads; head++) {
    for (let token = 0; token < cached; token++) {
      const from = (token * 3 + part) * width + head * size;
      out.set(rows.subarray(from, from + size), (head * cached + token) * size);
    }
  }
  return out;
}
