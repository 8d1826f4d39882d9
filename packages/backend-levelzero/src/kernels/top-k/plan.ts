import { type Family, type NamedVariant, sizeStep, type VariantTable, VariantTables } from '@concord/variants';
import type { ResolvedTopK } from '@concord/backend-core/implement';
import { MIN_RUN, RUNS_PER_THREAD } from '../cpu-work.ts';
import { gridOf } from '../grid.ts';
import type { Kernel } from '../kernel.ts';
import type { DeviceMemory, Recorder, Span } from '../recorder.ts';
import { lane, type Source, SOURCES } from './lane.spv.ts';
import { select, SELECT_SIZES, sort, SORT_ENTRIES, SORT_ROOMS } from './select.spv.ts';

/** Rows of `length` elements, of each of which the k best are wanted. */
interface Lists {
  readonly rows: number;
  readonly length: number;
  readonly k: number;
}

/** A variant, and the parts of a row from which it selects: `chunk` elements long. */
interface Variant extends NamedVariant {
  readonly chunk: number;
}

/** The input of a pass: elements by their columns, or candidates with their places. */
interface From {
  readonly input: Span;
  readonly places?: Span;
}

/** Where a pass puts what it selects. */
interface Into {
  readonly values: Span;
  readonly indices: Span;
}

/** The selection of one pass. */
interface Pass {
  readonly largest: boolean;
  /** The distance of the results of two rows. */
  readonly results: number;
}

/** A pass over packed rows. */
interface PassWork {
  readonly pass: Pass;
  readonly lists: Lists;
  readonly from: From;
  readonly into: Into;
}

/** Kernels that select: all that the backend knows of them. */
type TopKTable = VariantTable<Lists, PassWork, Recorder, Kernel, Variant>;

/** The kernel for parts of a length, and how many of them a group takes. */
type KernelOf = (chunk: number, k: number, source: Source) => { readonly kernel: Kernel; readonly perGroup: number };

/** Elements of a part are counted in 32 bits, with a sign where they are indices. */
const MAX_CHUNK = 2 ** 30;
/** Groups that keep a core of a GPU busy, rows that are one group's, and parts that are not worth another pass. */
const GPU = { perUnit: 8, whole: 16_384, least: 4096, step: 2048 };

/** Selection by a work-item for each part: for processors. */
const laneTable: TopKTable = {
  ids: ['top-k/lane'],
  kernelsFor: ({ isCpuLike }) => (isCpuLike ? SOURCES.map((source) => lane({ source })) : []),
  candidates: ({ rows, length, k }, { isCpuLike, computeUnits }) => {
    if (!isCpuLike) return undefined;
    const wanted = Math.ceil((rows * length) / (computeUnits * RUNS_PER_THREAD));
    const variant = { id: 'top-k/lane', chunk: Math.min(length, MAX_CHUNK, Math.max(wanted, MIN_RUN, 2 * k)) };
    return { variants: [variant], preferred: variant };
  },
  launch: (work, variant, recorder) =>
    launchPass(work, variant, (_chunk, _k, source) => ({ kernel: lane({ source }), perGroup: 1 }), recorder),
};

/** Selection by sorting all of short rows: for GPUs. */
const sortTable: TopKTable = {
  ids: ['top-k/sort'],
  kernelsFor: ({ isCpuLike }) =>
    isCpuLike ? [] : SOURCES.flatMap((source) => SORT_ROOMS.map((room) => sort({ source, room }))),
  candidates: ({ length, k }, { isCpuLike }) => {
    if (isCpuLike || length > SORT_ENTRIES) return undefined;
    const variant = { id: 'top-k/sort', chunk: length };
    return { variants: [variant], preferred: variant, rank: length <= selectSize(k) ? 1 : -1 };
  },
  launch: (work, variant, recorder) => {
    const kernelOf: KernelOf = (chunk, _, source) => {
      const room = SORT_ROOMS.find((max) => chunk <= max) as number;
      return { kernel: sort({ source, room }), perGroup: SORT_ENTRIES / room };
    };
    launchPass(work, variant, kernelOf, recorder);
  },
};

