import {
  type Anew,
  attention,
  empty,
  layerNorm,
  linear,
  permute,
  reshape,
  slice,
  type Tensor,
  tidy,
} from '@concord/ops';

/** A layer norm's factors and what it adds, `[width]` each. */
export interface Norm {
  readonly weight: Tensor;
  readonly bias: Tensor;
}

/** A product's weights, `[out, in]`, and what it adds. */
export interface Projection {
  readonly weight: Tensor;
  readonly bias: Tensor;
}

/** One block's weights. */
export interface Block {
  readonly norm1: Norm;
  /** Queries, keys and values of all heads side by side: `[3 width, width]`. */
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
 * @param cache - `[batch, context, 3 width]`: queries, keys and values of all tokens so far; those of `x` go to the next rows
 * @param tokens - how many there are so far
 * @param anew - runs what depends on that, in a recording at each replay
 */
export function transformerBlock(
  x: Tensor,
  block: Block,
  { heads, eps }: BlockSizes,
  cache: Tensor,
  tokens: () => number,
  anew: Anew,
): Tensor {
  const { norm1, qkv, merge, norm2, up, down } = block;
  const [batch = 1, length = 1, width = 1] = x.shape;
  return tidy(() => {
    const normed = layerNorm(x, { ...norm1, eps });
    const merged = empty(x.backend, [batch, length, heads, width / heads], { dtype: x.dtype });
    const rows = reshape(cache, [batch, cache.shape[1] as number, 3, heads, width / heads]);
    anew(() => {
      const [at, end] = [tokens(), tokens() + length];
      linear(normed, qkv.weight, { bias: qkv.bias, out: slice(cache, [null, [at, end]]) });
      const part = (which: number, from: number): Tensor =>
        permute(slice(rows, [null, [from, end], which]), [0, 2, 1, 3]);
      attention(part(0, at), part(1, 0), part(2, 0), { causal: true, out: permute(merged, [0, 2, 1, 3]) });
    });
    const h = linear(reshape(merged, [batch, length, width]), merge.weight, { bias: merge.bias, residual: x });
    const hidden = linear(layerNorm(h, { ...norm2, eps }), up.weight, { bias: up.bias, activation: 'geluTanh' });
    return linear(hidden, down.weight, { bias: down.bias, residual: h });
  });
}
