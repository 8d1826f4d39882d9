import type { MaskDType } from '@concord/backend-core';
import type { CheckedAttention } from '@concord/backend-core/implement';
import { checkSteps, placedSight, type PlacedSight } from '@concord/variants';
import type { Form } from './form.wgsl.ts';

/** Elements from one batch, head and row of an operand to the next. */
export type RowStrides = readonly [batch: number, head: number, row: number];

/** The dtypes in the order of their numbers. */
const MASK_DTYPES: readonly MaskDType[] = ['f32', 'f16', 'u8'];

/** An attention as it is planned: heads of all batches as heads of one where the strides allow. */
export interface Geometry {
  readonly batch: number;
  readonly heads: number;
  /** Heads of Q that share keys. */
  readonly group: number;
  readonly seqQ: number;
  readonly seqKv: number;
  readonly headDim: number;
  readonly valueDim: number;
  readonly q: RowStrides;
  readonly k: RowStrides;
  readonly v: RowStrides;
  readonly o: RowStrides;
  /** The strides of `[batch, head, query, key]`. */
  readonly mask: readonly [number, number, number, number] | undefined;
  readonly maskDtype: MaskDType;
  readonly form: Form;
  /** The sight of queries whose places are in memory; undefined: none are. */
  readonly placed: PlacedSight | undefined;
  /** Elements from one batch to the next of lengths and starts; undefined: there are none. */
  readonly lengthStep: number | undefined;
  readonly startStep: number | undefined;
  /** Query i sees the keys from i + first to before i + end. */
  readonly sight: { readonly first: number; readonly end: number };
}

/** Some heads of some batches, and some of their queries. */
export interface QueryWindow {
  readonly batch: number;
  readonly batches: number;
  /** The number of heads; more than one only in whole groups. */
  readonly head: number;
  readonly heads: number;
  readonly query: number;
  readonly queries: number;
}

/** And some of their keys. */
export interface Window extends QueryWindow {
  readonly key: number;
  readonly keys: number;
}

/** A piece of an operand: its first element, and how many there are to its last. */
interface Hull {
  readonly first: number;
  readonly elements: number;
}

/** The geometry of a checked call. */
export function geometryOf(call: CheckedAttention): Geometry {
  const {
    batch,
    heads,
    kvHeads,
    seqQ,
    seqKv,
    headDim,
    valueDim,
    causal,
    causalOffset,
    window,
    softcap,
    dtype,
    dtypeKv,
  } = call;
  const group = heads / kvHeads;
  const operands = [
    { count: heads, rows: seqQ, width: headDim, strides: call.qStrides },
    { count: kvHeads, rows: seqKv, width: headDim, strides: call.kStrides },
    { count: kvHeads, rows: seqKv, width: valueDim, strides: call.vStrides },
    { count: heads, rows: seqQ, width: valueDim, strides: call.oStrides },
  ];
  const [maskBatch = 0, maskHead = 0, maskQuery = 0, maskKey = 0] = call.maskStrides ?? [];
  // An axis of one index has any stride.
  const placed = placedSight(call);
  const isOne =
    (batch === 1 || placed === undefined) &&
    operands.every(({ count, strides }) => batch === 1 || strides[0] === count * strides[1]) &&
    (batch === 1 || maskBatch === heads * maskHead);
  const [q, k, v, o] = operands.map(({ count, rows, width, strides }): RowStrides => {
    const row = rows === 1 ? width : strides[2];
    const head = count === 1 && batch === 1 ? rows * row : strides[1];
    return [isOne ? 0 : strides[0], head, row];
  }) as [RowStrides, RowStrides, RowStrides, RowStrides];
  const isPacked = (strides: RowStrides, rows: number): boolean =>
    isOne && strides[1] === rows * headDim && strides[2] === headDim;
  const isPlain =
    dtypeKv === 'f32' &&
    group === 1 &&
    valueDim === headDim &&
    softcap === 0 &&
    causalOffset === 0 &&
    window === Infinity &&
    call.maskStrides === undefined &&
    placed === undefined &&
    isPacked(q, seqQ) &&
    isPacked(k, seqKv) &&
    isPacked(v, seqKv) &&
    isPacked(o, seqQ);
  // Beyond these it makes no difference, and they fit 32 bits.
  const offset = Math.max(-seqQ, Math.min(seqKv, causalOffset));
  const first = Math.max(-seqQ, Math.min(seqKv, causalOffset - window + 1));
  return {
    ...{
      batch: isOne ? 1 : batch,
      heads: isOne ? batch * heads : heads,
      group,
      seqQ,
      seqKv,
      headDim,
      valueDim,
      q,
      k,
      v,
      o,
    },
    mask: call.maskStrides === undefined ? undefined : [isOne ? 0 : maskBatch, maskHead, maskQuery, maskKey],
    maskDtype: call.maskDtype,
    form: isPlain ? 'plain' : dtypeKv === dtype ? dtype : (`${dtype} ${dtypeKv}` as Form),
    ...{ placed, lengthStep: call.lengthStride, startStep: call.startStride },
    // Where places are in memory, all keys may be seen.
    sight: placed === undefined ? { first, end: causal ? offset + 1 : seqKv } : { first: -seqQ, end: seqKv },
  };
}

