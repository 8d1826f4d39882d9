import type {
  AttentionShape,
  AttentionViews,
  BatchView,
  StoredFloatDType,
  FloatDType,
  MaskView,
} from '@concord/backend-core';
import { launchOp, plannedLaunch } from '../compute/launches.ts';
import { type Plan, Plans, producePlanned } from '../compute/plans.ts';
import { checkOut, checkSameBackend, hasRows, isApart, type OutOption, produceRows } from '../compute/produce.ts';
import { checkProduct } from '../products/matmul.ts';
import { allocateAs } from '../tensor/allocate.ts';
import { checkOptions, checkTensors, type OptionKinds, OUT } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { type SharedLayout, sharedLayout } from '../tensor/layout.ts';
import { broadcastShapes, broadcastStrides, sameShape } from '../tensor/shape.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { fillWith } from '../create/full.ts';
import { pack } from '../views/pack.ts';

/** Options of {@link attention}. */
export interface AttentionOptions extends OutOption {
  /** Factor of the products of queries and keys. Default `1 / sqrt(headDim)`. */
  readonly scale?: number;
  /** Query i sees key j only when `j <= i + offset`. Default false. */
  readonly causal?: boolean;
  /** Place of query 0 among the keys, such as the length of a cache before it. Default: the last query sees the last key. */
  readonly offset?: number;
  /**
   * The number of keys of each batch that exist, u32 `[batch]` or one number. The place of a batch's last query is that
   * of its last key, or `offset` places more. It stays on the device: a recorded step sees the lengths of the replay.
   */
  readonly lengths?: Tensor | undefined;
  /** i32, `[batch]` or one number: place of query 0 among the keys, instead of `offset`. */
  readonly starts?: Tensor | undefined;
  /**
   * Broadcasts to `[batch, heads, queries, keys]`. f32 or the dtype of q: added to the scores, -Infinity hides a key. u8, as
   * comparisons give it: 0 hides a key.
   */
  readonly mask?: Tensor | undefined;
  /** f32, `[batch, heads, queries]`, dense: is filled with log of the sum of exp(score), -Infinity for a query that sees no key. */
  readonly lse?: Tensor | undefined;
  /** Query i sees key j only when `j > i + offset - window`. Default: no limit. */
  readonly window?: number;
  /** Turns a score s into `softcap tanh(s / softcap)`. Default: none. */
  readonly softcap?: number;
}

const OPTIONS: OptionKinds = {
  ...OUT,
  ...{
    scale: 'number',
    causal: 'boolean',
    offset: 'number',
    mask: 'tensor',
    lengths: 'tensor',
    starts: 'tensor',
    lse: 'tensor',
    window: 'number',
    softcap: 'number',
  },
};

