import type { FloatDType, HeadStrides } from '@concord/backend-core';
import type { CheckedAttention, ResolvedAttention } from '@concord/backend-core/implement';
import type { Value } from '@concord/spirv-builder';
import { type AnyCall, SIGHT, type SightName } from './any-call.ts';
import { loadElement, storeElement } from '../gemm/storage.ts';
import { gridOf, groupIndex } from '../grid.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import type { DeviceMemory, Recorder, Span } from '../recorder.ts';

/** Work-items in a group. */
const RELAYOUT_LANES = 64;

/** The parameters that distinguish the kernels. */
export interface RelayoutParams {
  readonly dtype: FloatDType;
  /** From an operand to packed float32, or back. */
  readonly to: 'packed' | 'operand';
}

/**
 * Lays rows of an operand out as packed float32, `[batch, heads, rows, head_dim]`, or packed ones as those of an operand. One
 * work-item per element.
 */
export const relayout: (params: RelayoutParams) => Kernel = variants(({ dtype, to }: RelayoutParams) =>
  defineKernel({
    name: `attention/relayout ${dtype} to ${to}`,
    parameters: {
      operand: `${dtype}*`,
      packed: 'f32*',
      elements: 'u64',
      head_dim: 'u64',
      rows: 'u64',
      heads: 'u64',
      batch_stride: 'u64',
      head_stride: 'u64',
      row_stride: 'u64',
    },
    groupSize: [RELAYOUT_LANES, 1, 1],
    write: (k, { args }) => {
      const index = k.add(k.mul(groupIndex(k), RELAYOUT_LANES), k.localId(0));
      k.when(k.ult(index, args.elements), () => {
        const row = k.udiv(index, args.head_dim);
        const head = k.udiv(row, args.rows);
        const batch = k.udiv(head, args.heads);
        const place = [
          k.mul(batch, args.batch_stride),
          k.mul(k.umod(head, args.heads), args.head_stride),
          k.mul(k.umod(row, args.rows), args.row_stride),
        ].reduce((sum, each) => k.add(sum, each), k.umod(index, args.head_dim));
        const [operand, packed] = [k.at(args.operand, place), k.at(args.packed, index)];
        if (to === 'packed') k.store(packed, loadElement(k, dtype, operand));
        else storeElement(k, dtype, operand, k.load(packed));
      });
    },
  }),
);

/** Query i sees the keys from i + first to before i + end. */
export function sightOf(call: CheckedAttention): { first: number; end: number } {
  const { seqQ, seqKv, causal, causalOffset, window } = call;
  // All keys may be seen.
  if (isPlaced(call)) return { first: -seqQ, end: seqKv };
  // Beyond these it makes no difference, and they fit 32 bits.
  const clamp = (place: number): number => Math.max(-seqQ, Math.min(seqKv, place));
  return { first: clamp(causalOffset - window + 1), end: causal ? clamp(causalOffset) + 1 : seqKv };
}

/** Returns whether places are in memory. */
export function isPlaced({ lengthStride, startStride }: CheckedAttention): boolean {
  return lengthStride !== undefined || startStride !== undefined;
}

/** The calls that a kernel for this one is for. */
export function anyCallOf(call: CheckedAttention): AnyCall {
  return isPlaced(call) ? 'placed' : !isPlain(call);
}

/** Returns whether each head has its own keys, seen from the first on, and nothing is done to scores but scaling. */
function isPlain({ heads, kvHeads, softcap, causalOffset, window, maskStrides }: CheckedAttention): boolean {
  return heads === kvHeads && softcap === 0 && causalOffset === 0 && window === Infinity && maskStrides === undefined;
}

/** Arguments by which queries without a key are known. */
export function blindArgs(call: PackedAttention): Readonly<Record<string, number | Span>> {
  const masked = call.maskStrides === undefined ? 0 : 1;
  if (call.sight !== undefined) return { sight: call.sight, masked };
  const { first, end } = sightOf(call);
  const clamp = (query: number): number => Math.max(0, Math.min(call.seqQ, query));
  return {
    seeing_begin: clamp(1 - end),
    seeing_end: clamp(call.seqKv - first),
    masked,
  };
}

