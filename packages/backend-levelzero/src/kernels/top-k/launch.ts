import { gridOf } from '../grid.ts';
import type { Kernel } from '../kernel.ts';
import type { DeviceTraits, Recorder, Span } from '../recorder.ts';
import { lane } from './lane.spv.ts';
import { type Source, SOURCES } from './pass.spv.ts';
import { select, SELECT_SIZES } from './select.spv.ts';
import { sort, SORT_ENTRIES, SORT_ROOMS } from './sort.spv.ts';
import { type Lists, selectSize, type Variant } from './variant.ts';

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
  readonly variant: Variant;
  readonly largest: boolean;
  /** The distance of the results of two rows. */
  readonly results: number;
}

/** Launches a pass over packed rows. */
export function launchPass(pass: Pass, lists: Lists, from: From, into: Into, recorder: Recorder): void {
  const { rows, length, k } = lists;
  const { variant, largest, results } = pass;
  const { chunk } = variant;
  const parts = Math.ceil(length / chunk);
  const items = rows * parts;
  const { kernel, perGroup } = kernelOf(variant, k, from.places === undefined ? 'elements' : 'candidates');
  recorder.launch({
    kernel,
    args: { ...from, ...into, items, parts, length, chunk, results, k, flip: largest ? 0 : 0xffff_ffff },
    groups: gridOf(Math.ceil(items / perGroup), recorder.traits),
    variant: variant.id,
  });
}

/** The kernel of a variant, and how many parts a group takes. */
function kernelOf({ kind, chunk }: Variant, k: number, source: Source): { kernel: Kernel; perGroup: number } {
  switch (kind) {
    case 'lane':
      return { kernel: lane({ source }), perGroup: 1 };
    case 'sort': {
      const room = SORT_ROOMS.find((max) => chunk <= max) as number;
      return { kernel: sort({ source, room }), perGroup: SORT_ENTRIES / room };
    }
    case 'select':
      return { kernel: select({ source, size: selectSize(k) }), perGroup: 1 };
  }
}

/** Every kernel of the family that such a device runs. */
export function allKernels({ isCpuLike }: DeviceTraits): readonly Kernel[] {
  return SOURCES.flatMap((source) =>
    isCpuLike
      ? [lane({ source })]
      : [
          ...SORT_ROOMS.map((room) => sort({ source, room })),
          ...SELECT_SIZES.map(([, size]) => select({ source, size })),
        ],
  );
}
