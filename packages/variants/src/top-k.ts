import type { Operand } from '@concord/backend-core/implement';
import { type Candidates, type VariantTable, VariantTables } from './family.ts';
import { type NamedVariant, sizeStep, type VariantChooser } from './variant-choice.ts';

// What backends share that select in passes: each takes the k best of each part of a row.

/** Rows of `length` elements, of each of which the k best are wanted. */
export interface Lists {
  readonly rows: number;
  readonly length: number;
  readonly k: number;
}

/** A variant, and the parts of a row from which it selects: `chunk` elements long. */
export interface TopKVariant extends NamedVariant {
  readonly chunk: number;
}

/** The input of a pass: elements by their columns, or candidates with their places. */
export interface TopKInput<Buffer> {
  readonly input: Operand<Buffer>;
  readonly places?: Operand<Buffer>;
}

/** The memory for what a pass selects. */
export interface TopKOutput<Buffer> {
  readonly values: Operand<Buffer>;
  readonly indices: Operand<Buffer>;
}

/** A pass over packed rows. */
export interface TopKWork<Buffer> {
  readonly lists: Lists;
  readonly largest: boolean;
  /** The distance of the results of two rows. */
  readonly results: number;
  /** The column of the first element. */
  readonly base: number;
  readonly from: TopKInput<Buffer>;
  readonly into: TopKOutput<Buffer>;
}

/**
 * The input of a pass: `elements`, the op's input, whose places in a row are their columns; or `candidates`, the results of
 * a pass before, which know their places.
 */
export type TopKSource = 'elements' | 'candidates';
/** Every {@link TopKSource}. */
export const TOP_K_SOURCES: readonly TopKSource[] = ['elements', 'candidates'];

/** Entries that a group sorts in its memory. */
export const SORT_ENTRIES = 1024;
/** Elements that are sorted together: one part has room in it. */
export const SORT_ROOMS: readonly number[] = [16, 64, 256, 1024];
/** Entries in the memory of a group that selects, by how many of them may be the best so far. */
export const SELECT_SIZES: readonly (readonly [mostK: number, size: number])[] = [
  [16, 256],
  [64, 512],
  [256, 1024],
];

/** Elements of a part are counted in 32 bits, with a sign where they are indices. */
export const MAX_CHUNK: number = 2 ** 30;
/** Rows up to `whole` are one group's; parts shorter than `least` are not worth another pass. */
const SELECT = { whole: 16_384, least: 4096, step: 2048 };

/** A kernel, and how many parts a group of it takes. */
export interface TopKKernel<Kernel> {
  readonly kernel: Kernel;
  readonly perGroup: number;
}

/** The parts of a pass's launch that every backend has. */
export interface TopKLaunch<Kernel> {
  readonly kernel: Kernel;
  readonly groups: number;
  readonly variant: string;
  readonly numbers: Readonly<Record<'items' | 'parts' | 'length' | 'chunk' | 'k' | 'results' | 'flip', number>>;
}

/** Launches a pass. */
export type LaunchPass<Buffer, Recorder, Kernel> = (
  work: TopKWork<Buffer>,
  launch: TopKLaunch<Kernel>,
  recorder: Recorder,
) => void;

/** Kernels that select: all that a backend knows of them. */
export type TopKTable<Buffer, Recorder extends VariantChooser, Kernel> = VariantTable<
  Lists,
  TopKWork<Buffer>,
  Recorder,
  Kernel,
  TopKVariant
>;

/** One algorithm that selects, with its kernels. */
export interface TopKAlgorithm<Recorder extends VariantChooser, Kernel> {
  readonly id: string;
  readonly kernelsFor: (traits: Recorder['traits']) => readonly Kernel[];
  /** Returns the length of the parts for some lists, and the rank of the algorithm; undefined if it cannot select from them. */
  readonly offer: (
    lists: Lists,
    traits: Recorder['traits'],
  ) => { readonly chunk: number; readonly rank?: number } | undefined;
  readonly kernelOf: (chunk: number, k: number, source: TopKSource) => TopKKernel<Kernel>;
}

/** The kernels of groups that sort all of short rows, and of those that select from a part of any length. */
export interface GroupKernels<Traits, Kernel> {
  readonly sort: (params: { readonly source: TopKSource; readonly room: number }) => Kernel;
  readonly select: (params: { readonly source: TopKSource; readonly size: number }) => Kernel;
  /** Groups that keep a device busy; 0 if the members of a group should work alone. */
  readonly groupsOf: (traits: Traits) => number;
}

