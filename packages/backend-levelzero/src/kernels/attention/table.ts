import type { NamedVariant, VariantTable } from '@concord/variants';
import { type DeviceTraits, floatsFrom, type Launch, type Recorder, type Span } from '../recorder.ts';
import { gridOf } from '../work.ts';
import type { Kernel } from '../kernel.ts';
import { ANY_CALLS, type AnyCall, SPLIT_MULTIPLE } from './any-call.ts';
import { combine, COMBINE_LANES } from './combine.spv.ts';
import { anyArgs, anyCallOf, blindArgs, type PackedAttention, sightOf } from './packed-call.ts';

/** The facts that decide which kernel is chosen. */
export interface AttentionSizes {
  /** The heads of all batches. */
  readonly heads: number;
  readonly queries: number;
  /** The number of keys that some query sees. */
  readonly keys: number;
  readonly headDim: number;
  readonly causal: boolean;
  /** The kind of call if it is not plain: see `any-call.ts`. */
  readonly any: AnyCall;
}

/** A variant, and into how many parts it takes the keys. */
export interface AttentionVariant extends NamedVariant {
  readonly splits: number;
}

/** Kernels that attend, from packed float32 operands: all that the backend knows of them. */
export type AttentionTable<Variant extends AttentionVariant = AttentionVariant> = VariantTable<
  AttentionSizes,
  PackedAttention,
  Recorder,
  Kernel,
  Variant
>;

/** Kernels for plain calls and for any, which write rows of O or records. */
export const FORMS: readonly { readonly any: AnyCall; readonly partial: boolean }[] = ANY_CALLS.flatMap((any) =>
  [false, true].map((partial) => ({ any, partial })),
);

/** Queries up to which laying out K costs more than it saves. */
export const FEW_QUERIES = 3;
/** Groups of work-items per compute unit that keep a device busy. */
const ENOUGH_GROUPS = 4;
/** Fewest keys that are worth a separate split. */
const MIN_SPLIT_KEYS = 256;
/** Numbers after the sums in a record: the largest score, and the sum of the weights. */
const RECORD_EXTRA = 2;

/** Keys of a split; the last may have fewer. */
export function splitKeys(keys: number, splits: number): number {
  return Math.ceil(keys / splits / SPLIT_MULTIPLE) * SPLIT_MULTIPLE;
}

/** The number of parts to take the keys in: 1 unless there are few groups and many keys. */
export function splitsFor(groups: number, { keys }: AttentionSizes, traits: DeviceTraits): number {
  const wanted = Math.ceil((ENOUGH_GROUPS * traits.computeUnits) / groups);
  const splits = Math.max(1, Math.min(wanted, Math.floor(keys / MIN_SPLIT_KEYS)));
  return Math.ceil(keys / splitKeys(keys, splits));
}

/** The keys up to the last that some query sees; at least one. */
export function visibleKeys(call: PackedAttention): number {
  const { end } = sightOf(call);
  return Math.max(1, Math.min(call.seqKv, call.seqQ - 1 + end));
}

/** Returns the number of heads wanted, in whole groups: at least one. */
export function wholeGroups({ heads, kvHeads }: PackedAttention, wanted: number): number {
  const group = heads / kvHeads;
  return group * Math.max(1, Math.floor(wanted / group));
}

/** K and V from those on that belong to a head of Q, of all batches. */
export function keysFrom(call: PackedAttention, head: number): [Span, Span] {
  const first = (head * call.kvHeads) / call.heads;
  return [call.k, call.v].map((span) => floatsFrom(span, first * call.seqKv * call.headDim)) as [Span, Span];
}

/** Some of the heads of all batches. */
export interface Heads {
  readonly first: number;
  readonly count: number;
}

/** The remaining parameters of a launch that attends. */
export interface Attending {
  readonly kernel: (partial: boolean) => Kernel;
  /** Besides those that all kernels have. */
  readonly args: Launch['args'];
  /** Number of groups for each split. */
  readonly groups: number;
}

/** The attention of some heads, and where their keys are split, the merging. */
export function attend(
  call: PackedAttention,
  heads: Heads,
  { id, splits }: AttentionVariant,
  { kernel, args, groups }: Attending,
  recorder: Recorder,
): void {
  const { seqQ, seqKv, headDim, causal, scale } = call;
  const any = anyCallOf(call);
  const rows = heads.count * seqQ;
  const record = headDim + RECORD_EXTRA;
  const [q, o] = [call.q, call.o].map((span) => floatsFrom(span, heads.first * seqQ * headDim)) as [Span, Span];
  const records = splits > 1 || call.hasLse ? recorder.scratch(4 * splits * rows * record) : undefined;
  recorder.launch({
    kernel: kernel(records !== undefined),
    args: {
      ...args,
      q,
      o: records ?? o,
      heads: heads.count,
      queries: seqQ,
      keys: seqKv,
      head_dim: headDim,
      splits,
      split_keys: splitKeys(visibleKeys(call), splits),
      o_row: records === undefined ? headDim : record,
      causal: causal ? 1 : 0,
      scale,
      ...(any === false ? {} : anyArgs(call, heads.first)),
    },
    groups: gridOf(groups * splits, recorder.traits),
    multiplyAdds: 2 * rows * visibleKeys(call) * headDim,
    variant: id,
  });
  if (records === undefined) return;
  recorder.launch({
    kernel: combine({ any, lse: call.hasLse }),
    args: {
      records,
      o,
      splits,
      rows,
      head_dim: headDim,
      ...(any === false ? {} : { queries: call.seqQ, ...blindArgs(call) }),
      ...(any === 'placed' ? { first_head: heads.first, batch_heads: call.heads } : {}),
      ...(call.lse === undefined ? {} : { lse: floatsFrom(call.lse, heads.first * seqQ) }),
    },
    groups: gridOf(Math.ceil((rows * headDim) / COMBINE_LANES), recorder.traits),
  });
}
