import { attention, layerNorm, linear, permute, reshape, slice, type Tensor, tidy, transpose } from '@concord/ops';

/** A layer norm's factors and what it adds, `[width]` each. */
export interface Norm {
  readonly weight: Tensor;
  readonly bias: Tensor;
}

/** A product's weights, `[in, out]` as GPT-2's files have them, and what it adds. */
export interface Projection {
  readonly weight: Tensor;
  readonly bias: Tensor;
}

/** One block's weights. */
export interface Block {
  readonly norm1: Norm;
  /** Queries, keys and values of all heads side by side: `[width, 3 width]`. */
  readonly qkv: Projection;
  readonly merge: Projection;
  readonly norm2: Norm;
  readonly up: Projection;
  readonly down: Projection;
}

/** The sizes that a block must know. */
export interface BlockSizes {
  readonly heads: number;
  readonly eps: number;
}

/**
 * One transformer block (Radford et al., Language models are unsupervised multitask learners, 2019):
 * `h = x + Attention(LayerNorm(x))`, then `h + MLP(LayerNorm(h))`, in seven launches.
 *
 * @param x - `[batch, length, width]`
 * @param cache - `[batch, context, 3 width]`: queries, keys and values of all tokens so far; those of `x` go to row `at`
 */
export function transformerBlock(
  x: Tensor,
  block: Block,
  cache: Tensor,
  at: number,
  { heads, eps }: BlockSizes,
): Tensor {
  const [batch = 1, length = 1, width = 1] = x.shape;
  const end = at + length;
  return tidy(() => {
    project(layerNorm(x, { ...block.norm1, eps }), block.qkv, { out: slice(cache, [null, [at, end]]) });
    const rows = reshape(cache, [batch, cache.shape[1] as number, 3, heads, width / heads]);
    const part = (which: number, from: number): Tensor =>
      permute(slice(rows, [null, [from, end], which]), [0, 2, 1, 3]);
    const attended = attention(part(0, at), part(1, 0), part(2, 0), { causal: true });
    const merged = reshape(permute(attended, [0, 2, 1, 3]), [batch, length, width]);

    const h = project(merged, block.merge, { residual: x });
    const hidden = project(layerNorm(h, { ...block.norm2, eps }), block.up, { activation: 'geluTanh' });
    return project(hidden, block.down, { residual: h });
  });
}

function project(x: Tensor, { weight, bias }: Projection, options: Parameters<typeof linear>[2]): Tensor {
  return linear(x, transpose(weight), { bias, ...options });
}
