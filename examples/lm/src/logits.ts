import {
  add,
  attention,
  embedding,
  layerNorm,
  linear,
  type LinearOptions,
  mul,
  permute,
  reshape,
  rmsNorm,
  rope,
  slice,
  swiglu,
  tanh,
  tensor,
  type Tensor,
  tidy,
} from '@concord/ops';
import type { Config, Layer } from './config.ts';
import type { Block, Norm, Product, Weights } from './weights.ts';

/**
 * The logits of what follows each token, `[batch, length, vocabulary]`, without a cache: for training, where all of it has a
 * gradient.
 *
 * @param ids - u32 `[batch, length]`: texts from their first tokens on
 */
export function logitsOf(config: Config, weights: Omit<Weights, 'dispose'>, ids: Tensor): Tensor {
  const { embedScale, softcap, eps } = config;
  const norm = (x: Tensor, { weight, bias }: Norm): Tensor =>
    bias === undefined ? rmsNorm(x, { weight, eps }) : layerNorm(x, { weight, bias, eps });
  return tidy(() => {
    const tokens = embedding(ids, weights.tokens as Tensor);
    const { positions } = weights;
    let x = positions === undefined ? tokens : add(tokens, slice(positions, [[0, ids.shape[1] as number]]));
    if (embedScale !== 1) x = mul(x, embedScale);
    for (const [layer, block] of weights.blocks.entries()) {
      const added = (to: Tensor, after: Norm | undefined, become: (residual: LinearOptions) => Tensor): Tensor =>
        after === undefined ? become({ residual: to }) : add(to, norm(become({}), after));
      const heads = attend(config, config.layers[layer] as Layer, block, norm, norm(x, block.norm1));
      const h = added(x, block.after1, (residual) => project(heads, block.merge, residual));
      x = added(h, block.after2, (residual) => mlp(config, block, norm(h, block.norm2), residual));
    }
    const logits = project(norm(x, weights.norm), weights.head);
    return softcap.logits === undefined ? logits : mul(tanh(mul(logits, 1 / softcap.logits)), softcap.logits);
  });
}

/** What attention makes of a block's tokens, `[batch, length, heads headDim]`. */
function attend(
  { heads, kvHeads, headDim, interleaved, softcap }: Config,
  { scale, window, frequencies: given }: Layer,
  { qkv, qNorm, kNorm }: Block,
  norm: (x: Tensor, norm: Norm) => Tensor,
  x: Tensor,
): Tensor {
  const [batch = 1, length = 1] = x.shape;
  const rows = qkv.map((product) => project(x, product));
  const part = (index: number, first: number, count: number): Tensor => {
    const [all] = rows as [Tensor];
    const own =
      rows.length > 1
        ? (rows[index] as Tensor)
        : slice(all, [null, null, [first * headDim, (first + count) * headDim]]);
    return reshape(own, [batch, length, count, headDim]);
  };
  const byHead = (of: Tensor): Tensor => permute(of, [0, 2, 1, 3]);
  let [q, k] = [part(0, 0, heads), part(1, heads, kvHeads)];
  const v = part(2, heads + kvHeads, kvHeads);
  if (qNorm !== undefined) q = norm(q, qNorm);
  if (kNorm !== undefined) k = norm(k, kNorm);
  let [inQ, inK] = [byHead(q), byHead(k)];
  if (given !== undefined) {
    const frequencies = tensor(x.backend, given);
    [inQ, inK] = [rope(inQ, { frequencies, interleaved }), rope(inK, { frequencies, interleaved })];
  }
  const limits = { ...(window && { window }), ...(softcap.scores && { softcap: softcap.scores }) };
  const merged = attention(inQ, inK, byHead(v), { causal: true, scale, ...limits });
  return reshape(byHead(merged), [batch, length, heads * headDim]);
}

/** What the two or three products after attention make of a block's tokens, with the rest of the block added. */
export function mlp({ activation }: Config, { gate, up, down }: Block, x: Tensor, residual: LinearOptions): Tensor {
  if (gate === undefined) return project(project(x, up as Product, { activation }), down, residual);
  if (!gate.bias) return project(swiglu(x, gate.weight, up?.weight ?? null, { activation }), down, residual);
  return project(mul(project(x, gate, { activation }), project(x, up as Product)), down, residual);
}

/** A product of a block. */
export function project(x: Tensor, { weight, bias }: Product, options: LinearOptions = {}): Tensor {
  return linear(x, weight, { ...options, bias });
}