/** A call of packed float32 operands. */
export interface PackedAttention extends ResolvedAttention<DeviceMemory> {
  /** What the queries of each batch see, where places are in memory: see {@link sight}. */
  readonly sight?: Span;
}

/** Arguments of kernels for any call, from a head of all batches on. */
export function anyArgs(call: PackedAttention, firstHead: number): Readonly<Record<string, number | Span>> {
  const { first, end } = sightOf(call);
  const [batch = 0, head = 0, query = 0, key = 0] = call.maskStrides ?? [];
  return {
    // Without a mask it is not read.
    mask: call.mask ?? call.q,
    group: call.heads / call.kvHeads,
    ...(call.sight === undefined
      ? {
          begin_plus: Math.max(0, first),
          begin_minus: Math.max(0, -first),
          end_plus: Math.max(0, end),
          end_minus: Math.max(0, -end),
        }
      : {}),
    ...blindArgs(call),
    softcap: call.softcap,
    first_head: firstHead,
    batch_heads: call.heads,
    mask_batch: batch,
    mask_head: head,
    mask_query: query,
    mask_key: key,
  };
}

/**
 * Plans a call whose operands are packed float32: they are laid out in scratch memory where they are not, and O is laid out from
 * there.
 */
export function withPackedOperands(
  call: ResolvedAttention<DeviceMemory>,
  recorder: Recorder,
  plan: (packed: PackedAttention) => void,
): void {
  const { heads, kvHeads, seqQ, seqKv } = call;
  const operands = {
    q: { heads, rows: seqQ, strides: call.qStrides },
    k: { heads: kvHeads, rows: seqKv, strides: call.kStrides },
    v: { heads: kvHeads, rows: seqKv, strides: call.vStrides },
    o: { heads, rows: seqQ, strides: call.oStrides },
  } as const;
  const packed = { q: call.q, k: call.k, v: call.v, o: call.o };
  for (const name of ['q', 'k', 'v', 'o'] as const) {
    const rows = operands[name];
    if (isPacked(call, rows)) continue;
    packed[name] = recorder.scratch(4 * call.batch * rows.heads * rows.rows * call.headDim);
    if (name !== 'o') layOut(call, { ...rows, operand: call[name], packed: packed[name], to: 'packed' }, recorder);
  }
  plan({ ...call, ...packed, dtype: 'f32', ...(isPlaced(call) ? { sight: readPlaces(call, recorder) } : {}) });
  if (packed.o === call.o) return;
  layOut(call, { ...operands.o, operand: call.o, packed: packed.o, to: 'operand' }, recorder);
}

const FAR = 2 ** 30;

/** Work-items in a group. */
const SIGHT_LANES = 64;

/**
 * What the queries of each batch see, by the lengths and starts in memory: {@link SIGHT} of each. One work-item a batch. Places are
 * within 2^30, and there are fewer than 2^29 queries and keys.
 */
