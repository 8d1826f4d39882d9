import { type NamedVariant, sizeStep, type VariantQuestion } from '@concord/variants';
import type { DeviceTraits } from '../recorder.ts';
import { smallestLanes } from '../subgroups.ts';
import { queriesOf, subgroupLocalBytes, type SubgroupParams } from './subgroup.spv.ts';
import { WIDE_QUERIES, type WideParams } from './wide.spv.ts';

/** The facts that decide which kernel is chosen. */
export interface AttentionSizes {
  /** Of all batches. */
  readonly heads: number;
  readonly queries: number;
  /** That some query sees. */
  readonly keys: number;
  readonly headDim: number;
  readonly causal: boolean;
  /** Not a plain call: see `any-call.ts`. */
  readonly any: boolean;
}

/** The kernel for a call, with the parameters that it is made with, and into how many parts it takes the keys. */
export type AttentionVariant = NamedVariant & { readonly splits: number } & Way;

type Way =
  | { readonly kind: 'row' }
  | ({ readonly kind: 'wide' } & Pick<WideParams, 'columns'>)
  | ({ readonly kind: 'subgroup' } & SubgroupVariant);

/** The `subgroup` kernels without what follows from the call. */
type SubgroupVariant = Omit<SubgroupParams, 'any' | 'partial'>;

/** Columns of a vector of the CPU kernels. */
const LANES = 16;
/** Queries up to which laying out K costs more than it saves. */
const FEW_QUERIES = 3;
/** Groups of work-items per compute unit that keep a device busy. */
const ENOUGH_GROUPS = 4;
/** Fewest keys that are worth a separate split. */
const MIN_SPLIT_KEYS = 256;

/** Keys of a split are a multiple of this: of the tiles of every kernel. */
const SPLIT_MULTIPLE = 64;

/** The sizes that `wide` can be made with. */
export const COLUMNS: readonly WideParams['columns'][] = [16, 32];
/** Largest head dimensions that `subgroup` can be made with. */
const HEAD_DIMS: readonly SubgroupVariant['headDim'][] = [64, 128, 256];
/** Sub-groups of a group: many share the keys that they bring; one is enough for a query or two. */
const SUBGROUPS: readonly SubgroupVariant['subgroups'][] = [8, 1];

/** Every variant, of which each device and shape has some. */
export const VARIANT_IDS: readonly string[] = [
  ...SUBGROUPS.map((subgroups) => idOf({ kind: 'subgroup', subgroups })),
  ...COLUMNS.map((columns) => idOf({ kind: 'wide', columns })),
  idOf({ kind: 'row' }),
];

/**
 * The kernels that can attend, the best first as far as is known: `subgroup` on GPUs; `wide` on CPUs, and `row` there for few queries, which
 * GPUs without sub-groups take too.
 */
export function variantsFor(sizes: AttentionSizes, traits: DeviceTraits): VariantQuestion<AttentionVariant> {
  const { heads, queries, keys, headDim, causal, any } = sizes;
  const steps = [heads, queries, keys, headDim].map(sizeStep).join(' ');
  const bySubgroups = traits.isCpuLike ? [] : subgroupVariants(sizes, traits);
  const candidates = bySubgroups.length > 0 ? bySubgroups : plainVariants(sizes, traits);
  const [preferred] = candidates as [AttentionVariant, ...AttentionVariant[]];
  return {
    shapeClass: () => `attention ${any ? 'any ' : ''}${causal ? 'causal ' : ''}${steps}`,
    candidates,
    preferred,
  };
}

/** A way with its id. */
export function named(way: Way, splits: number): AttentionVariant {
  return { id: idOf(way), splits, ...way };
}

function idOf(way: Way | { readonly kind: 'subgroup'; readonly subgroups: number }): string {
  if (way.kind === 'row') return 'attention/row';
  if (way.kind === 'wide') return `attention/wide-${way.columns}`;
  return way.subgroups === 1 ? 'attention/subgroup' : `attention/subgroups-${way.subgroups}`;
}