/**
 * `softmax(scale Q K^T + mask) V` for each head: q is `[batch, heads, queries, headDim]`, k `[batch, kvHeads, keys,
 * headDim]`, v `[batch, kvHeads, keys, valueDim]`, the result `[batch, heads, queries, valueDim]`. `kvHeads` divides `heads`: each serves as many consecutive ones. Views with dense rows,
 * such as parts of one product or of a cache, are not copied. f32 or f16; of f32 queries, keys and values may also be f16 or bf16, both alike. A query that sees no key gives 0.
 *
 * The result lies in memory as `[batch, queries, heads, valueDim]`, so that `reshape(permute(o, [0, 2, 1, 3]), [batch,
 * queries, heads * valueDim])` puts the heads side by side without a copy.
 *
 * Vaswani et al., Attention is all you need, 2017; Ainslie et al., GQA, 2023; PyTorch's scaled_dot_product_attention, but
 * for `causal` with fewer queries than keys: here the queries are the last ones.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not fit
 * @throws {BackendError} UNSUPPORTED for a headDim or valueDim above `capabilities.limits.maxHeadDim`
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
  // Each is read once: what is kept by a key follows from that key alone.
  const { mask, lengths, starts, lse, out, scale, causal, offset, window, softcap } = options;
  const asked = { mask, lengths, starts, lse, out, scale, causal, offset, window, softcap };
  const operands = [q, k, v];
  for (const each of [mask, lengths, starts, lse]) if (each !== undefined) operands.push(each);
  checkSameBackend('attention', q.backend, operands);
  const ids = [q.layout.id, k.layout.id, v.layout.id, mask?.layout.id ?? 0, out?.layout.id ?? 0];
  ids.push(lengths?.layout.id ?? 0, starts?.layout.id ?? 0, lse?.layout.id ?? 0);
  const { plan, dtype, shape } = forms.of(q.backend, [...ids, scale, causal, offset, window, softcap], () =>
    formOf(q, k, v, asked),
  );
  if (plan !== undefined && (out === undefined || isApart(out, operands))) {
    return producePlanned('attention', q.backend, plan, operands, out);
  }
  return tidy(() => {
    const into = out ?? allocateAs('attention', q.backend, mergedLayout(shape, dtype));
    return produceRows('attention', operands as [Tensor, ...Tensor[]], shape, dtype, { out: into }, (result) => {
      if (result.size === 0) return;
      // No query sees a key.
      if (k.shape[2] === 0) {
        if (lse !== undefined) fillWith('attention', lse, -Infinity);
        return fillWith('attention', result, 0);
      }
      const [inQ, inK, inV] = [q, k, v].map(withDenseRows) as [Tensor, Tensor, Tensor];
      const {
        mask: maskView,
        lengths: lengthView,
        starts: startView,
        lse: _,
        ...call
      } = shapeOf(inQ, inK, inV, result, asked, dtype);
      const places = { q: inQ.ptr, k: inK.ptr, v: inV.ptr, o: result.ptr };
      launch('attention', [q, k, v], () =>
        launchOp(q.backend, 'attention', {
          ...call,
          ...places,
          ...(mask === undefined ? {} : { mask: { ...maskView, ptr: mask.ptr } }),
          ...(lengths === undefined ? {} : { lengths: { ...lengthView, ptr: lengths.ptr } }),
          ...(starts === undefined ? {} : { starts: { ...startView, ptr: starts.ptr } }),
          ...(lse === undefined ? {} : { lse: { ptr: lse.ptr } }),
        }),
      );
    });
  });
}

/** The options, each read. */
type Asked = { readonly [Name in keyof AttentionOptions]: AttentionOptions[Name] | undefined };

/** All that follows from the layouts of the operands. */
interface Form {
  readonly dtype: FloatDType;
  /** The shape of the result. */
  readonly shape: readonly number[];
  /** The one call that fills the result, where nothing is copied or empty and the result is apart from what is read. */
  readonly plan: Plan | undefined;
}

const forms = new Plans<Form>();

function formOf(q: Tensor, k: Tensor, v: Tensor, asked: Asked): Form {
  const operands = [q, k, v];
  const isCache = q.dtype === 'f32' && v.dtype === k.dtype && (k.dtype === 'f16' || k.dtype === 'bf16');
  const dtype = isCache ? 'f32' : checkProduct('attention', operands);
  const [batch = 0, heads = 0, seqQ = 0, headDim = 0] = q.shape;
  const [, kvHeads = 0, seqKv = 0] = k.shape;
  const valueDim = v.shape[3] ?? 0;
  const isOf = (x: Tensor, width: number): boolean => sameShape(x.shape, [batch, kvHeads, seqKv, width]);
  const fits = q.rank === 4 && isOf(k, headDim) && isOf(v, valueDim);
  if (!fits || (kvHeads === 0 ? heads > 0 : heads % kvHeads !== 0)) {
    const shapes = operands.map((each) => shapeText(each.shape)).join(', ');
    throw refuse(
      'attention',
      `q, k, v must be [batch, heads, length, headDim], k and v alike but for the headDim of v, got ${shapes}`,
    );
  }
  const shape = [batch, heads, seqQ, valueDim];
  checkOut('attention', asked.out, shape, dtype);
  const rows = [batch, heads, seqQ];
  const { lse } = asked;
  if (lse !== undefined && !(lse.dtype === 'f32' && lse.isDense && sameShape(lse.shape, rows))) {
    throw refuse('attention', `lse must be dense, f32${shapeText(rows)}, got ${lse.dtype}${shapeText(lse.shape)}`);
  }
  const result = asked.out?.layout ?? mergedLayout(shape, dtype);
  // Also where there is nothing to do: a mask that does not fit is a mistake there too.
  const call = shapeOf(q, k, v, result, asked, dtype);
  if (result.size === 0 || seqKv === 0 || !hasRows(result, dtype) || !operands.every(hasDenseRows))
    return { dtype, shape, plan: undefined };
  const planned = launch('attention', operands, () => plannedLaunch(q.backend, 'attention', call));
  return { dtype, shape, plan: { result, call: planned } };
}

