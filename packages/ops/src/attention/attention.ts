import type { AttentionCall } from '@concord/backend-core';
import { type OutOption, produceRows } from '../compute/produce.ts';
import { checkProduct } from '../products/matmul.ts';
import { allocate } from '../tensor/allocate.ts';
import { checkOptions, checkTensors, type OptionKinds, OUT } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { broadcastShapes, broadcastStrides, sameShape } from '../tensor/shape.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { fillWith } from '../create/full.ts';
import { permute } from '../views/permute.ts';
import { pack } from '../views/pack.ts';

/** Options of {@link attention}. */
export interface AttentionOptions extends OutOption {
  /** Factor of the products of queries and keys. Default `1 / sqrt(headDim)`. */
  readonly scale?: number;
  /** Query i sees key j only when `j <= i + offset`. Default false. */
  readonly causal?: boolean;
  /** Place of query 0 among the keys, such as the length of a cache before it. Default: the last query sees the last key. */
  readonly offset?: number;
  /** f32, added to the scores; broadcasts to `[batch, heads, queries, keys]`; -Infinity hides a key. */
  readonly mask?: Tensor | undefined;
  /** Query i sees key j only when `j > i + offset - window`. Default: no limit. */
  readonly window?: number;
  /** Turns a score s into `softcap tanh(s / softcap)`. Default: none. */
  readonly softcap?: number;
}

const OPTIONS: OptionKinds = {
  ...OUT,
  ...{ scale: 'number', causal: 'boolean', offset: 'number', mask: 'tensor', window: 'number', softcap: 'number' },
};

/**
 * `softmax(scale Q K^T + mask) V` for each head: q is `[batch, heads, queries, headDim]`, k and v `[batch, kvHeads, keys,
 * headDim]`, the result like q. `kvHeads` divides `heads`: each serves as many consecutive ones. Views with dense rows,
 * such as parts of one product or of a cache, are not copied. f32 or f16. A query that sees no key gives 0.
 *
 * The result lies in memory as `[batch, queries, heads, headDim]`, so that `reshape(permute(o, [0, 2, 1, 3]), [batch,
 * queries, heads * headDim])` puts the heads side by side without a copy.
 *
 * Vaswani et al., Attention is all you need, 2017; Ainslie et al., GQA, 2023; PyTorch's scaled_dot_product_attention, but
 * for `causal` with fewer queries than keys: here the queries are the last ones.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not fit
 * @throws {BackendError} UNSUPPORTED for a headDim above `capabilities.limits.maxHeadDim`
 * @example
 * ```ts
 * const q = tensor(backend, [[[[1, 0], [0, 1]]]]);
 * const v = tensor(backend, [[[[1, 2], [3, 4]]]]);
 * await attention(q, q, v, { causal: true }).toArray(); // [1, 2, 2.3395, 3.3395]
 * ```
 */
export function attention(q: Tensor, k: Tensor, v: Tensor, options: AttentionOptions = {}): Tensor {
  checkTensors('attention', { q, k, v });
  checkOptions('attention', options, OPTIONS);
  const dtype = checkProduct('attention', [q, k, v]);
  const [batch = 0, heads = 0, seqQ = 0, headDim = 0] = q.shape;
  const [, kvHeads = 0, seqKv = 0] = k.shape;
  const fits = q.rank === 4 && sameShape(k.shape, [batch, kvHeads, seqKv, headDim]) && sameShape(v.shape, k.shape);
  if (!fits || (kvHeads === 0 ? heads > 0 : heads % kvHeads !== 0)) {
    const shapes = [q, k, v].map((each) => shapeText(each.shape)).join(', ');
    throw refuse('attention', `q, k, v must be [batch, heads, length, headDim], k and v alike, got ${shapes}`);
  }
  const { scale = 1 / Math.sqrt(Math.max(1, headDim)), causal = false, offset = seqKv - seqQ } = options;
  const { mask, window, softcap } = options;
  const scores = [batch, heads, seqQ, seqKv];
  return tidy(() => {
    const merged =
      options.out ?? permute(allocate('attention', q.backend, [batch, seqQ, heads, headDim], dtype), [0, 2, 1, 3]);
    return produceRows(
      'attention',
      mask === undefined ? [q, k, v] : [q, k, v, mask],
      q.shape,
      dtype,
      { out: merged },
      (result) => {
        if (result.size === 0) return;
        // No query sees a key.
        if (seqKv === 0) return fillWith('attention', result, 0);
        const inQ = withDenseRows(q);
        const inK = withDenseRows(k);
        const inV = withDenseRows(v);
        const call: AttentionCall = {
          batch,
          heads,
          kvHeads,
          seqQ,
          seqKv,
          headDim,
          scale,
          causal,
          causalOffset: offset,
          dtype,
          q: inQ.ptr,
          k: inK.ptr,
          v: inV.ptr,
          o: result.ptr,
          strides: { q: rowsOf(inQ), k: rowsOf(inK), v: rowsOf(inV), o: rowsOf(result) },
          ...(mask === undefined ? {} : { mask: maskOf(mask, scores) }),
          ...(window === undefined ? {} : { window }),
          ...(softcap === undefined ? {} : { softcap }),
        };
        launch('attention', [q, k, v], () => q.backend.attention(call));
      },
    );
  });
}

function withDenseRows(x: Tensor): Tensor {
  return x.strides[3] === 1 || x.shape[3] === 1 ? x : pack(x);
}

function rowsOf({ strides }: Tensor): readonly [number, number, number] {
  const [batch = 0, head = 0, row = 0] = strides;
  return [batch, head, row];
}

function maskOf(mask: Tensor, scores: readonly number[]): NonNullable<AttentionCall['mask']> {
  const both = broadcastShapes(mask.shape, scores);
  if (mask.dtype !== 'f32' || both === undefined || !sameShape(both, scores)) {
    const wanted = `f32 and broadcast to [batch, heads, queries, keys], ${shapeText(scores)}`;
    throw refuse('attention', `mask must be ${wanted}, got ${mask.dtype}${shapeText(mask.shape)}`);
  }
  const [batch = 0, head = 0, query = 0, key = 0] = broadcastStrides(mask.shape, mask.strides, scores);
  return { ptr: mask.ptr, strides: [batch, head, query, key] };
}