function plainVariants(sizes: AttentionSizes, traits: DeviceTraits): readonly AttentionVariant[] {
  const { heads, queries, headDim } = sizes;
  const groups = heads * Math.ceil(queries / WIDE_QUERIES);
  const wide = named({ kind: 'wide', columns: headDim < 2 * LANES ? 16 : 32 }, splitsFor(groups, sizes, traits));
  if (headDim < LANES) return [wide];
  const row = named({ kind: 'row' }, splitsFor(heads * queries, sizes, traits));
  return queries <= FEW_QUERIES ? [row, wide] : [wide, row];
}

/**
 * Queries of a sub-group that fit the registers, for heads of just the dimension and of less: found by looking at what
 * Intel's compiler spills (`npm run check:intel`). Sub-groups of 16 are where registers are twice as wide.
 */
const ROWS: Readonly<
  Record<`${8 | 16}${'' | ' large'}`, Readonly<Record<SubgroupVariant['headDim'], readonly [exact: Rows, less: Rows]>>>
> = {
  '8': { 64: [4, 4], 128: [4, 2], 256: [1, 1] },
  '8 large': { 64: [8, 8], 128: [8, 8], 256: [4, 2] },
  '16': { 64: [4, 4], 128: [4, 4], 256: [2, 2] },
  '16 large': { 64: [8, 8], 128: [8, 8], 256: [4, 4] },
};
type Rows = SubgroupVariant['rows'];

/** The `subgroup` kernels that a device has room for, for heads of a dimension. */
export function subgroupKernels(headDim: number, traits: DeviceTraits, any: boolean): readonly SubgroupVariant[] {
  const lanes = smallestLanes(traits);
  const max = HEAD_DIMS.find((each) => each >= headDim);
  if (lanes === undefined || max === undefined) return [];
  return SUBGROUPS.map((subgroups): SubgroupVariant => {
    const isExact = max === headDim;
    const registers = traits.hasLargeRegisterFile && subgroups > 1 ? 'large' : undefined;
    const [exact, less] = ROWS[registers === undefined ? (`${lanes}` as const) : (`${lanes} large` as const)][max];
    // What any call takes besides does not fit the fewest registers either.
    const hasFew = any && lanes === 8 && registers === undefined;
    const rows = subgroups === 1 ? 1 : isExact && !hasFew ? exact : less;
    return { lanes, rows, subgroups, headDim: max, isExact, registers };
  }).filter(
    (each) => lanes * each.subgroups <= traits.maxGroupSize && subgroupLocalBytes(each) <= traits.maxLocalBytes,
  );
}

/** Every `subgroup` kernel of a device. */
export function allSubgroupKernels(traits: DeviceTraits, any: boolean): readonly SubgroupVariant[] {
  return HEAD_DIMS.flatMap((headDim) => [headDim, headDim - 1].flatMap((each) => subgroupKernels(each, traits, any)));
}

function subgroupVariants(sizes: AttentionSizes, traits: DeviceTraits): readonly AttentionVariant[] {
  const { heads, queries, keys, headDim, any } = sizes;
  // Places in a head are 32-bit numbers of bytes, which have a sign as offsets of pointers; and groups, which are split only where they are few, are numbered by 32.
  if (4 * Math.max(keys, queries) * headDim >= 2 ** 31 || heads * queries >= 2 ** 32) return [];
  const kernels = subgroupKernels(headDim, traits, any).map((kernel) => {
    const groups = heads * Math.ceil(queries / queriesOf(kernel));
    return named({ kind: 'subgroup', ...kernel }, splitsFor(groups, sizes, traits));
  });
  return queries <= FEW_QUERIES ? [...kernels].reverse() : kernels;
}

/** Keys of a split; the last may have fewer. */
export function splitKeys(keys: number, splits: number): number {
  return Math.ceil(keys / splits / SPLIT_MULTIPLE) * SPLIT_MULTIPLE;
}

/** The number of parts to take the keys in: 1 unless there are few groups and many keys. */
function splitsFor(groups: number, { keys }: AttentionSizes, traits: DeviceTraits): number {
  const wanted = Math.ceil((ENOUGH_GROUPS * traits.computeUnits) / groups);
  const splits = Math.max(1, Math.min(wanted, Math.floor(keys / MIN_SPLIT_KEYS)));
  return Math.ceil(keys / splitKeys(keys, splits));
}