function shapeOf(
  q: Tensor,
  k: Tensor,
  v: Tensor,
  result: Pick<Tensor, 'strides'>,
  { scale, causal = false, offset, mask, lengths, starts, lse, window, softcap }: Asked,
  dtype: FloatDType,
): AttentionShape & AttentionViews {
  const [batch = 0, heads = 0, seqQ = 0, headDim = 0] = q.shape;
  const [, kvHeads = 0, seqKv = 0] = k.shape;
  const sizes = { batch, heads, kvHeads, seqQ, seqKv, headDim, valueDim: v.shape[3] ?? 0 };
  const causalOffset = offset ?? (lengths === undefined && starts === undefined ? seqKv - seqQ : 0);
  return {
    ...sizes,
    ...{ scale: scale ?? 1 / Math.sqrt(Math.max(1, headDim)), causal, causalOffset, dtype },
    strides: { q: rowsOf(q), k: rowsOf(k), v: rowsOf(v), o: rowsOf(result) },
    ...(mask === undefined ? {} : { mask: maskOf(mask, [batch, heads, seqQ, seqKv], dtype) }),
    ...(lengths === undefined ? {} : { lengths: placesOf('lengths', lengths, 'u32', batch) }),
    ...(starts === undefined ? {} : { starts: placesOf('starts', starts, 'i32', batch) }),
    ...(k.dtype === dtype ? {} : { dtypeKv: k.dtype as StoredFloatDType }),
    ...(lse === undefined ? {} : { lse: {} }),
    ...(window === undefined ? {} : { window }),
    ...(softcap === undefined ? {} : { softcap }),
  };
}

/** Heads of one query side by side in memory. */
function mergedLayout(shape: readonly number[], dtype: FloatDType): SharedLayout {
  const [, heads, seqQ, width] = shape.map((size) => Math.max(1, size)) as [number, number, number, number];
  const row = heads * width;
  return sharedLayout(shape, [seqQ * row, width, row, 1], dtype);
}

function hasDenseRows({ shape, strides }: Tensor): boolean {
  return strides[3] === 1 || shape[3] === 1;
}

function withDenseRows(x: Tensor): Tensor {
  return hasDenseRows(x) ? x : pack(x);
}

function rowsOf({ strides }: Pick<Tensor, 'strides'>): readonly [number, number, number] {
  const [batch = 0, head = 0, row = 0] = strides;
  return [batch, head, row];
}

function maskOf(mask: Tensor, scores: readonly number[], own: FloatDType): MaskView {
  const both = broadcastShapes(mask.shape, scores);
  const dtype = [...new Set(['f32', own, 'u8'] as const)].find((each) => each === mask.dtype);
  if (dtype === undefined || both === undefined || !sameShape(both, scores)) {
    const wanted = `f32, ${own === 'f32' ? '' : `${own}, `}or u8 and broadcast to [batch, heads, queries, keys], ${shapeText(scores)}`;
    throw refuse('attention', `mask must be ${wanted}, got ${mask.dtype}${shapeText(mask.shape)}`);
  }
  const [batch = 0, head = 0, query = 0, key = 0] = broadcastStrides(mask.shape, mask.strides, scores);
  return { strides: [batch, head, query, key], ...(dtype === 'f32' ? {} : { dtype }) };
}

function placesOf(name: string, places: Tensor, dtype: 'u32' | 'i32', batch: number): BatchView {
  const both = broadcastShapes(places.shape, [batch]);
  if (places.dtype !== dtype || both === undefined || !sameShape(both, [batch])) {
    throw refuse(
      'attention',
      `${name} must be ${dtype} and broadcast to [${batch}], got ${places.dtype}${shapeText(places.shape)}`,
    );
  }
  const [stride = 0] = broadcastStrides(places.shape, places.strides, [batch]);
  return { strides: [stride] };
}
