import type { Kernel } from '../kernel.ts';
import { bindable } from '../operands.ts';
import type { DeviceTraits, Launch, Recorder, Span } from '../recorder.ts';
import { lane, LANE_FORMS, type LaneForm } from './lane.wgsl.ts';
import { type Source, SOURCES } from './pass.wgsl.ts';
import { select, SELECT_SIZES } from './select.wgsl.ts';
import { sort, SORT_ENTRIES, SORT_ROOMS } from './sort.wgsl.ts';
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
  /** The column of the first element. */
  readonly base: number;
}

/** Launches a pass over packed rows that fit their bindings. */
export function launchPass(pass: Pass, lists: Lists, from: From, into: Into, recorder: Recorder): void {
  const { rows, length, k } = lists;
  const { variant, largest, results, base } = pass;
  const bound = (span: Span) => bindable(span, recorder.traits.storageAlignment);
  const input = bound(from.input);
  const places = from.places && bound(from.places);
  const values = bound(into.values);
  const indices = bound(into.indices);
  const parts = Math.ceil(length / variant.chunk);
  const items = rows * parts;
  const { kernel, perGroup } = kernelOf(variant, k, places === undefined ? 'elements' : 'candidates');
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

/** The kernel of a variant, and how many parts a workgroup takes. */
function kernelOf({ kind, chunk }: Variant, k: number, source: Source): { kernel: Kernel; perGroup: number } {
  switch (kind) {
    case 'lane': {
      const form = LANE_FORMS.find(({ room }) => k <= room) as LaneForm;
      return { kernel: lane({ source, form }), perGroup: form.size };
    }
    case 'sort': {
      const room = SORT_ROOMS.find((max) => chunk <= max) as number;
      return { kernel: sort({ source, room }), perGroup: SORT_ENTRIES / room };
    }
    case 'select':
      return { kernel: select({ source, size: selectSize(k) }), perGroup: 1 };
  }
}

/** Every kernel of the family. */
export function allKernels({ isSoftware }: DeviceTraits): readonly Kernel[] {
  return SOURCES.flatMap((source) => [
    ...LANE_FORMS.map((form) => lane({ source, form })),
    ...(isSoftware ? [] : SORT_ROOMS.map((room) => sort({ source, room }))),
    ...(isSoftware ? [] : SELECT_SIZES.map(([, size]) => select({ source, size }))),
  ]);
}