/** Selection by a group for each part, of any length: for GPUs. */
const selectTable: TopKTable = {
  ids: ['top-k/select'],
  kernelsFor: ({ isCpuLike }) =>
    isCpuLike ? [] : SOURCES.flatMap((source) => SELECT_SIZES.map(([, size]) => select({ source, size }))),
  candidates: (lists, { isCpuLike, computeUnits }) => {
    if (isCpuLike) return undefined;
    const variant = { id: 'top-k/select', chunk: selectChunk(lists, computeUnits * GPU.perUnit) };
    return { variants: [variant], preferred: variant };
  },
  launch: (work, variant, recorder) => {
    const kernelOf: KernelOf = (_, k, source) => ({ kernel: select({ source, size: selectSize(k) }), perGroup: 1 });
    launchPass(work, variant, kernelOf, recorder);
  },
};

/** Kernels that select. A new one is added here, and nothing else has to know of it. */
const topKTables: VariantTables<Lists, PassWork, Recorder, Kernel, Variant> = new VariantTables(
  [laneTable, sortTable, selectTable],
  ({ rows, length, k }) => `top-k ${[rows, length, k].map(sizeStep).join(' ')}`,
);

function launchPass(
  { pass, lists, from, into }: PassWork,
  { id, chunk }: Variant,
  kernelOf: KernelOf,
  recorder: Recorder,
): void {
  const { rows, length, k } = lists;
  const { largest, results } = pass;
  const parts = Math.ceil(length / chunk);
  const items = rows * parts;
  const { kernel, perGroup } = kernelOf(chunk, k, from.places === undefined ? 'elements' : 'candidates');
  recorder.launch({
    kernel,
    args: { ...from, ...into, items, parts, length, chunk, results, k, flip: largest ? 0 : 0xffff_ffff },
    groups: gridOf(Math.ceil(items / perGroup), recorder.traits),
    variant: id,
  });
}

/** Entries of the array that `select` keeps k in. */
function selectSize(k: number): number {
  return SELECT_SIZES.find(([max]) => k <= max)?.[1] ?? SORT_ENTRIES;
}

/** With parts as long as the list of their candidates both passes take the same time. */
function selectChunk({ rows, length, k }: Lists, groups: number): number {
  if (length <= GPU.whole) return length;
  const shortest = Math.max(GPU.least, Math.sqrt(length * k));
  const wanted = Math.min(Math.floor(groups / rows), Math.floor(length / shortest));
  const parts = Math.max(wanted, Math.ceil(length / MAX_CHUNK));
  return parts <= 1 ? length : Math.min(MAX_CHUNK, Math.ceil(length / parts / GPU.step) * GPU.step);
}

/** Largest k that kernels have room for. */
export const MAX_K = 256;

/** topK. */
export const topKFamily: Family<'topK', DeviceMemory, Recorder, Kernel> = {
  kernel: 'topK',
  dtypes: ['f32'],
  plan: planTopK,
  tables: [topKTables],
};

/**
 * Selects in passes: each takes the k best of each part of a row, in order, until there is one part. A part is twice as long
 * as k at least, so the list gets shorter.
 */
export function planTopK(call: ResolvedTopK<DeviceMemory>, recorder: Recorder): void {
  const { rows, columns, k, largest, input, values, indices } = call;
  let from: From = { input };
  let length = columns;
  for (;;) {
    const lists = { rows, length, k };
    const variant = topKTables.choose(lists, recorder);
    const parts = Math.ceil(length / variant.chunk);
    const isLast = parts === 1;
    const results = (parts - 1) * k + Math.min(k, length - (parts - 1) * variant.chunk);
    const bytes = rows * results * 4;
    const into: Into = isLast
      ? { values, indices }
      : { values: recorder.scratch(bytes), indices: recorder.scratch(bytes) };
    topKTables.launch({ pass: { largest, results }, lists, from, into }, variant, recorder);
    if (isLast) return;
    from = { input: into.values, places: into.indices };
    length = results;
  }
}
