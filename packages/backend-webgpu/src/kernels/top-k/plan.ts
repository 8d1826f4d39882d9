import { type Family, type NamedVariant, sizeStep, type VariantTable, VariantTables } from '@concord/variants';
import { BackendError } from '@concord/backend-core';
import type { ResolvedTopK } from '@concord/backend-core/implement';
import type { Kernel } from '../kernel.ts';
import { maxLoopIterations } from '../loop-iterations.ts';
import { bindable, bindingSlack, slice } from '../operands.ts';
import type { DeviceTraits, Launch, Recorder, Span, StorageBuffer } from '../recorder.ts';
import {
  lane,
  LANE_FORMS,
  type LaneForm,
  lanePerElement,
  select,
  SELECT_SIZES,
  sort,
  SORT_ENTRIES,
  SORT_ROOMS,
  type Source,
  SOURCES,
} from './top-k.wgsl.ts';

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
  /** The column of the first element. */
  readonly base: number;
}

/** A pass over packed rows that fit their bindings. */
interface PassWork {
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
const topKTables: VariantTables<Lists, PassWork, Recorder, Kernel, Variant> = new VariantTables(
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

/** Largest k that kernels have room for. */
export const MAX_K = 256;

/** topK. */
export const topKFamily: Family<'topK', StorageBuffer, Recorder, Kernel> = {
  kernel: 'topK',
  dtypes: ['f32'],
  plan: planTopK,
  tables: [topKTables],
};

/**
 * Selects in passes: each takes the k best of each part of a row, in order, until there is one part. A part is twice as long
 * as k at least, so the list gets shorter.
 *
 * @throws {BackendError} UNSUPPORTED where a binding has no room for such a part
 */
export function planTopK(call: ResolvedTopK<StorageBuffer>, recorder: Recorder): void {
  const { rows, columns, k, largest, input, values, indices } = call;
  let from: From = { input };
  let length = columns;
  for (;;) {
    const lists = { rows, length, k };
    const variant = topKTables.choose(lists, recorder);
    const chunk = chunkInRoom(variant.chunk, lists, recorder);
    const parts = Math.ceil(length / chunk);
    const isLast = parts === 1;
    const results = (parts - 1) * k + Math.min(k, length - (parts - 1) * chunk);
    const scratch = (): Span => recorder.scratch(rows * results * 4);
    const read = [from.input, from.places];
    const into: Into = {
      values: isLast && isApart(values, [...read, indices]) ? values : scratch(),
      indices: isLast && isApart(indices, read) ? indices : scratch(),
    };
    passInWindows({ ...variant, chunk }, { largest, results, base: 0 }, lists, from, into, recorder);
    if (isLast) {
      if (into.values !== values) recorder.copy(values, into.values);
      if (into.indices !== indices) recorder.copy(indices, into.indices);
      return;
    }
    from = { input: into.values, places: into.indices };
    length = results;
  }
}

/** Returns whether an output can be bound together with these: what is written has its buffer for itself. */
function isApart(output: Span, others: readonly (Span | undefined)[]): boolean {
  return others.every((other) => other?.buffer !== output.buffer);
}

/** Elements of an operand, wherever it begins, that are sure to fit a binding. */
function roomOf({ traits }: Recorder): number {
  return Math.floor((traits.maxBindingBytes - bindingSlack(traits.storageAlignment)) / 4);
}

function chunkInRoom(chunk: number, { length, k }: Lists, recorder: Recorder): number {
  const room = roomOf(recorder);
  if (chunk <= room) return chunk;
  if (room >= Math.min(length, 2 * k)) return room;
  throw new BackendError('UNSUPPORTED', `k ${k} of ${length} columns needs larger bindings than this device has`);
}

/** One pass over rows of any size: in pieces that fit their bindings. */
function passInWindows(variant: Variant, pass: Pass, lists: Lists, from: From, into: Into, recorder: Recorder): void {
  const { rows, length, k } = lists;
  const { results } = pass;
  const room = roomOf(recorder);
  const window = Math.min(Math.floor(room / length), Math.floor(room / results));
  if (window >= 1) {
    for (let row = 0; row < rows; row += window) {
      const piece = { rows: Math.min(window, rows - row), length, k };
      const source = sliceFrom(from, row * length, piece.rows * length);
      const target = sliceInto(into, row * results, piece.rows * results);
      topKTables.launch({ pass, lists: piece, from: source, into: target }, variant, recorder);
    }
    return;
  }
  const parts = Math.min(Math.floor(room / variant.chunk), Math.floor(room / k));
  const width = parts * variant.chunk;
  for (let row = 0; row < rows; row++) {
    for (let base = 0; base < length; base += width) {
      const piece = { rows: 1, length: Math.min(width, length - base), k };
      const first = (base / variant.chunk) * k;
      const source = sliceFrom(from, row * length + base, piece.length);
      const target = sliceInto(into, row * results + first, Math.min(parts * k, results - first));
      topKTables.launch({ pass: { ...pass, base }, lists: piece, from: source, into: target }, variant, recorder);
    }
  }
}

/** Some of the elements to select from. */
function sliceFrom({ input, places }: From, first: number, count: number): From {
  const piece = (span: Span): Span => slice(span, first * 4, count * 4);
  return { input: piece(input), ...(places === undefined ? {} : { places: piece(places) }) };
}

/** Some of the room for what is selected. */
function sliceInto({ values, indices }: Into, first: number, count: number): Into {
  return { values: slice(values, first * 4, count * 4), indices: slice(indices, first * 4, count * 4) };
}