/** Heads of a window that share keys: one head is not of a group. */
export const groupOf = ({ group }: Geometry, { heads }: QueryWindow): number => (heads === 1 ? 1 : group);

/** The keys that some query of a window may see; at least one, to bind. */
export function keysOf({ sight, seqKv }: Geometry, { query, queries }: QueryWindow): { key: number; keys: number } {
  const key = Math.min(seqKv - 1, Math.max(0, query + sight.first));
  const end = Math.max(key + 1, Math.min(seqKv, query + queries - 1 + sight.end));
  return { key, keys: end - key };
}

/** The maximum number of keys that so many queries in a row may see, wherever they begin. */
function mostKeys(geometry: Geometry, { queries }: QueryWindow): number {
  const { sight, seqQ } = geometry;
  const { keys } = keysOf(geometry, { batch: 0, batches: 1, head: 0, heads: 1, query: 0, queries: seqQ });
  return Math.max(1, Math.min(keys, queries - 1 + sight.end - sight.first));
}

const widthOf = ({ headDim, valueDim }: Geometry, name: 'q' | 'k' | 'v' | 'o'): number =>
  name === 'v' || name === 'o' ? valueDim : headDim;

/** Rows of Q or O of a window. */
export function queryHull(geometry: Geometry, name: 'q' | 'o', window: QueryWindow): Hull {
  const { batch, batches, head, heads, query, queries } = window;
  return hull(geometry[name], widthOf(geometry, name), [batch, head, query], [batches, heads, queries]);
}

/** Rows of K or V of a window. */
export function keyHull(geometry: Geometry, name: 'k' | 'v', window: Window): Hull {
  const { batch, batches, head, heads, key, keys } = window;
  const { group } = geometry;
  return hull(
    geometry[name],
    widthOf(geometry, name),
    [batch, Math.floor(head / group), key],
    [batches, Math.ceil(heads / group), keys],
  );
}

/** The mask of a window. */
export function maskHull([b, h, q, k]: readonly [number, number, number, number], window: Window): Hull {
  const { batch, batches, head, heads, query, queries, key, keys } = window;
  const rows = hull([b, h, q], 1, [batch, head, query], [batches, heads, queries]);
  return { first: rows.first + key * k, elements: rows.elements + (keys - 1) * k };
}

function hull(strides: RowStrides, width: number, from: readonly number[], counts: readonly number[]): Hull {
  const sum = (numbers: readonly number[]): number =>
    numbers.reduce((total, number, axis) => total + number * (strides[axis] as number), 0);
  return { first: sum(from), elements: sum(counts.map((count) => count - 1)) + width };
}

/** Returns the inverse. If it overflows, products with it are as good as infinite. */
export function softcapInverse(softcap: number): number {
  return Math.min(1 / softcap, 2 ** 126);
}

/** The values that a launch adds to a call. */
interface Launching {
  readonly softcap: number;
  /** The start of the mask in its binding. */
  readonly maskAt: number;
  readonly sight: Readonly<Record<string, number>>;
  /** Numbers of a record, where those are written instead of rows of O. */
  readonly record?: number;
}

/** Uniforms of kernels for any call, beyond those of all. */
export function anyUniforms(
  geometry: Geometry,
  window: Window,
  { softcap, maskAt, sight, record }: Launching,
): Readonly<Record<string, number>> {
  const { q, k, v, o, mask } = geometry;
  const strides = (name: string, [batch, head, row]: RowStrides): Readonly<Record<string, number>> => ({
    [`${name}_batch`]: window.batches > 1 ? batch : 0,
    [`${name}_head`]: window.heads > 1 ? head : 0,
    [`${name}_row`]: row,
  });
  return {
    batch_heads: window.heads,
    group: groupOf(geometry, window),
    ...strides('q', q),
    ...strides('k', k),
    ...strides('v', v),
    ...strides('o', o),
    ...(record === undefined ? {} : { o_row: record }),
    ...sight,
    capped: softcap > 0 ? 1 : 0,
    softcap,
    softcap_inverse: softcap > 0 ? softcapInverse(softcap) : 0,
    mask_at: maskAt,
    mask_batch: window.batches > 1 ? (mask?.[0] ?? 0) : 0,
    mask_head: window.heads > 1 ? (mask?.[1] ?? 0) : 0,
    mask_query: window.queries > 1 ? (mask?.[2] ?? 0) : 0,
    mask_key: window.keys > 1 ? (mask?.[3] ?? 0) : 0,
  };
}

/**
 * The facts that all kernels of a window know about it: what its queries see, whether there is a mask.
 *
 * @param at - where the places in memory begin in their bindings
 */
