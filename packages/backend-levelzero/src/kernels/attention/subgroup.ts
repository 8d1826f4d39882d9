import { cuts, secondsFor } from '../work.ts';
import { type DeviceTraits, smallestLanes } from '../recorder.ts';
import type { AnyCall } from './any-call.ts';
import { anyCallOf } from './packed-call.ts';
import { queriesOf, subgroup, subgroupLocalBytes, type SubgroupParams } from './subgroup.spv.ts';
import {
  attend,
  type AttentionTable,
  type AttentionVariant,
  FEW_QUERIES,
  keysFrom,
  splitsFor,
  visibleKeys,
  FORMS,
  wholeGroups,
} from './table.ts';

/** A kernel without what follows from the call. */
type SubgroupKernel = Omit<SubgroupParams, 'any' | 'partial'>;

/** A variant with its kernel, which depends on the dimension of heads and on the device. */
export type SubgroupVariant = AttentionVariant & SubgroupKernel;

/** Largest head dimensions that there are kernels for. */
const HEAD_DIMS: readonly SubgroupKernel['headDim'][] = [64, 128, 256];
/** Sub-groups of a group: many share the keys that they bring; one is enough for a query or two. */
const SUBGROUPS: readonly SubgroupKernel['subgroups'][] = [8, 1];

/** Attention by sub-groups of queries: for GPUs. */
export const subgroupTable: AttentionTable<SubgroupVariant> = {
  ids: SUBGROUPS.map(idOf),
  kernelsFor: (traits) =>
    FORMS.flatMap((form) => allKernels(traits, form.any).map((params) => subgroup({ ...params, ...form }))),
  candidates: (sizes, traits) => {
    const { heads, queries, keys, headDim, any } = sizes;
    // Places in a head are 32-bit numbers of bytes, which have a sign as offsets of pointers; and groups, which are split only where they are few, are numbered by 32.
    if (4 * Math.max(keys, queries) * headDim >= 2 ** 31 || heads * queries >= 2 ** 32) return undefined;
    const kernels = kernelsOf(headDim, traits, any).map((kernel): SubgroupVariant => {
      const groups = heads * Math.ceil(queries / queriesOf(kernel));
      return { id: idOf(kernel.subgroups), splits: splitsFor(groups, sizes, traits), ...kernel };
    });
    const variants = queries <= FEW_QUERIES ? kernels.reverse() : kernels;
    const [preferred] = variants;
    return preferred && { variants, preferred };
  },
  launch: (call, variant, recorder) => {
    const { seqQ, headDim } = call;
    const { lanes, rows, subgroups, headDim: max, isExact, registers } = variant;
    const any = anyCallOf(call);
    const kernel = (partial: boolean) =>
      subgroup({ lanes, rows, subgroups, headDim: max, isExact, any, partial, registers });
    // As many heads as about a second is enough for: kernel drivers take a device for hung that works on one launch for long.
    const ofHead = secondsFor(2 * seqQ * visibleKeys(call) * headDim, recorder.traits);
    for (const [first, count] of cuts(call.batch * call.heads, wholeGroups(call, Math.floor(1 / ofHead)))) {
      const [k, v] = keysFrom(call, first);
      const groups = count * Math.ceil(seqQ / queriesOf(variant));
      attend(call, { first, count }, variant, { kernel, args: { k, v }, groups }, recorder);
    }
  },
};

function idOf(subgroups: number): string {
  return subgroups === 1 ? 'attention/subgroup' : `attention/subgroups-${subgroups}`;
}

/** Returns whether a device has kernels by sub-groups. */
export function hasSubgroupKernels(traits: DeviceTraits): boolean {
  return allKernels(traits, false).length > 0;
}

/**
 * Queries of a sub-group that fit the registers, for heads of just the dimension and of less: found by looking at what
 * Intel's compiler spills (`npm run check:intel`). Sub-groups of 16 are where registers are twice as wide.
 */
const ROWS: Readonly<
  Record<`${8 | 16}${'' | ' large'}`, Readonly<Record<SubgroupKernel['headDim'], readonly [exact: Rows, less: Rows]>>>
> = {
  '8': { 64: [4, 4], 128: [4, 2], 256: [1, 1] },
  '8 large': { 64: [8, 8], 128: [8, 8], 256: [4, 2] },
  '16': { 64: [4, 4], 128: [4, 4], 256: [2, 2] },
  '16 large': { 64: [8, 8], 128: [8, 8], 256: [4, 4] },
};
type Rows = SubgroupKernel['rows'];

/** The `subgroup` kernels that a device has room for, for heads of a dimension. */
function kernelsOf(headDim: number, traits: DeviceTraits, any: AnyCall): readonly SubgroupKernel[] {
  const lanes = traits.isCpuLike ? undefined : smallestLanes(traits);
  const max = HEAD_DIMS.find((each) => each >= headDim);
  if (lanes === undefined || max === undefined) return [];
  return SUBGROUPS.map((subgroups): SubgroupKernel => {
    const isExact = max === headDim;
    const registers = traits.hasLargeRegisterFile && subgroups > 1 ? 'large' : undefined;
    const [exact, less] = ROWS[registers === undefined ? (`${lanes}` as const) : (`${lanes} large` as const)][max];
    // What any call takes besides does not fit the fewest registers either.
    const hasFew = any !== false && lanes === 8 && registers === undefined;
    const rows = subgroups === 1 ? 1 : isExact && !hasFew ? exact : less;
    return { lanes, rows, subgroups, headDim: max, isExact, registers };
  }).filter(
    (each) => lanes * each.subgroups <= traits.maxGroupSize && subgroupLocalBytes(each) <= traits.maxLocalBytes,
  );
}

/** Every `subgroup` kernel of a device. */
function allKernels(traits: DeviceTraits, any: AnyCall): readonly SubgroupKernel[] {
  return HEAD_DIMS.flatMap((headDim) => [headDim, headDim - 1].flatMap((each) => kernelsOf(each, traits, any)));
}
