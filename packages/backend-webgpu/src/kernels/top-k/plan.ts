import { BackendError } from '@concord/backend-core';
import type { ResolvedTopK } from '@concord/backend-core/implement';
import {
  type Family,
  type Lists,
  TOP_K_SOURCES,
  type TopKInput,
  type TopKOutput,
  topKTables,
  type TopKVariant,
  type TopKWork,
} from '@concord/variants';
import type { Kernel } from '../kernel.ts';
import { type DeviceTraits, maxLoopIterations, type Recorder, type Span, type StorageBuffer } from '../recorder.ts';
import { bindable, bindingSlack, slice } from '../operands.ts';
import { lane, LANE_FORMS, type LaneForm, lanePerElement, select, sort } from './top-k.wgsl.ts';

type From = TopKInput<StorageBuffer>;
type Into = TopKOutput<StorageBuffer>;

/** Longest and shortest part for one invocation, and elements for each of its candidates: with fewer there would be many passes. */
const LANE = { most: 4096, least: 512, perCandidate: 16 };
/** Invocations that are enough for a device. */
const LANES = { software: 1024, gpu: 2 ** 16 };
/** Workgroups that keep a large GPU busy. */
const GROUPS = 1024;

/** Kernels that select: by an invocation for each part where barriers are expensive, else by workgroups. */
const tables = topKTables<StorageBuffer, Recorder, Kernel>(
  {
    id: 'top-k/lane',
    kernelsFor: () => TOP_K_SOURCES.flatMap((source) => LANE_FORMS.map((form) => lane({ source, form }))),
    offer: (lists, traits) => ({ chunk: laneChunk(lists, traits), rank: traits.isSoftware ? 2 : -1 }),
    kernelOf: (_, k, source) => {
      const form = LANE_FORMS.find(({ room }) => k <= room) as LaneForm;
      return { kernel: lane({ source, form }), perGroup: form.size };
    },
  },
  { sort, select, groupsOf: ({ isSoftware }) => (isSoftware ? 0 : GROUPS) },
  ({ base, from, into }, { kernel, groups, variant, numbers }, recorder) => {
    const bound = (span: Span) => bindable(span, recorder.traits.storageAlignment);
    const input = bound(from.input);
    const places = from.places && bound(from.places);
    const values = bound(into.values);
    const indices = bound(into.indices);
    recorder.launch({
      kernel,
      storage: {
        input: input.span,
        ...(places === undefined ? {} : { places: places.span }),
        values: values.span,
        indices: indices.span,
      },
      uniforms: {
        ...numbers,
        base,
        input_at: input.byteOffset / 4,
        places_at: (places?.byteOffset ?? 0) / 4,
        values_at: values.byteOffset / 4,
        indices_at: indices.byteOffset / 4,
      },
      groups,
      variant,
    });
  },
);

function laneChunk({ rows, length, k }: Lists, traits: DeviceTraits): number {
  const iterations = maxLoopIterations(traits) / lanePerElement(k) - k;
  const most = Math.min(LANE.most, Math.floor(iterations));
  const wanted = Math.ceil((length * rows) / LANES[traits.isSoftware ? 'software' : 'gpu']);
  return Math.min(length, most, Math.max(wanted, LANE.least, LANE.perCandidate * k));
}

/** Largest k that kernels have room for. */
export const MAX_K = 256;

/** topK. */
export const topKFamily: Family<'topK', StorageBuffer, Recorder, Kernel> = {
  kernel: 'topK',
  dtypes: ['f32'],
  plan: planTopK,
  tables: [tables],
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
    const variant = tables.choose(lists, recorder);
    const chunk = chunkInRoom(variant.chunk, lists, recorder);
    const parts = Math.ceil(length / chunk);
    const isLast = parts === 1;
    const results = (parts - 1) * k + Math.min(k, length - (parts - 1) * chunk);
    const scratch = (): Span => recorder.scratch(rows * results * 4);
    const read = [from.input, from.places];
    const into: Into = {
      values: isLast && isUnshared(values, [...read, indices]) ? values : scratch(),
      indices: isLast && isUnshared(indices, read) ? indices : scratch(),
    };
    passInWindows({ ...variant, chunk }, { lists, largest, results, base: 0, from, into }, recorder);
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
function isUnshared(output: Span, others: readonly (Span | undefined)[]): boolean {
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
function passInWindows(variant: TopKVariant, work: TopKWork<StorageBuffer>, recorder: Recorder): void {
  const { results, from, into } = work;
  const { rows, length, k } = work.lists;
  const room = roomOf(recorder);
  const window = Math.min(Math.floor(room / length), Math.floor(room / results));
  if (window >= 1) {
    for (let row = 0; row < rows; row += window) {
      const piece = { rows: Math.min(window, rows - row), length, k };
      const source = sliceFrom(from, row * length, piece.rows * length);
      const target = sliceInto(into, row * results, piece.rows * results);
      tables.launch({ ...work, lists: piece, from: source, into: target }, variant, recorder);
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
      tables.launch({ ...work, lists: piece, base, from: source, into: target }, variant, recorder);
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