export function sightUniforms(
  { sight, seqQ, seqKv, mask, maskDtype, placed, lengthStep, startStep }: Geometry,
  { batches, query, queries, key, keys }: Window,
  at: { readonly lengths: number; readonly starts: number },
): Readonly<Record<string, number>> {
  const clamp = (value: number): number => Math.max(0, Math.min(queries, value - query));
  return {
    keys,
    see_begin: query - key + sight.first,
    see_end: query - key + sight.end,
    seeing_begin: clamp(1 - sight.end),
    seeing_end: clamp(seqKv - sight.first),
    masked: mask === undefined ? 0 : 1 + MASK_DTYPES.indexOf(maskDtype),
    placed: (lengthStep === undefined ? 0 : 1) + (startStep === undefined ? 0 : 2),
    lengths_at: at.lengths,
    lengths_step: batches > 1 ? (lengthStep ?? 0) : 0,
    starts_at: at.starts,
    starts_step: batches > 1 ? (startStep ?? 0) : 0,
    all_queries: seqQ,
    all_keys: seqKv,
    first_query: query,
    first_key: key,
    hidden: placed?.hidden ?? 0,
    seen: placed?.seen ?? 0,
  };
}

/** The maximum of elements in a launch. */
interface Room {
  /** The start of Q, K, V or O in a binding. */
  readonly operand: number;
  /** Float32 numbers in a binding, wherever they begin: of a mask, or of records. */
  readonly numbers: number;
  /** Keys that the loops of a device can take. */
  readonly keys: number;
}

/** The cut of a call. */
interface Cut {
  /** The windows in order; together they are the call. */
  readonly windows: readonly QueryWindow[];
  /** The maximum number of keys of a launch. */
  readonly keysPerPart: number;
}

/**
 * Windows of which each piece of an operand fits a binding: as many batches as fit, or of one batch as many groups of heads,
 * or of one head as many queries. Where not even the keys of one head fit, they are taken in parts.
 *
 * @param recordRows - float32 numbers that a row takes in scratch memory; 0 where it may do without
 */
export function cutCall(geometry: Geometry, room: Room, recordRows: (inParts: boolean) => number): Cut {
  const { batch, heads, group, seqQ, headDim, valueDim, mask } = geometry;
  const all: QueryWindow = { batch: 0, batches: batch, head: 0, heads, query: 0, queries: seqQ };
  const { keys } = keysOf(geometry, all);
  const fitting = (stride: number, width: number, elements: number): number =>
    stride === 0 ? Infinity : Math.max(1, Math.floor((elements - width) / stride) + 1);
  const keysPerPart = Math.min(
    room.keys,
    fitting(geometry.k[2], headDim, room.operand),
    fitting(geometry.v[2], valueDim, room.operand),
    mask === undefined ? Infinity : fitting(mask[3], 1, room.numbers),
  );
  const record = recordRows(keysPerPart < keys);
  const fits = (part: Partial<QueryWindow>): boolean => {
    const queries = { ...all, ...part };
    const window = { ...queries, key: 0, keys: Math.min(keysPerPart, mostKeys(geometry, queries)) };
    const rows = window.batches * window.heads * window.queries;
    return (
      queryHull(geometry, 'q', window).elements <= room.operand &&
      queryHull(geometry, 'o', window).elements <= room.operand &&
      keyHull(geometry, 'k', window).elements <= room.operand &&
      keyHull(geometry, 'v', window).elements <= room.operand &&
      (mask === undefined || maskHull(mask, window).elements <= room.numbers) &&
      rows * record <= room.numbers
    );
  };
  const pieces = (total: number, size: number): number => Math.ceil(total / size);
  const batches = max(batch, (count) => fits({ batches: count }));
  if (batches > 0) {
    checkSteps(pieces(batch, batches));
    return { windows: cuts(all, 'batch', 'batches', batches), keysPerPart };
  }
  const groups = max(heads / group, (count) => fits({ batches: 1, heads: count * group }));
  checkSteps(batch * (groups > 0 ? pieces(heads, groups * group) : heads));
  const ofBatch = cuts(all, 'batch', 'batches', 1);
  if (groups > 0) {
    return { windows: ofBatch.flatMap((each) => cuts(each, 'head', 'heads', groups * group)), keysPerPart };
  }
  const queries = Math.max(
    1,
    max(seqQ, (count) => fits({ batches: 1, heads: 1, queries: count })),
  );
  checkSteps(batch * heads * pieces(seqQ, queries));
  const ofHead = ofBatch.flatMap((each) => cuts(each, 'head', 'heads', 1));
  return { windows: ofHead.flatMap((each) => cuts(each, 'query', 'queries', queries)), keysPerPart };
}

/** The largest number up to `limit` for which `fits` holds, as it does for all below that; 0 if for none. */
function max(limit: number, fits: (count: number) => boolean): number {
  if (fits(limit)) return limit;
  let [low, high] = [0, limit];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function cuts(
  window: QueryWindow,
  first: 'batch' | 'head' | 'query',
  count: 'batches' | 'heads' | 'queries',
  size: number,
): QueryWindow[] {
  return Array.from({ length: Math.ceil(window[count] / size) }, (_, index) => ({
    ...window,
    [first]: window[first] + index * size,
    [count]: Math.min(size, window[count] - index * size),
  }));
}
