import { BackendError } from '@concord/backend-core';
import type { ResolvedAttention } from '@concord/backend-core/implement';
import { type Family, pickVariant } from '@concord/variants';
import { cuts } from '../cuts.ts';
import { secondsFor } from '../estimate.ts';
import { floatsFrom } from '../floats-from.ts';
import { gridOf } from '../grid.ts';
import type { Kernel } from '../kernel.ts';
import type { DeviceMemory, DeviceTraits, Launch, Recorder, Span } from '../recorder.ts';
import {
  type AttentionSizes,
  type AttentionVariant,
  allSubgroupKernels,
  COLUMNS,
  splitKeys,
  VARIANT_IDS,
  variantsFor,
} from './choose-variant.ts';
import { combine, COMBINE_LANES } from './combine.spv.ts';
import { packKeys, PANEL_KEYS } from './pack-keys.spv.ts';
import { PAD_LANES, PADDED_COLUMNS, padValues } from './pad-values.spv.ts';
import { anyArgs, blindArgs, isPlain, sightOf, withPackedOperands } from './packed-call.ts';
import { relayout, type RelayoutParams } from './relayout.spv.ts';
import { row } from './row.spv.ts';
import { queriesOf, subgroup } from './subgroup.spv.ts';
import { wide, WIDE_QUERIES, type WideParams } from './wide.spv.ts';

/** attention. */
export const attentionFamily: Family<'attention', DeviceMemory, Recorder, Kernel> = {
  kernel: 'attention',
  dtypes: ['f32', 'f16'],
  plan: planAttention,
  tables: [{ ids: VARIANT_IDS, kernelsFor: allKernels }],
};

/** The maximum number of bytes of K and V that are laid out anew at a time, where the device allocates that much, unless one head has more. */
const LAID_OUT_BYTES = 2 ** 26;
/** Queries and keys are numbered by 31 bits. */
const MAX_ROWS = 2 ** 31;
/** Numbers after the sums in a record: the largest score, and the sum of the weights. */
const RECORD_EXTRA = 2;

/**
 * attention: `softmax(scale * Q K^T) V` per batch and head, by the kernel that suits shape and device. To keep all compute
 * units busy when there are few queries, the keys are taken in parts whose outcomes are merged.
 *
 * @param choose - how the kernel is chosen, for tests of one
 */
export function planAttention(
  call: ResolvedAttention<DeviceMemory>,
  recorder: Recorder,
  choose: Chooser = chooseVariant,
): void {
  if (Math.max(call.seqQ, call.seqKv) >= MAX_ROWS) {
    throw new BackendError(
      'UNSUPPORTED',
      `attention of ${call.seqQ} queries and ${call.seqKv} keys: 2^31 are too many`,
    );
  }
  withPackedOperands(call, recorder, (packed) => planPacked(packed, recorder, choose));
}

/** Attention of packed float32 operands. */
function planPacked(call: ResolvedAttention<DeviceMemory>, recorder: Recorder, choose: Chooser): void {
  const heads = call.batch * call.heads;
  const keys = visibleKeys(call);
  const any = !isPlain(call);
  const { seqQ: queries, headDim, causal } = call;
  const variant = choose({ heads, queries, keys, headDim, causal, any }, recorder);
  if (variant.kind === 'wide') {
    planWide(call, variant, recorder);
    return;
  }
  if (variant.kind === 'row') {
    const kernel = (partial: boolean): Kernel => row({ any, partial });
    const args = { k: call.k, v: call.v };
    attend(call, { first: 0, count: heads }, variant, { kernel, args, groups: heads * queries }, recorder);
    return;
  }
  const { lanes, rows, subgroups, headDim: max, isExact, registers } = variant;
  const kernel = (partial: boolean): Kernel =>
    subgroup({ lanes, rows, subgroups, headDim: max, isExact, any, partial, registers });
  // As many heads as about a second is enough for: kernel drivers take a device for hung that works on one launch for long.
  const ofHead = secondsFor(2 * queries * keys * headDim, recorder.traits);
  for (const [first, count] of cuts(heads, wholeGroups(call, Math.floor(1 / ofHead)))) {
    const [k, v] = keysFrom(call, first);
    const groups = count * Math.ceil(queries / queriesOf(variant));
    attend(call, { first, count }, variant, { kernel, args: { k, v }, groups }, recorder);
  }
}

/** The choice of a kernel. */
type Chooser = (sizes: AttentionSizes, recorder: Recorder) => AttentionVariant;

function chooseVariant(sizes: AttentionSizes, recorder: Recorder): AttentionVariant {
  return pickVariant(recorder, variantsFor(sizes, recorder.traits));
}

/** Kernels that lay operands out. */
const RELAYOUTS: readonly RelayoutParams[] = (['f32', 'f16'] as const).flatMap((dtype) =>
  (['packed', 'operand'] as const).map((to) => ({ dtype, to })),
);

/** Every kernel of attention that can be chosen for a device. */
function allKernels(traits: DeviceTraits): readonly Kernel[] {
  const both = [false, true] as const;
  const ways = both.flatMap((any) => both.map((partial) => ({ any, partial })));
  const layouts = [...both.map((any) => combine({ any })), ...RELAYOUTS.map((params) => relayout(params))];
  const bySubgroups = ways.flatMap((way) =>
    traits.isCpuLike ? [] : allSubgroupKernels(traits, way.any).map((params) => subgroup({ ...params, ...way })),
  );
  if (bySubgroups.length > 0) {
    return [...layouts, ...bySubgroups];
  }
  const attending = ways.flatMap((way) => [row(way), ...COLUMNS.map((columns) => wide({ columns, ...way }))]);
  return [...layouts, packKeys, padValues, ...attending];
}