export const sight: Kernel = defineKernel({
  name: 'attention/sight',
  parameters: {
    ...{ lengths: 'u32*', starts: 'u32*', sight: 'u32*', batches: 'u64' },
    ...{ length_stride: 'u64', start_stride: 'u64', has_lengths: 'u32', has_starts: 'u32' },
    ...{ queries: 'u32', keys: 'u32', hidden: 'u32', seen: 'u32', causal: 'u32' },
  },
  groupSize: [SIGHT_LANES, 1, 1],
  write: (k, { module, args }) => {
    const u32 = module.int(32);
    const int = (value: number): Value => k.constant(u32, value >>> 0);
    const most = (a: Value, b: Value): Value => k.math('s_max', a, b);
    const least = (a: Value, b: Value): Value => k.math('s_min', a, b);
    const batch = k.add(k.mul(groupIndex(k), SIGHT_LANES), k.localId(0));
    k.when(k.ult(batch, args.batches), () => {
      const read = (from: Value, stride: Value, has: Value): Value =>
        k.load(k.at(from, k.select(k.ne(has, 0), k.mul(batch, stride), 0)));
      const given = k.math('u_min', read(args.lengths, args.length_stride, args.has_lengths), args.keys);
      const length = k.select(k.ne(args.has_lengths, 0), given, args.keys);
      const start = k.math('s_clamp', read(args.starts, args.start_stride, args.has_starts), int(-FAR), int(FAR));
      const place = k.select(k.ne(args.has_starts, 0), start, k.sub(length, args.queries));
      // Where it makes no difference any more, the place stays in range of the difference.
      const first = least(k.sub(most(place, k.sub(args.hidden, int(FAR))), args.hidden), int(FAR));
      const end = k.select(k.ne(args.causal, 0), least(k.add(place, args.seen), int(FAR)), int(FAR));
      const query = (value: Value): Value => least(most(value, int(0)), args.queries);
      const numbers: Readonly<Record<SightName, Value>> = {
        begin_plus: most(first, int(0)),
        begin_minus: most(k.sub(int(0), first), int(0)),
        end_plus: most(end, int(0)),
        end_minus: most(k.sub(int(0), end), int(0)),
        seeing_begin: query(k.sub(int(1), end)),
        seeing_end: k.select(k.eq(length, 0), int(0), query(k.sub(length, first))),
        there: length,
      };
      const to = k.at(args.sight, k.mul(batch, SIGHT.length));
      for (const [index, name] of SIGHT.entries()) k.store(k.at(to, index), numbers[name]);
    });
  },
});

function readPlaces(call: ResolvedAttention<DeviceMemory>, recorder: Recorder): Span {
  const { batch, seqQ, seqKv, causal, causalOffset, window, lengthStride, startStride } = call;
  const written = recorder.scratch(4 * SIGHT.length * batch);
  const clamp = (value: number, most: number): number => Math.max(-FAR, Math.min(most, value)) >>> 0;
  recorder.launch({
    kernel: sight,
    args: {
      // Where there are none, the first number there is not used.
      ...{ lengths: call.lengths ?? call.q, starts: call.starts ?? call.q, sight: written, batches: batch },
      ...{ length_stride: lengthStride ?? 0, start_stride: startStride ?? 0 },
      ...{ has_lengths: lengthStride === undefined ? 0 : 1, has_starts: startStride === undefined ? 0 : 1 },
      ...{ queries: seqQ, keys: seqKv, causal: causal ? 1 : 0 },
      hidden: clamp(window - 1 - causalOffset, 2 ** 31 - 1),
      seen: clamp(causalOffset + 1, FAR),
    },
    groups: gridOf(Math.ceil(batch / SIGHT_LANES), recorder.traits),
  });
  return written;
}

interface Rows {
  readonly heads: number;
  readonly rows: number;
  readonly strides: HeadStrides;
}

function isPacked({ batch, headDim, dtype }: CheckedAttention, { heads, rows, strides }: Rows): boolean {
  return (
    dtype === 'f32' &&
    (batch === 1 || strides[0] === heads * rows * headDim) &&
    (heads === 1 || strides[1] === rows * headDim) &&
    (rows === 1 || strides[2] === headDim)
  );
}

function layOut(
  { batch, headDim, dtype }: CheckedAttention,
  rows: Rows & { readonly operand: Span; readonly packed: Span; readonly to: 'packed' | 'operand' },
  recorder: Recorder,
): void {
  const elements = batch * rows.heads * rows.rows * headDim;
  recorder.launch({
    kernel: relayout({ dtype, to: rows.to }),
    args: {
      operand: rows.operand,
      packed: rows.packed,
      elements,
      head_dim: headDim,
      rows: rows.rows,
      heads: rows.heads,
      batch_stride: rows.strides[0],
      head_stride: rows.strides[1],
      row_stride: rows.strides[2],
    },
    groups: gridOf(Math.ceil(elements / RELAYOUT_LANES), recorder.traits),
  });
}
