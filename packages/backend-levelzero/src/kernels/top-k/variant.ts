import { type NamedVariant, sizeStep, type VariantQuestion } from '@concord/variants';
import { MIN_RUN, RUNS_PER_THREAD } from '../cpu-work.ts';
import type { DeviceTraits } from '../recorder.ts';
import { SELECT_SIZES } from './select.spv.ts';
import { SORT_ENTRIES } from './sort.spv.ts';

/** Rows of `length` elements, of each of which the k best are wanted. */
export interface Lists {
  readonly rows: number;
  readonly length: number;
  readonly k: number;
}

/** Which kernel selects, and the parts of a row from which it does so: `chunk` elements long. */
export interface Variant extends NamedVariant {
  readonly kind: 'lane' | 'sort' | 'select';
  readonly chunk: number;
}

/** Largest k that kernels have room for. */
export const MAX_K = 256;

/** Every variant, of which each device and shape has some. */
export const VARIANT_IDS: readonly string[] = ['top-k/lane', 'top-k/sort', 'top-k/select'];

/** Elements of a part are counted in 32 bits, with a sign where they are indices. */
const MAX_CHUNK = 2 ** 30;
/** Groups that keep a core of a GPU busy, rows that are one group's, and parts that are not worth another pass. */
const GPU = { perUnit: 8, whole: 16_384, least: 4096, step: 2048 };

/** The ways to select from rows, and the best as far as is known. */
export function variantsFor(lists: Lists, traits: DeviceTraits): VariantQuestion<Variant> {
  const { rows, length, k } = lists;
  const candidates = traits.isCpuLike ? [laneVariant(lists, traits)] : gpuVariants(lists, traits);
  const shapeClass = (): string => `top-k ${[rows, length, k].map(sizeStep).join(' ')}`;
  return { shapeClass, candidates, preferred: candidates[0] as Variant };
}

/** Entries of the array that `select` keeps k in. */
export function selectSize(k: number): number {
  return SELECT_SIZES.find(([max]) => k <= max)?.[1] ?? SORT_ENTRIES;
}

function laneVariant({ rows, length, k }: Lists, { computeUnits }: DeviceTraits): Variant {
  const wanted = Math.ceil((rows * length) / (computeUnits * RUNS_PER_THREAD));
  const chunk = Math.min(length, MAX_CHUNK, Math.max(wanted, MIN_RUN, 2 * k));
  return { id: 'top-k/lane', kind: 'lane', chunk };
}

/** Best first. */
function gpuVariants({ rows, length, k }: Lists, { computeUnits }: DeviceTraits): readonly Variant[] {
  const chunk = selectChunk({ rows, length, k }, computeUnits * GPU.perUnit);
  const select: Variant = { id: 'top-k/select', kind: 'select', chunk };
  if (length > SORT_ENTRIES) return [select];
  const sort: Variant = { id: 'top-k/sort', kind: 'sort', chunk: length };
  return length <= selectSize(k) ? [sort, select] : [select, sort];
}

/** With parts as long as the list of their candidates both passes take the same time. */
function selectChunk({ rows, length, k }: Lists, groups: number): number {
  if (length <= GPU.whole) return length;
  const shortest = Math.max(GPU.least, Math.sqrt(length * k));
  const wanted = Math.min(Math.floor(groups / rows), Math.floor(length / shortest));
  const parts = Math.max(wanted, Math.ceil(length / MAX_CHUNK));
  return parts <= 1 ? length : Math.min(MAX_CHUNK, Math.ceil(length / parts / GPU.step) * GPU.step);
}
