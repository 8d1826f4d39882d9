import { defineKernel } from '@concord/backend-core/kernel';
import {
  attention,
  empty,
  layerNorm,
  linear,
  permute,
  reshape,
  run,
  slice,
  type Tensor,
  tidy,
  unsqueeze,
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

/** Writes the keys and values of new tokens at their positions. */
const append = defineKernel(
  'append',
  {
    inputs: { x: 'f32', lengths: 'u32' },
    outputs: { cache: { type: 'f32', access: 'scatter', rank: 3, mode: 'set' } },
  },
  ({ x, lengths }, k) => ({
    cache: k.scatter(x, [k.index(0), k.add(k.sub(lengths, k.extent(1)), k.index(1)), k.index(-1)]),
  }),
);

/**
 * One transformer block (Radford et al., Language models are unsupervised multitask learners, 2019):
 * `h = x + Attention(LayerNorm(x))`, then `h + MLP(LayerNorm(h))`, in eight launches.
 *
 * @param x - `[batch, length, width]`
 * @param cache - `[batch, context, 2 width]`: keys and values of all tokens so far; those of `x` are added to it
 * @param lengths - u32 `[batch]`: how many tokens there are with those of `x`
 */
export function transformerBlock(
  x: Tensor,
  block: Block,
  { heads, eps }: BlockSizes,
  cache: Tensor,
  lengths: Tensor,
): Tensor {
  const { norm1, qkv, merge, norm2, up, down } = block;
  const [batch = 1, length = 1, width = 1] = x.shape;
  const context = cache.shape[1] as number;
  return tidy(() => {
    const rows = linear(layerNorm(x, { ...norm1, eps }), qkv.weight, { bias: qkv.bias });
    const added = slice(rows, [null, null, [width, 3 * width]]);
    run(append, { x: added, lengths: unsqueeze(lengths, [1, 2]) }, { shape: added.shape, out: { cache } });
    const byHead = (of: Tensor, tokens: number, parts: number, which: number): Tensor =>
      permute(slice(reshape(of, [batch, tokens, parts, heads, width / heads]), [null, null, which]), [0, 2, 1, 3]);
    const merged = empty(x.backend, [batch, length, heads, width / heads], { dtype: x.dtype });
    attention(byHead(rows, length, 3, 0), byHead(cache, context, 2, 0), byHead(cache, context, 2, 1), {
      ...{ causal: true, lengths, out: permute(merged, [0, 2, 1, 3]) },
    });
    const h = linear(reshape(merged, [batch, length, width]), merge.weight, { bias: merge.bias, residual: x });
    const hidden = linear(layerNorm(h, { ...norm2, eps }), up.weight, { bias: up.bias, activation: 'geluTanh' });
    return linear(hidden, down.weight, { bias: down.bias, residual: h });
  });
}