/** The keys up to the last that some query sees; at least one. */
function visibleKeys(call: ResolvedAttention<DeviceMemory>): number {
  const { end } = sightOf(call);
  return Math.max(1, Math.min(call.seqKv, call.seqQ - 1 + end));
}

/** As many heads as wanted, in whole groups: at least one. */
function wholeGroups({ heads, kvHeads }: ResolvedAttention<DeviceMemory>, wanted: number): number {
  const group = heads / kvHeads;
  return group * Math.max(1, Math.floor(wanted / group));
}

/** K and V from those on that belong to a head of Q, of all batches. */
function keysFrom(call: ResolvedAttention<DeviceMemory>, head: number): [Span, Span] {
  const first = (head * call.kvHeads) / call.heads;
  return [call.k, call.v].map((span) => floatsFrom(span, first * call.seqKv * call.headDim)) as [Span, Span];
}

/** Some of the heads of all batches. */
interface Heads {
  readonly first: number;
  readonly count: number;
}

/** The remaining parameters of a launch that attends. */
interface Attending {
  readonly kernel: (partial: boolean) => Kernel;
  /** Besides those that all kernels have. */
  readonly args: Launch['args'];
  /** Number of groups for each split. */
  readonly groups: number;
}

/** By `wide`: K, and V where its rows are short, laid out for as many heads at a time as fit in {@link LAID_OUT_BYTES}. */
function planWide(
  call: ResolvedAttention<DeviceMemory>,
  variant: AttentionVariant & Pick<WideParams, 'columns'>,
  recorder: Recorder,
): void {
  const { seqKv, headDim } = call;
  const any = !isPlain(call);
  const heads = call.batch * call.heads;
  const panelsPerHead = Math.ceil(visibleKeys(call) / PANEL_KEYS);
  const panelElements = panelsPerHead * PANEL_KEYS * headDim;
  const isPadded = headDim < PADDED_COLUMNS;
  const paddedElements = isPadded ? seqKv * PADDED_COLUMNS : 0;
  const limit = Math.min(LAID_OUT_BYTES, recorder.traits.maxAllocationBytes);
  const fitting = Math.floor(limit / (4 * Math.max(panelElements, paddedElements)));
  const group = call.heads / call.kvHeads;
  const headsAtATime = Math.min(heads, wholeGroups(call, group * fitting));
  const panels = recorder.scratch((4 * headsAtATime * panelElements) / group);
  const padded = isPadded ? recorder.scratch((4 * headsAtATime * paddedElements) / group) : undefined;
  for (let first = 0; first < heads; first += headsAtATime) {
    const count = Math.min(headsAtATime, heads - first);
    const [keys, values] = keysFrom(call, first);
    const keyHeads = count / group;
    recorder.launch({
      kernel: packKeys,
      args: { k: keys, panels, heads: keyHeads, keys: seqKv, head_dim: headDim, panels_per_head: panelsPerHead },
      groups: gridOf(keyHeads * panelsPerHead, recorder.traits),
    });
    if (padded !== undefined) {
      const rows = keyHeads * seqKv;
      recorder.launch({
        kernel: padValues,
        args: { v: values, padded, rows, head_dim: headDim },
        groups: gridOf(Math.ceil((rows * PADDED_COLUMNS) / PAD_LANES), recorder.traits),
      });
    }
    const attending: Attending = {
      kernel: (partial) => wide({ columns: variant.columns, any, partial }),
      args: {
        panels,
        v: padded ?? values,
        value_pitch: isPadded ? PADDED_COLUMNS : headDim,
        panels_head: panelElements,
      },
      groups: count * Math.ceil(call.seqQ / WIDE_QUERIES),
    };
    attend(call, { first, count }, variant, attending, recorder);
  }
}

/** The attention of some heads, and where their keys are split, the merging. */
function attend(
  call: ResolvedAttention<DeviceMemory>,
  heads: Heads,
  { id, splits }: AttentionVariant,
  { kernel, args, groups }: Attending,
  recorder: Recorder,
): void {
  const { seqQ, seqKv, headDim, causal, scale } = call;
  const any = isPlain(call) ? undefined : anyArgs(call, heads.first);
  const rows = heads.count * seqQ;
  const record = headDim + RECORD_EXTRA;
  const [q, o] = [call.q, call.o].map((span) => floatsFrom(span, heads.first * seqQ * headDim)) as [Span, Span];
  const records = splits > 1 ? recorder.scratch(4 * splits * rows * record) : undefined;
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
      ...any,
    },
    groups: gridOf(groups * splits, recorder.traits),
    multiplyAdds: 2 * rows * visibleKeys(call) * headDim,
    variant: id,
  });
  if (records === undefined) return;
  recorder.launch({
    kernel: combine({ any: any !== undefined }),
    args: {
      records,
      o,
      splits,
      rows,
      head_dim: headDim,
      ...(any === undefined ? {} : { queries: call.seqQ, ...blindArgs(call) }),
    },
    groups: gridOf(Math.ceil((rows * headDim) / COMBINE_LANES), recorder.traits),
  });
}
