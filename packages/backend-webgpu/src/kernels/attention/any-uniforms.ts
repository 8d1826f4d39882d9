import { type Geometry, groupOf, type RowStrides, type Window } from './geometry.ts';

/** The values that a launch adds to a call. */
interface Launching {
  readonly softcap: number;
  /** Where the mask begins in its binding. */
  readonly maskAt: number;
  /** Numbers of a record, where those are written instead of rows of O. */
  readonly record?: number;
}

/** Uniforms of kernels for any call, beyond those of all. */
export function anyUniforms(
  geometry: Geometry,
  window: Window,
  { softcap, maskAt, record }: Launching,
): Readonly<Record<string, number>> {
  const { q, k, v, o, mask, sight } = geometry;
  const strides = (name: string, [batch, head, row]: RowStrides): Readonly<Record<string, number>> => ({
    [`${name}_batch`]: window.batches > 1 ? batch : 0,
    [`${name}_head`]: window.heads > 1 ? head : 0,
    [`${name}_row`]: row,
  });
  const fromFirstKey = window.query - window.key;
  return {
    batch_heads: window.heads,
    group: groupOf(geometry, window),
    ...strides('q', q),
    ...strides('k', k),
    ...strides('v', v),
    ...strides('o', o),
    ...(record === undefined ? {} : { o_row: record }),
    see_begin: fromFirstKey + sight.first,
    ...blindUniforms(geometry, window),
    capped: softcap > 0 ? 1 : 0,
    softcap,
    // Where that overflows, products with it are as good as infinite.
    softcap_inverse: softcap > 0 ? Math.min(1 / softcap, 2 ** 126) : 0,
    mask_at: maskAt,
    mask_batch: window.batches > 1 ? (mask?.[0] ?? 0) : 0,
    mask_head: window.heads > 1 ? (mask?.[1] ?? 0) : 0,
    mask_query: window.queries > 1 ? (mask?.[2] ?? 0) : 0,
    mask_key: window.keys > 1 ? (mask?.[3] ?? 0) : 0,
  };
}

/** The facts that all kernels of a window know about it: its keys, which queries see one of the whole call, whether there is a mask. */
export function blindUniforms(
  { sight, seqKv, mask }: Geometry,
  { query, queries, key, keys }: Window,
): Readonly<Record<string, number>> {
  const clamp = (value: number): number => Math.max(0, Math.min(queries, value - query));
  return {
    keys,
    see_end: query - key + sight.end,
    seeing_begin: clamp(1 - sight.end),
    seeing_end: clamp(seqKv - sight.first),
    masked: mask === undefined ? 0 : 1,
  };
}
