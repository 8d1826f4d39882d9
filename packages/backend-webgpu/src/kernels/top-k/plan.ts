import { BackendError } from '@concord/backend-core';
import type { ResolvedTopK } from '@concord/backend-core/implement';
import type { Family } from '@concord/variants';
import type { Kernel } from '../kernel.ts';
import { bindingSlack, slice } from '../operands.ts';
import type { Recorder, Span, StorageBuffer } from '../recorder.ts';
import { type From, type Into, type Lists, type Pass, topKTables, type Variant } from './tables.ts';

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
