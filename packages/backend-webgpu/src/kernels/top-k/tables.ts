import { type NamedVariant, sizeStep, type VariantTable, VariantTables } from '@concord/variants';
import type { Kernel } from '../kernel.ts';
import { maxLoopIterations } from '../loop-iterations.ts';
import { bindable } from '../operands.ts';
import type { DeviceTraits, Launch, Recorder, Span } from '../recorder.ts';
import { lane, LANE_FORMS, type LaneForm, lanePerElement } from './lane.wgsl.ts';
import { type Source, SOURCES } from './pass.wgsl.ts';
import { select, SELECT_SIZES } from './select.wgsl.ts';
import { sort, SORT_ENTRIES, SORT_ROOMS } from './sort.wgsl.ts';

/** Rows of `length` elements, of each of which the k best are wanted. */
export interface Lists {
  readonly rows: number;
  readonly length: number;
  readonly k: number;
}

/** A variant, and the parts of a row from which it selects: `chunk` elements long. */
export interface Variant extends NamedVariant {
  readonly chunk: number;
}

/** The input of a pass: elements by their columns, or candidates with their places. */
export interface From {
  readonly input: Span;
  readonly places?: Span;
}

/** Where a pass puts what it selects. */
export interface Into {
  readonly values: Span;
  readonly indices: Span;
}

/** The selection of one pass. */
export interface Pass {
  readonly largest: boolean;
  /** The distance of the results of two rows. */
  readonly results: number;
  /** The column of the first element. */
  readonly base: number;
}

/** A pass over packed rows that fit their bindings. */
export interface PassWork {
  readonly pass: Pass;
  readonly lists: Lists;
  readonly from: From;
  readonly into: Into;
}

/** Kernels that select: all that the backend knows of them. */
type TopKTable = VariantTable<Lists, PassWork, Recorder, Kernel, Variant>;

/** The kernel for parts of a length, and how many of them a workgroup takes. */
type KernelOf = (chunk: number, k: number, source: Source) => { readonly kernel: Kernel; readonly perGroup: number };

/** Longest and shortest part for one invocation, and elements for each of its candidates: with fewer there would be many passes. */
const LANE = { most: 4096, least: 512, perCandidate: 16 };
/** Invocations that are enough for a device. */
const LANES = { software: 1024, gpu: 2 ** 16 };
/** Workgroups that keep a large GPU busy. */
const GROUPS = 1024;
/** Rows up to this length are one workgroup's; shorter parts than `least` are not worth another pass. */
const SELECT = { whole: 16_384, least: 4096, step: 2048 };

/** Selection by an invocation for each part: for devices on which barriers are dear. */
const laneTable: TopKTable = {
  ids: ['top-k/lane'],
  kernelsFor: () => SOURCES.flatMap((source) => LANE_FORMS.map((form) => lane({ source, form }))),
  candidates: (lists, traits) => {
    const variant = { id: 'top-k/lane', chunk: laneChunk(lists, traits) };
    return { variants: [variant], preferred: variant, rank: traits.isSoftware ? 2 : -1 };
  },
  launch: (work, variant, recorder) => {
    const kernelOf: KernelOf = (_, k, source) => {
      const form = LANE_FORMS.find(({ room }) => k <= room) as LaneForm;
      return { kernel: lane({ source, form }), perGroup: form.size };
    };
    launchPass(work, variant, kernelOf, recorder);
  },
};

/** Selection by sorting all of short rows. */
const sortTable: TopKTable = {
  ids: ['top-k/sort'],
  kernelsFor: ({ isSoftware }) =>
    isSoftware ? [] : SOURCES.flatMap((source) => SORT_ROOMS.map((room) => sort({ source, room }))),
  candidates: ({ length, k }) => {
    if (length > SORT_ENTRIES) return undefined;
    const variant = { id: 'top-k/sort', chunk: length };
    return { variants: [variant], preferred: variant, rank: length <= selectSize(k) ? 1 : -2 };
  },
  launch: (work, variant, recorder) => {
    const kernelOf: KernelOf = (chunk, _, source) => {
      const room = SORT_ROOMS.find((max) => chunk <= max) as number;
      return { kernel: sort({ source, room }), perGroup: SORT_ENTRIES / room };
    };
    launchPass(work, variant, kernelOf, recorder);
  },
};

/** Selection by a workgroup for each part, of any length. */
const selectTable: TopKTable = {
  ids: ['top-k/select'],
  kernelsFor: ({ isSoftware }) =>
    isSoftware ? [] : SOURCES.flatMap((source) => SELECT_SIZES.map(([, size]) => select({ source, size }))),
  candidates: (lists) => {
    const variant = { id: 'top-k/select', chunk: selectChunk(lists) };
    return { variants: [variant], preferred: variant };
  },
  launch: (work, variant, recorder) => {
    const kernelOf: KernelOf = (_, k, source) => ({ kernel: select({ source, size: selectSize(k) }), perGroup: 1 });
    launchPass(work, variant, kernelOf, recorder);
  },
};

/** Kernels that select. A new one is added here, and nothing else has to know of it. */
export const topKTables: VariantTables<Lists, PassWork, Recorder, Kernel, Variant> = new VariantTables(
  [laneTable, sortTable, selectTable],
  ({ rows, length, k }) => `top-k ${[rows, length, k].map(sizeStep).join(' ')}`,
);

/** Launches a pass over packed rows that fit their bindings. */
function launchPass(
  { pass, lists, from, into }: PassWork,
  variant: Variant,
  kernelOf: KernelOf,
  recorder: Recorder,
): void {
  const { rows, length, k } = lists;
  const { largest, results, base } = pass;
  const bound = (span: Span) => bindable(span, recorder.traits.storageAlignment);
  const input = bound(from.input);
  const places = from.places && bound(from.places);
  const values = bound(into.values);
  const indices = bound(into.indices);
  const parts = Math.ceil(length / variant.chunk);
  const items = rows * parts;
  const { kernel, perGroup } = kernelOf(variant.chunk, k, places === undefined ? 'elements' : 'candidates');
  const storage: Launch['storage'] = {
    input: input.span,
    ...(places === undefined ? {} : { places: places.span }),
    values: values.span,
    indices: indices.span,
  };
  recorder.launch({
    kernel,
    storage,
    uniforms: {
      items,
      parts,
      length,
      chunk: variant.chunk,
      k,
      results,
      flip: largest ? 0 : 0xffff_ffff,
      base,
      input_at: input.byteOffset / 4,
      places_at: (places?.byteOffset ?? 0) / 4,
      values_at: values.byteOffset / 4,
      indices_at: indices.byteOffset / 4,
    },
    groups: Math.ceil(items / perGroup),
    variant: variant.id,
  });
}

/** Entries of the array that `select` keeps k in. */
function selectSize(k: number): number {
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
