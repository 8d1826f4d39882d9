import type { FloatDType, HeadStrides, StoredFloatDType } from '@concord/backend-core';
import type { CheckedAttention, ResolvedAttention } from '@concord/backend-core/implement';
import { placedSight } from '@concord/variants';
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { type AnyCall, lengthOf } from './any-call.ts';
import { loadElement, storeElement } from '../gemm/storage.ts';
import { gridOf, groupIndex } from '../work.ts';
import { defineKernel, type Kernel, type ParameterType, variants } from '../kernel.ts';
import type { DeviceMemory, Recorder, Span } from '../recorder.ts';
import { readPlaces } from './sight.spv.ts';

/** Work-items in a group. */
const RELAYOUT_LANES = 64;
/** Rows of a group. */
const RELAYOUT_ROWS = 16;

/** The parameters that distinguish the kernels. */
export type RelayoutParams = {
  /** Leaves out rows behind as many as `sight` has of a batch. */
  readonly placed: boolean;
} & (
  | { /** From an operand to packed float32. */ readonly to: 'packed'; readonly dtype: StoredFloatDType }
  | { /** And back. */ readonly to: 'operand'; readonly dtype: FloatDType }
);

const RELAYOUT = {
  packed: 'f32*',
  ...{ batches: 'u64', heads: 'u64', rows: 'u64', blocks: 'u64', head_dim: 'u64', width: 'u64' },
  ...{ batch_stride: 'u64', head_stride: 'u64', row_stride: 'u64' },
} as const satisfies Readonly<Record<string, ParameterType>>;

/**
 * Lays rows of an operand, of `width` columns, out as packed float32, `[batch, heads, rows, head_dim]`, with zeros behind them, or packed ones
 * as those of an operand. One group for each {@link RELAYOUT_ROWS} rows of a head.
 */
export const relayout: (params: RelayoutParams) => Kernel = variants((params: RelayoutParams) => {
  const { dtype, to, placed } = params;
  return defineKernel<keyof typeof RELAYOUT | 'operand'>({
    name: `attention/relayout ${dtype} to ${to}${placed ? ' placed' : ''}`,
    parameters: {
      operand: dtype === 'bf16' ? 'u16*' : `${dtype}*`,
      ...RELAYOUT,
      ...(placed ? { sight: 'u32*' as const } : {}),
    },
    groupSize: [RELAYOUT_LANES, 1, 1],
    write: (k, { module, args }) => {
      const number = groupIndex(k);
      const headNumber = k.udiv(number, args.blocks);
      const firstRow = k.mul(k.umod(number, args.blocks), RELAYOUT_ROWS);
      const [batch, head] = [k.udiv(headNumber, args.heads), k.umod(headNumber, args.heads)];
      k.when(k.ult(batch, args.batches), () => {
        const { sight } = args as { readonly sight?: Value };
        const there = sight === undefined ? args.rows : k.math('u_min', args.rows, lengthOf(k, sight, batch));
        const end = k.math('u_min', k.add(firstRow, RELAYOUT_ROWS), there);
        const columns = to === 'packed' ? args.head_dim : args.width;
        const from = k.add(k.mul(batch, args.batch_stride), k.mul(head, args.head_stride));
        const elements = k.select(k.ult(firstRow, end), k.mul(k.sub(end, firstRow), columns), 0);
        k.forLoop({ from: k.localId(0), to: elements, step: RELAYOUT_LANES }, [], (index) => {
          const row = k.add(firstRow, k.udiv(index, columns));
          const column = k.umod(index, columns);
          const operand = k.at(args.operand, k.add(k.add(from, k.mul(row, args.row_stride)), column));
          const inHeads = k.add(k.mul(headNumber, args.rows), row);
          const packed = k.at(args.packed, k.add(k.mul(inHeads, args.head_dim), column));
          if (params.to === 'operand') return storeElement(k, params.dtype, operand, k.load(packed));
          const [value] = k.ifElse(
            k.ult(column, args.width),
            () => [dtype === 'bf16' ? loadUpperHalf(k, operand) : loadElement(k, dtype, operand)],
            () => [k.constant(module.float(32), 0)],
          );
          k.store(packed, value as Value);
        });
      });
    },
  });
});

/** The float32 of which 16 bits are in memory: the upper ones. */
function loadUpperHalf(k: FunctionBuilder, pointer: Value): Value {
  const bits = k.shl(k.uconvert(k.load(pointer), k.types.int(32)), 16);
  return k.bitcast(bits, k.types.float(32));
}

