import { toF16Array } from '@concord/backend-core';
import { type GptCase, tokensOf } from '../gpt/cases.ts';
import { cachedRows } from '../gpt/weights.ts';

/** Added to the score of a key that a query must not see: its exponential is zero, and f16 can hold it. */
const HIDDEN = -60_000;

/** Elements of an input, of f16 its bits. */
export type InputData = Float32Array | Uint16Array | Int32Array;

/**
 * The inputs of {@link gpt2Graph} that are no weights, by their names.
 *
 * @param form - elements of the case's type, or the same numbers in float32
 */
export function gpt2Inputs(gptCase: GptCase, form: 'numbers' | 'stored'): Record<string, InputData> {
  const { config, dtype, length, cached } = gptCase;
  const shaped = (values: Float32Array): InputData => {
    return form === 'stored' && dtype === 'f16' ? toF16Array(values) : values;
  };
  const inputs: Record<string, InputData> = {
    ids: Int32Array.from(tokensOf(gptCase)),
    positions: Int32Array.from({ length }, (_, i) => cached + i),
    scale: shaped(Float32Array.of(1 / Math.sqrt(config.n_embd / config.n_head))),
  };
  if (length > 1) inputs['mask'] = shaped(causalMask(length));
  for (let layer = 0; cached > 0 && layer < config.n_layer; layer++) {
    const rows = cachedRows(config, layer, cached, dtype)[form];
    inputs[`keys.${layer}`] = byHeads(rows, config, cached, 1);
    inputs[`values.${layer}`] = byHeads(rows, config, cached, 2);
  }
  return inputs;
}

/** `[length, length]`: the numbers added to the score of a key (column) for a query (row). */
export function causalMask(length: number): Float32Array {
  return Float32Array.from({ length: length * length }, (_, i) => (i % length > Math.floor(i / length) ? HIDDEN : 0));
}

/** `[heads, cached, head]` of the keys (1) or values (2) in rows `[cached, 3 width]`. */
export function byHeads<T extends Float32Array | Uint16Array>(
  rows: T,
  { n_embd: width, n_head: heads }: Pick<GptCase['config'], 'n_embd' | 'n_head'>,
  cached: number,
  part: 1 | 2,
): T {
  const size = width / heads;
  const out = rows.slice(0, cached * width) as T;
  for (let head = 0; head < heads; head++) {
    for (let token = 0; token < cached; token++) {
      const from = (token * 3 + part) * width + head * size;
      out.set(rows.subarray(from, from + size), (head * cached + token) * size);
    }
  }
  return out;
}
