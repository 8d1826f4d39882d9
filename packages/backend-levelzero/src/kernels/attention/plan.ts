import { BackendError } from '@concord/backend-core';
import type { ResolvedAttention } from '@concord/backend-core/implement';
import { maskStep } from '@concord/kernel';
import { type Family, type KernelTable, MAX_PLACED, placedSight, sizeStep, VariantTables } from '@concord/variants';
import type { Kernel } from '../kernel.ts';
import type { DeviceMemory, DeviceTraits, Recorder } from '../recorder.ts';
import { ANY_CALLS } from './any-call.ts';
import { combine } from './combine.spv.ts';
import { anyCallOf, type PackedAttention, relayout, type RelayoutParams, withPackedOperands } from './packed-call.ts';
import { planRun } from '../run/plan.ts';
import { rowTable } from './row.spv.ts';
import { sight } from './sight.spv.ts';
import { subgroupTable } from './subgroup.ts';
import { type AttentionSizes, type AttentionVariant, visibleKeys } from './table.ts';
import { wideTable } from './wide.ts';

/** Kernels that attend. A new one is added here, and nothing else has to know of it. */
export const attentionTables: VariantTables<AttentionSizes, PackedAttention, Recorder, Kernel, AttentionVariant> =
  new VariantTables([subgroupTable, wideTable, rowTable], ({ heads, queries, keys, headDim, causal, any }) => {
    const steps = [heads, queries, keys, headDim].map(sizeStep).join(' ');
    return `attention ${any === false ? '' : `${any === true ? 'any' : any} `}${causal ? 'causal ' : ''}${steps}`;
  });

/** Kernels that lay operands out. */
const RELAYOUTS: readonly RelayoutParams[] = (['f32', 'f16', 'bf16'] as const).flatMap((dtype) => [
  ...[false, true].map((placed) => ({ dtype, to: 'packed' as const, placed })),
  ...(dtype === 'bf16' ? [] : [{ dtype, to: 'operand' as const, placed: false }]),
]);

/** The kernels that merge records and lay operands out. */
const besideTable: KernelTable<DeviceTraits, Kernel> = {
  ids: [],
  kernelsFor: () => [
    sight,
    ...ANY_CALLS.flatMap((any) => [false, true].map((lse) => combine({ any, lse }))),
    ...RELAYOUTS.map((params) => relayout(params)),
  ],
};

/** attention. */
export const attentionFamily: Family<'attention', DeviceMemory, Recorder, Kernel> = {
  kernel: 'attention',
  dtypes: ['f32', 'f16'],
  features: ['lengths', 'starts', 'mask u8', 'mask f16', 'valueDim', 'lse', 'dtypeKv f16', 'dtypeKv bf16'],
  plan: planAttention,
  tables: [attentionTables, besideTable],
};

/** Queries and keys are numbered by 31 bits. */
const MAX_ROWS = 2 ** 31;

/** The choice of a kernel. */
type Chooser = (sizes: AttentionSizes, recorder: Recorder) => AttentionVariant;

/**
 * attention: `softmax(scale * Q K^T) V` per batch and head, by the kernel that suits shape and device. To keep all compute
 * units busy when there are few queries, the keys are taken in parts whose outcomes are merged.
 *
 * @param choose - how the kernel is chosen, for tests of one
 */
export function planAttention(
  call: ResolvedAttention<DeviceMemory>,
  recorder: Recorder,
  choose: Chooser = (sizes) => attentionTables.choose(sizes, recorder),
): void {
  const most = placedSight(call) === undefined ? MAX_ROWS : MAX_PLACED;
  if (Math.max(call.seqQ, call.seqKv) >= most) {
    throw new BackendError(
      'UNSUPPORTED',
      `attention of ${call.seqQ} queries and ${call.seqKv} keys: 2^${Math.log2(most)} are too many`,
    );
  }
  withPackedOperands(withFloatMask(call, recorder), recorder, (packed) => planPacked(packed, recorder, choose));
}

/** The same call with a mask in float32, which is written to scratch memory first. */
function withFloatMask(call: ResolvedAttention<DeviceMemory>, recorder: Recorder): ResolvedAttention<DeviceMemory> {
  const step = maskStep(call);
  if (step === undefined) return call;
  const mask = recorder.scratch(step.bytes);
  planRun({ geometry: step.geometry, spans: [call.mask, mask] }, recorder);
  return { ...call, ...step.call, mask };
}

/** Attention of packed float32 operands. */
function planPacked(call: PackedAttention, recorder: Recorder, choose: Chooser): void {
  const { batch, heads, seqQ: queries, headDim, causal } = call;
  const sizes = { heads: batch * heads, queries, keys: visibleKeys(call), headDim, causal, any: anyCallOf(call) };
  attentionTables.launch(call, choose(sizes, recorder), recorder);
}
