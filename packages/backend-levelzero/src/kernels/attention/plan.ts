import type { ResolvedAttention } from '@concord/backend-core/implement';
import { pickVariant } from '@concord/variants';
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
  variantsFor,
} from './choose-variant.ts';
import { combine, COMBINE_LANES } from './combine.spv.ts';
import { packKeys, PANEL_KEYS } from './pack-keys.spv.ts';
import { PAD_LANES, PADDED_COLUMNS, padValues } from './pad-values.spv.ts';
import { row } from './row.spv.ts';
import { queriesOf, subgroup } from './subgroup.spv.ts';
import { wide, WIDE_QUERIES, type WideParams } from './wide.spv.ts';

export { VARIANT_IDS } from './choose-variant.ts';

/** Most bytes of K and V that are laid out anew at a time, where the device allocates that much, unless one head has more. */
const LAID_OUT_BYTES = 2 ** 26;
/** Numbers behind the sums in a record: the largest score, and the sum of the weights. */
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
  choose: (sizes: AttentionSizes, recorder: Recorder) => AttentionVariant = chooseVariant,
): void {
  const heads = call.batch * call.heads;
  const keys = visibleKeys(call);
  const { seqQ: queries, headDim, causal } = call;
  const variant = choose({ heads, queries, keys, headDim, causal }, recorder);
  if (variant.kind === 'wide') {
    planWide(call, variant, recorder);
    return;
  }
  if (variant.kind === 'row') {
    const kernel = (partial: boolean): Kernel => row({ partial });
    const args = { k: call.k, v: call.v };
    attend(call, { first: 0, count: heads }, variant, { kernel, args, groups: heads * queries }, recorder);
    return;
  }
  const { lanes, rows, subgroups, headDim: most, isExact, registers } = variant;
  const kernel = (partial: boolean): Kernel =>
    subgroup({ lanes, rows, subgroups, headDim: most, isExact, partial, registers });
  // As many heads as about a second is enough for: kernel drivers take a device for hung that works on one launch for long.
  const ofHead = secondsFor(2 * queries * keys * headDim, recorder.traits);
  for (const [first, count] of cuts(heads, Math.max(1, Math.floor(1 / ofHead)))) {
    const [k, v] = [call.k, call.v].map((span) => floatsFrom(span, first * call.seqKv * headDim)) as [Span, Span];
    const groups = count * Math.ceil(queries / queriesOf(variant));
    attend(call, { first, count }, variant, { kernel, args: { k, v }, groups }, recorder);
  }
}

function chooseVariant(sizes: AttentionSizes, recorder: Recorder): AttentionVariant {
  return pickVariant(recorder, variantsFor(sizes, recorder.traits));
}

/** Every kernel of attention that can be chosen for a device. */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  const both = [false, true] as const;
  const bySubgroups = traits.isCpuLike ? [] : allSubgroupKernels(traits);
  if (bySubgroups.length > 0) {
    return [combine, ...bySubgroups.flatMap((params) => both.map((partial) => subgroup({ ...params, partial })))];
  }
  const attending = both.flatMap((partial) => [
    row({ partial }),
    ...COLUMNS.map((columns) => wide({ columns, partial })),
  ]);
  return [combine, packKeys, padValues, ...attending];
}

/** The keys that some query sees: none beyond the last query. */
function visibleKeys({ seqQ, seqKv, causal }: ResolvedAttention<DeviceMemory>): number {
  return causal ? Math.min(seqQ, seqKv) : seqKv;
}

/** Some of the heads of all batches. */
interface Heads {
  readonly first: number;
  readonly count: number;
}

/** What is left to say of a launch that attends. */
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
  const { seqKv, headDim, k, v } = call;
  const heads = call.batch * call.heads;
  const panelsPerHead = Math.ceil(visibleKeys(call) / PANEL_KEYS);
  const panelElements = panelsPerHead * PANEL_KEYS * headDim;
  const isPadded = headDim < PADDED_COLUMNS;
  const paddedElements = isPadded ? seqKv * PADDED_COLUMNS : 0;
  const limit = Math.min(LAID_OUT_BYTES, recorder.traits.maxAllocationBytes);
  const fitting = Math.floor(limit / (4 * Math.max(panelElements, paddedElements)));
  const headsAtATime = Math.min(heads, Math.max(1, fitting));
  const panels = recorder.scratch(4 * headsAtATime * panelElements);
  const padded = isPadded ? recorder.scratch(4 * headsAtATime * paddedElements) : undefined;
  for (let first = 0; first < heads; first += headsAtATime) {
    const count = Math.min(headsAtATime, heads - first);
    const [keys, values] = [k, v].map((span) => floatsFrom(span, first * seqKv * headDim)) as [Span, Span];
    recorder.launch({
      kernel: packKeys,
      args: { k: keys, panels, heads: count, keys: seqKv, head_dim: headDim, panels_per_head: panelsPerHead },
      groups: gridOf(count * panelsPerHead, recorder.traits),
    });
    if (padded !== undefined) {
      const rows = count * seqKv;
      recorder.launch({
        kernel: padValues,
        args: { v: values, padded, rows, head_dim: headDim },
        groups: gridOf(Math.ceil((rows * PADDED_COLUMNS) / PAD_LANES), recorder.traits),
      });
    }
    const attending: Attending = {
      kernel: (partial) => wide({ columns: variant.columns, partial }),
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
    },
    groups: gridOf(groups * splits, recorder.traits),
    multiplyAdds: 2 * rows * visibleKeys(call) * headDim,
    variant: id,
  });
  if (records === undefined) return;
  recorder.launch({
    kernel: combine,
    args: { records, o, splits, rows, head_dim: headDim },
    groups: gridOf(Math.ceil((rows * headDim) / COMBINE_LANES), recorder.traits),
  });
}
