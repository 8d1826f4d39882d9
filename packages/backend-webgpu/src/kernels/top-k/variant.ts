import { type NamedVariant, sizeStep, type VariantQuestion } from '@concord/variants';
import { maxLoopIterations } from '../loop-iterations.ts';
import type { DeviceTraits } from '../recorder.ts';
import { lanePerElement } from './lane.wgsl.ts';
import { SELECT_SIZES } from './select.wgsl.ts';
import { SORT_ENTRIES } from './sort.wgsl.ts';

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

/** Longest and shortest part for one invocation, and elements for each of its candidates: with fewer there would be many passes. */
const LANE = { most: 4096, least: 512, perCandidate: 16 };
/** Invocations that are enough for a device. */
const LANES = { software: 1024, gpu: 2 ** 16 };
/** Workgroups that keep a large GPU busy. */
const GROUPS = 1024;
/** Rows up to this length are one workgroup's; shorter parts than `least` are not worth another pass. */
const SELECT = { whole: 16_384, least: 4096, step: 2048 };

/** The ways to select from rows, and the best as far as is known. */
export function variantsFor(lists: Lists, traits: DeviceTraits): VariantQuestion<Variant> {
  const { rows, length, k } = lists;
  const lane: Variant = { id: 'top-k/lane', kind: 'lane', chunk: laneChunk(lists, traits) };
  const select: Variant = { id: 'top-k/select', kind: 'select', chunk: selectChunk(lists) };
  const sort: Variant = { id: 'top-k/sort', kind: 'sort', chunk: length };
  const candidates = [lane, ...(length <= SORT_ENTRIES ? [sort] : []), select];
  const forGroups = length <= selectSize(k) ? sort : select;
  return {
    shapeClass: () => `top-k ${[rows, length, k].map(sizeStep).join(' ')}`,
    candidates,
    preferred: traits.isSoftware ? lane : forGroups,
  };
}

/** Entries of the array that `select` keeps k in. */
export function selectSize(k: number): number {
  return SELECT_SIZES.find(([most]) => k <= most)?.[1] ?? SORT_ENTRIES;
}

function laneChunk({ rows, length, k }: Lists, traits: DeviceTraits): number {
  const iterations = maxLoopIterations(traits) / lanePerElement(k) - k;
  const most = Math.min(LANE.most, Math.floor(iterations));
  const wanted = Math.ceil((length * rows) / LANES[traits.isSoftware ? 'software' : 'gpu']);
  return Math.min(length, most, Math.max(wanted, LANE.least, LANE.perCandidate * k));
}

/** With parts as long as the list of their candidates both passes take the same time. */
function selectChunk({ rows, length, k }: Lists): number {
  if (length <= SELECT.whole) return length;
  const shortest = Math.max(SELECT.least, Math.sqrt(length * k));
  const parts = Math.min(Math.floor(GROUPS / rows), Math.floor(length / shortest));
  return parts <= 1 ? length : Math.ceil(length / parts / SELECT.step) * SELECT.step;
}