/** All that selects: `lane`, by single work-items, and groups. */
export function topKTables<Buffer, Recorder extends VariantChooser, Kernel>(
  lane: TopKAlgorithm<Recorder, Kernel>,
  { sort, select, groupsOf }: GroupKernels<Recorder['traits'], Kernel>,
  launchPass: LaunchPass<Buffer, Recorder, Kernel>,
): VariantTables<Lists, TopKWork<Buffer>, Recorder, Kernel, TopKVariant> {
  const sorting: TopKAlgorithm<Recorder, Kernel> = {
    id: 'top-k/sort',
    kernelsFor: () => TOP_K_SOURCES.flatMap((source) => SORT_ROOMS.map((room) => sort({ source, room }))),
    offer: ({ length, k }) =>
      length > SORT_ENTRIES ? undefined : { chunk: length, rank: length <= selectSize(k) ? 1 : -2 },
    kernelOf: (chunk, _, source) => {
      const room = SORT_ROOMS.find((max) => chunk <= max) as number;
      return { kernel: sort({ source, room }), perGroup: SORT_ENTRIES / room };
    },
  };
  const selecting: TopKAlgorithm<Recorder, Kernel> = {
    id: 'top-k/select',
    kernelsFor: () => TOP_K_SOURCES.flatMap((source) => SELECT_SIZES.map(([, size]) => select({ source, size }))),
    offer: (lists, traits) => ({ chunk: selectChunk(lists, groupsOf(traits)) }),
    kernelOf: (_, k, source) => ({ kernel: select({ source, size: selectSize(k) }), perGroup: 1 }),
  };
  const ofGroups = (algorithm: TopKAlgorithm<Recorder, Kernel>): TopKAlgorithm<Recorder, Kernel> => ({
    ...algorithm,
    kernelsFor: (traits) => (groupsOf(traits) === 0 ? [] : algorithm.kernelsFor(traits)),
    offer: (lists, traits) => (groupsOf(traits) === 0 ? undefined : algorithm.offer(lists, traits)),
  });
  return new VariantTables(
    [lane, ofGroups(sorting), ofGroups(selecting)].map((algorithm) => tableOf(algorithm, launchPass)),
    ({ rows, length, k }) => `top-k ${[rows, length, k].map(sizeStep).join(' ')}`,
  );
}

function tableOf<Buffer, Recorder extends VariantChooser, Kernel>(
  { id, kernelsFor, offer, kernelOf }: TopKAlgorithm<Recorder, Kernel>,
  launchPass: LaunchPass<Buffer, Recorder, Kernel>,
): TopKTable<Buffer, Recorder, Kernel> {
  return {
    ids: [id],
    kernelsFor,
    candidates: (lists, traits): Candidates<TopKVariant> | undefined => {
      const offered = offer(lists, traits);
      if (offered === undefined) return undefined;
      const variant = { id, chunk: offered.chunk };
      return { variants: [variant], preferred: variant, rank: offered.rank ?? 0 };
    },
    launch: (work, { chunk }, recorder) => {
      const { lists, largest, results, from } = work;
      const { rows, length, k } = lists;
      const parts = Math.ceil(length / chunk);
      const items = rows * parts;
      const { kernel, perGroup } = kernelOf(chunk, k, from.places === undefined ? 'elements' : 'candidates');
      const numbers = { items, parts, length, chunk, results, k, flip: largest ? 0 : 0xffff_ffff };
      launchPass(work, { kernel, groups: Math.ceil(items / perGroup), variant: id, numbers }, recorder);
    },
  };
}

/** Entries of the array that `select` keeps k in. */
function selectSize(k: number): number {
  return SELECT_SIZES.find(([most]) => k <= most)?.[1] ?? SORT_ENTRIES;
}

/** Returns the length of parts. With parts as long as the list of their candidates both passes take the same time. */
function selectChunk({ rows, length, k }: Lists, groups: number): number {
  if (length <= SELECT.whole) return length;
  const shortest = Math.max(SELECT.least, Math.sqrt(length * k));
  const wanted = Math.min(Math.floor(groups / rows), Math.floor(length / shortest));
  const parts = Math.max(wanted, Math.ceil(length / MAX_CHUNK));
  return parts <= 1 ? length : Math.min(MAX_CHUNK, Math.ceil(length / parts / SELECT.step) * SELECT.step);
}