/** Query i sees the keys from i + first to before i + end. */
export function sightOf(call: CheckedAttention): { first: number; end: number } {
  const { seqQ, seqKv, causal, causalOffset, window } = call;
  // All keys may be seen.
  if (placedSight(call) !== undefined) return { first: -seqQ, end: seqKv };
  // Beyond these it makes no difference, and they fit 32 bits.
  const clamp = (place: number): number => Math.max(-seqQ, Math.min(seqKv, place));
  return { first: clamp(causalOffset - window + 1), end: causal ? clamp(causalOffset) + 1 : seqKv };
}

/** The calls that a kernel for this one is for. */
export function anyCallOf(call: CheckedAttention): AnyCall {
  return placedSight(call) === undefined ? !isPlain(call) : 'placed';
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
  /** The sight of each batch's queries, if places are in memory: see `sight.spv.ts`. */
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
 * Plans a call whose operands are packed float32, with equally many columns: they are laid out in scratch memory where they are not,
 * and O is laid out from there. Columns of zeros add nothing to scores, and those of O are left out.
 */
export function withPackedOperands(
  call: ResolvedAttention<DeviceMemory>,
  recorder: Recorder,
  plan: (packed: PackedAttention) => void,
): void {
  const { heads, kvHeads, seqQ, seqKv, headDim: width, valueDim, dtype, dtypeKv } = call;
  const headDim = Math.max(width, valueDim);
  const whole = { ...call, headDim };
  const operands = {
    q: { heads, rows: seqQ, width, dtype, strides: call.qStrides },
    k: { heads: kvHeads, rows: seqKv, width, dtype: dtypeKv, strides: call.kStrides },
    v: { heads: kvHeads, rows: seqKv, width: valueDim, dtype: dtypeKv, strides: call.vStrides },
    o: { heads, rows: seqQ, width: valueDim, dtype, strides: call.oStrides },
  } as const;
  const sight = readPlaces(call, recorder);
  const packed = { q: call.q, k: call.k, v: call.v, o: call.o };
  for (const name of ['q', 'k', 'v', 'o'] as const) {
    const rows = operands[name];
    if (isPacked(whole, rows)) continue;
    packed[name] = recorder.scratch(4 * call.batch * rows.heads * rows.rows * headDim);
    if (name === 'o') continue;
    const there = name === 'q' ? undefined : sight;
    layOut(whole, { ...rows, operand: call[name], packed: packed[name], to: 'packed', sight: there }, recorder);
  }
  plan({ ...whole, ...packed, dtype: 'f32', dtypeKv: 'f32', ...(sight === undefined ? {} : { sight }) });
  if (packed.o === call.o) return;
  layOut(whole, { ...operands.o, operand: call.o, packed: packed.o, to: 'operand' }, recorder);
}

interface Rows {
  readonly heads: number;
  readonly rows: number;
  readonly width: number;
  readonly dtype: StoredFloatDType;
  readonly strides: HeadStrides;
}

function isPacked({ batch, headDim }: CheckedAttention, { heads, rows, width, dtype, strides }: Rows): boolean {
  return (
    dtype === 'f32' &&
    width === headDim &&
    (batch === 1 || strides[0] === heads * rows * headDim) &&
    (heads === 1 || strides[1] === rows * headDim) &&
    (rows === 1 || strides[2] === headDim)
  );
}

function layOut(
  { batch, headDim }: CheckedAttention,
  rows: Rows & { operand: Span; packed: Span; to: 'packed' | 'operand'; sight?: Span | undefined },
  recorder: Recorder,
): void {
  const blocks = Math.ceil(rows.rows / RELAYOUT_ROWS);
  recorder.launch({
    kernel: relayout({ dtype: rows.dtype, to: rows.to, placed: rows.sight !== undefined } as RelayoutParams),
    args: {
      operand: rows.operand,
      packed: rows.packed,
      batches: batch,
      blocks,
      head_dim: headDim,
      width: rows.width,
      rows: rows.rows,
      heads: rows.heads,
      batch_stride: rows.strides[0],
      head_stride: rows.strides[1],
      row_stride: rows.strides[2],
      ...(rows.sight === undefined ? {} : { sight: rows.sight }),
    },
    groups: gridOf(batch * rows.heads * blocks, recorder.traits),
  });
}
